/**
 * The built-in demo: a script, and it says so (M-128). `demo/tour` works through the demo workspace with the real tools,
 * `demo/echo` repeats what it is told. What comes next is decided by the tool results in the conversation alone.
 */
import type { Ended } from './attempt.ts'
import { isRecord } from './config.ts'
import type { ModelEvent, ModelMessage, ToolResultPart } from './model.ts'
import { pause } from './stop.ts'
import type { Ask } from './wire.ts'

/** What the script does in one step. */
type Beat = { reasoning?: string; text: string; calls?: { name: string; args: Record<string, unknown> }[] }

const source = 'src/split.js'
const bug = 'Array.from({ length: people }, () => share)'
const edit = {
  path: source,
  old_text: `  return ${bug}`,
  new_text:
    '  const rest = cents % people\n  return Array.from({ length: people }, (_, i) => share + (i < rest ? 1 : 0))',
}
const runTests = { name: 'shell', args: { command: 'node --test' } }

const connect = `To work on your own code, connect a real model: open **Settings, Models**, then add a key for a provider or start a local server such as Ollama. Its models appear in the picker below the composer.`

function plan(reading: string, fixing: string, checking: string): { name: string; args: Record<string, unknown> } {
  const entries = [
    { id: '1', text: 'Read the code and its test', state: reading },
    { id: '2', text: 'Fix the bug', state: fixing },
    { id: '3', text: 'Run the tests', state: checking },
  ]
  return { name: 'update_plan', args: { entries } }
}

type Result = ToolResultPart & { args: Record<string, unknown> }

/** The prompt of the current turn and what its calls have brought so far; a steer between steps starts no new turn. */
function turnOf(messages: ModelMessage[]): { prompt: string; first: boolean; results: Result[] } {
  const starts = messages.flatMap((message, i) =>
    message.role === 'user' && messages[i - 1]?.role !== 'tool' ? [i] : [],
  )
  const start = starts.at(-1) ?? 0
  const opening = messages[start]
  const prompt =
    opening?.role === 'user' ? opening.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ') : ''
  const turn = messages.slice(start)
  const args = new Map(
    turn
      .flatMap((message) => (message.role === 'assistant' ? message.parts : []))
      .flatMap((part) => (part.type === 'call' ? [[part.callId, isRecord(part.args) ? part.args : {}]] : [])),
  )
  const results = turn
    .flatMap((message) => (message.role === 'tool' ? message.results : []))
    .map((result) => ({ ...result, args: args.get(result.callId) ?? {} }))
  return { prompt, first: starts.length < 2, results }
}

function tourBeat(messages: ModelMessage[], hasTools: boolean): Beat {
  const { prompt, first, results } = turnOf(messages)
  if (!hasTools) return { text: 'A tour of Lathe' }
  if (!first && results.length === 0 && !/\b(tour|demo|test|fix|bug|again)\b/i.test(prompt)) {
    return {
      text: `I am the **demo**: a script, not a model, so I cannot answer that. Say *tour* and I will show the tour again.\n\n${connect}`,
    }
  }
  const of = (name: string) => results.filter((result) => result.name === name)
  const read = of('read_file').find(({ args }) => args['path'] === source)
  const edited = of('edit_file').at(-1)
  const runs = of('shell')
  if (!read) {
    return {
      reasoning: 'This is a scripted tour. First a look at the code, then the failing test.',
      text: 'This is the **demo**: everything I say is scripted, but the tools are real. I will look at the code first.',
      calls: [
        plan('active', 'pending', 'pending'),
        { name: 'read_file', args: { path: source } },
        { name: 'read_file', args: { path: 'test/split.js' } },
      ],
    }
  }
  if (read.isError) {
    return {
      text: `I am the **demo**, a script that only knows the demo workspace, and \`${source}\` could not be read here. Open the demo workspace from the welcome page to see the whole tour.\n\n${connect}`,
    }
  }
  if (runs.length === 0)
    return { text: 'The function rounds every share down. Let me see what the tests say.', calls: [runTests] }
  if (!read.text.includes(bug))
    return {
      text: `The bug of the demo is fixed here already: \`splitBill\` hands out the leftover cents, and the tests ran above.\n\n${connect}`,
    }
  if (!edited) {
    return {
      reasoning: 'Rounding down loses the remainder. The first people pay one cent more until nothing is left.',
      text: runs[0]!.isError
        ? 'The tests do not pass, or could not run. The fix is clear from the code: the leftover cents must be handed out.'
        : 'As expected: `splitBill(1000, 3)` adds up to 999. The leftover cents must be handed out.',
      calls: [plan('done', 'active', 'pending'), { name: 'edit_file', args: edit }],
    }
  }
  if (edited.isError) {
    return {
      text: `The edit was not made, so \`${source}\` is unchanged. This is what I would have written:\n\n\`\`\`js\n${edit.new_text}\n\`\`\`\n\nAsk again and allow the edit to see the rest of the tour.\n\n${connect}`,
    }
  }
  if (runs.length === 1) return { text: 'Now the tests again.', calls: [plan('done', 'done', 'active'), runTests] }
  if (of('update_plan').length < 4) return { text: '', calls: [plan('done', 'done', 'done')] }
  const tested = runs.at(-1)!.isError
    ? 'The tests could not be run to the end; their output is above.'
    : 'The tests ran after the change; their output is above.'
  return {
    text: `### Done\n\n\`splitBill\` lost the cents left over by rounding down. It now gives one more cent to the first people until nothing is left:\n\n| bill | people | before | now |\n|---|---|---|---|\n| 1000 | 3 | 333, 333, 333 | 334, 333, 333 |\n\n${tested} See the change under **Changes**; undo it from there.\n\nThat was the tour, and all of it was scripted. ${connect}`,
  }
}

function echoBeat(messages: ModelMessage[]): Beat {
  return { text: turnOf(messages).prompt || 'There is nothing to repeat.' }
}

/** 40 deltas a second, or as fast as they are taken. */
function pacing(): number {
  return process.env['LATHE_DEMO_SPEED'] === 'fast' ? 0 : 25
}

export async function* demoAnswer(ask: Ask, signal: AbortSignal): AsyncGenerator<ModelEvent, Ended> {
  const { model, request } = ask
  const beat = model.id === 'echo' ? echoBeat(request.messages) : tourBeat(request.messages, request.tools.length > 0)
  const step = request.messages.length
  const ms = pacing()
  let shown = false
  let deltas = 0
  yield { type: 'started', provider: model.provider.id, model: model.id }
  for (const type of ['reasoning', 'text'] as const) {
    for (const delta of (beat[type] ?? '').match(/\s*\S+\s*/g) ?? []) {
      if (ms > 0) await pause(ms, signal)
      if (signal.aborted) return { ok: false, failure: { code: 'provider.stopped' }, partial: shown, shown }
      shown = true
      deltas += 1
      yield { type, delta, deltas: 1 }
    }
  }
  const calls = (beat.calls ?? []).map(({ name, args }, index) => ({ index, id: `demo_${step}_${index}`, name, args }))
  for (const { index, id, name, args } of calls) {
    if (ms > 0) await pause(ms, signal)
    if (signal.aborted) return { ok: false, failure: { code: 'provider.stopped' }, partial: shown, shown }
    yield { type: 'call', index, id, name, argsDelta: JSON.stringify(args) }
  }
  for (const { id, name, args } of calls) yield { type: 'callDone', id, name, args }
  yield {
    type: 'usage',
    usage: {
      input: 500 + 200 * step,
      output: deltas + 40 * calls.length,
      reasoning: null,
      cacheRead: null,
      cacheWrite: null,
      total: null,
      estimated: true,
    },
  }
  return { ok: true, reason: calls.length > 0 ? 'tools' : 'stop', empty: false, word: '', requestId: undefined }
}
