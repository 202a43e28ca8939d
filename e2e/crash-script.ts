/**
 * A scripted session of 30 turns, for the crash test: what the person does, what the model answers to whatever history it
 * is sent, and the transcript that must come of it. The model remembers nothing: it reads from the history how far a task
 * has come, so it goes on after every interruption as a real one would.
 */
import { messagesOf, type RecordedRequest, type Step } from './model-server/script.ts'

/** What each task of the script is about. 22 tasks and the two messages queued behind some make 30 turns. */
export type TaskKind = 'talk' | 'tools' | 'steer' | 'queue' | 'approvals' | 'stop' | 'fail'

export const taskCount = 22

export function kindOf(task: number): TaskKind {
  const kinds: TaskKind[] = ['talk', 'tools', 'steer', 'queue', 'approvals', task % 4 === 3 ? 'fail' : 'stop']
  return kinds[task % kinds.length]!
}

export const said = {
  task: (task: number) => `Task ${task}: do as you were told.`,
  later: (task: number, which: 'a' | 'b') => `Later ${task}${which}: once you are done.`,
  also: (task: number) => `Also ${task}: mind this as well.`,
  goOn: (task: number, time: number) => `Go on with task ${task} (${time}).`,
}

/** The step of the task whose call the person refuses. */
export const refusedStep = 2
const everyMs = 6
const stepsOf: Record<TaskKind, number> = { talk: 0, tools: 3, steer: 2, queue: 1, approvals: 3, stop: 0, fail: 1 }

const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ')
const stepText = (task: number, step: number) => `Step ${task}-${step} of the work begins now.`
export const answerText = (task: number) => `Answer ${task}: ${words(kindOf(task) === 'talk' ? 16 : 8)}`
const laterText = (task: number, which: string) => `Done later ${task}${which}: ${words(6)}`
const heardText = (task: number) => `Heard ${task}.`
const stoppedText = (task: number) => `Stop ${task} in the middle: ${words(12)}`

/** Says of its output that it is done, so that the history shows which calls have ended. */
function commandOf(task: number, step: number): string {
  const done = `echo done-${task}-${step}`
  if (kindOf(task) === 'approvals') return `mkdir -p made && touch made/${task}-${step} && ${done}`
  return kindOf(task) === 'steer' ? `sleep 0.2; ${done}` : done
}

/** What the refused call is refused with. */
export const refusal = (task: number, step: number) => `refused-${task}-${step}`

export type Seen = { kind: 'text' | 'tool'; what: string }

/** The finished texts and calls of all tasks in order, without the answers to what was said behind them or meanwhile. */
export function expectedTranscript(): Seen[] {
  return Array.from({ length: taskCount }, (_, task) => task).flatMap((task): Seen[] => {
    const kind = kindOf(task)
    if (kind === 'stop') return []
    const steps = Array.from({ length: stepsOf[kind] }, (_, at) => at + 1).flatMap((step): Seen[] => [
      { kind: 'text', what: stepText(task, step) },
      { kind: 'tool', what: commandOf(task, step) },
    ])
    return [...steps, { kind: 'text', what: answerText(task) }]
  })
}

/** Whether a text is a beginning of something the script says. */
export function isBeginning(text: string): boolean {
  return Array.from({ length: taskCount }, (_, task) => task).some((task) =>
    [
      ...Array.from({ length: stepsOf[kindOf(task)] }, (_, at) => stepText(task, at + 1)),
      answerText(task),
      laterText(task, 'a'),
      laterText(task, 'b'),
      heardText(task),
      stoppedText(task),
    ].some((whole) => whole.startsWith(text)),
  )
}

/** Answers to queued messages and to steers that became turns of their own: where they stand is decided by the kills. */
export const isAside = (text: string) => /^(Heard|Done later) /.test(text)

/** What must be answered exactly once, wherever. */
export function expectedAside(): { asked: string; answer: string }[] {
  return Array.from({ length: taskCount }, (_, task) => task)
    .filter((task) => kindOf(task) === 'queue')
    .flatMap((task) =>
      (['a', 'b'] as const).map((which) => ({ asked: said.later(task, which), answer: laterText(task, which) })),
    )
}

/** `failing` holds the tasks whose request still fails. */
export function answerOf(request: RecordedRequest, failing: ReadonlySet<number>): Step {
  const messages = messagesOf(request.body)
  if (messages.some(({ text }) => text.includes('Write a title'))) return { emit: [{ text: 'A scripted title' }] }
  const persons = messages
    .map((message, at) => ({ ...message, at }))
    .filter(({ role, tool, text }) => role === 'user' && !tool && /^(Task|Later|Also|Go on with task) \d/.test(text))
  const last = persons.at(-1)
  const [, verb, number, which] = /^(Task|Later|Also|Go on with task) (\d+)([ab]?)/.exec(last?.text ?? '') ?? []
  const task = Number(number)
  if (!last || Number.isNaN(task)) return { emit: [{ text: 'What is the task?' }] }
  if (verb === 'Later') return { emit: [{ text: laterText(task, which!), everyMs }] }
  const from = persons.find(({ text }) => text === said.task(task))?.at ?? 0
  const since = messages.slice(from)
  const isAnswered = since.some(({ role, text }) => role === 'assistant' && text.includes(answerText(task)))
  if (verb === 'Also' && (isAnswered || kindOf(task) === 'stop')) return { emit: [{ text: heardText(task) }] }
  if (kindOf(task) === 'stop') return { emit: [{ text: stoppedText(task), everyMs }, { hang: true }] }
  const ended = (step: number) =>
    since.some(
      ({ tool, text }) =>
        tool &&
        !text.includes('outcome of this call is unknown') &&
        (text.includes(`done-${task}-${step}`) || text.includes(refusal(task, step))),
    )
  const open = Array.from({ length: stepsOf[kindOf(task)] }, (_, at) => at + 1).find((step) => !ended(step))
  if (open === undefined && failing.has(task)) return { error: { status: 400, message: 'Not like this.' } }
  if (open === undefined) return { emit: [{ text: answerText(task), everyMs }] }
  const call = { name: 'shell', args: { command: commandOf(task, open) } }
  return { emit: [{ text: stepText(task, open), everyMs }, { call }] }
}
