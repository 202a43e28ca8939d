/** Asks the worker for colours. A block that takes too long there stays plain, and the worker is replaced (Z-194). */
import { highlighterTheme } from '../app/theme-palettes.ts'
import type { ShownTheme } from '../app/theme.ts'
import type { CodeToken } from './code-tokens.ts'

export type HighlightRequest = {
  id: number
  code: string
  language: string
  theme: ReturnType<typeof highlighterTheme>
}
export type HighlightAnswer = { id: number; lines: CodeToken[][] | null }

const codeCharsMax = 256 * 1024
const codeLinesMax = 5_000
const blockMs = 500
/** The first block of a language also pays for compiling its rules. */
const coldBlockMs = 3_000
const keptMax = 200

type Waiting = { resolve: (lines: CodeToken[][] | null) => void; request: HighlightRequest }

let worker: Worker | null = null
let ids = 0
const waiting = new Map<number, Waiting>()
let limit: ReturnType<typeof setTimeout> | undefined
const kept = new Map<string, CodeToken[][] | null>()

/** The block's lines in colours of `theme`, which is the one shown; null where it stays plain. */
export function highlight(code: string, language: string, theme: ShownTheme): Promise<CodeToken[][] | null> {
  if (language === '' || code.length > codeCharsMax || lineCount(code) > codeLinesMax) return Promise.resolve(null)
  const key = keyOf(code, language, theme)
  const known = kept.get(key)
  if (known !== undefined) return Promise.resolve(known)
  return new Promise((resolve) => {
    const request = { id: ++ids, code, language: language.toLowerCase(), theme: highlighterTheme() }
    waiting.set(request.id, { resolve: (lines) => resolve(keep(key, lines)), request })
    worker ??= start()
    post(worker, request)
  })
}

/** What is known already, so that a block scrolled back into view has its colours at once. */
export function highlighted(code: string, language: string, theme: ShownTheme): CodeToken[][] | null {
  return kept.get(keyOf(code, language, theme)) ?? null
}

function keyOf(code: string, language: string, theme: ShownTheme): string {
  return `${theme} ${language} ${code}`
}

function keep(key: string, lines: CodeToken[][] | null): CodeToken[][] | null {
  kept.set(key, lines)
  if (kept.size > keptMax) kept.delete(kept.keys().next().value!)
  return lines
}

function post(to: Worker, request: HighlightRequest): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  to.postMessage(request)
}

function start(): Worker {
  const fresh = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  fresh.addEventListener(
    'message',
    ({ data }: MessageEvent<HighlightAnswer | { id: number; started: true; cold: boolean }>) => {
      clearTimeout(limit)
      if ('started' in data) limit = setTimeout(() => giveUp(data.id), data.cold ? coldBlockMs : blockMs)
      else settle(data.id, data.lines)
    },
  )
  fresh.addEventListener('error', () => {
    for (const id of waiting.keys()) settle(id, null)
  })
  return fresh
}

/** Ends the worker that is stuck in a block; the others start over in a new one. */
function giveUp(id: number): void {
  worker?.terminate()
  worker = null
  settle(id, null)
  if (waiting.size === 0) return
  worker = start()
  for (const { request } of waiting.values()) post(worker, request)
}

function settle(id: number, lines: CodeToken[][] | null): void {
  const one = waiting.get(id)
  waiting.delete(id)
  one?.resolve(lines)
}

function lineCount(code: string): number {
  let count = 1
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) count++
  return count
}
