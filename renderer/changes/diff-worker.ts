/** Highlights diffs off the page's thread. */
import '@pierre/diffs/worker/worker.js'
