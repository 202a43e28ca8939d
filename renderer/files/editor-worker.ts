/** What the editor computes off the page's thread: differences, words, links between lines. */
import 'monaco-editor/editor/editor.worker.js'
