/** Titles by a model, after the first completed turn (T-169, T-170): at most three requests, then the fallback. */
import type { Item } from '../../preload/contract/items.ts'
import { userMessage, type Models } from '../models/model.ts'
import { cleanTitle, fallbackTitle } from '../turns/titles.ts'
import type { SessionActor } from './actor.ts'

const limitMs = 15_000
const excerptChars = 500

const prompts = [
  'Write a title of three to six words for this conversation, in its language. Reply with the title alone: no quotes, no label, no full stop.',
  'Name the subject of the conversation below in at most six words. Output only those words.',
]

type Titling = {
  models: Models
  /** For small work, where one is configured; else the turn's own model. */
  auxModel: string | null
  redact(text: string): string
}

/** Names a session after its completed turn, unless a person or a model has named it already. Never throws. */
export async function giveTitle(actor: SessionActor, { models, auxModel, redact }: Titling): Promise<void> {
  const { header, items, turns } = actor.published
  const isNamed = !['default', 'provisional', 'fallback'].includes(header.titleSource)
  const model = auxModel ?? turns.at(-1)?.model
  if (isNamed || header.lastOutcome !== 'completed' || !header.lastTurnId || model === undefined) return
  const titled = await makeTitle(items, model, models, actor.id)
  if (!titled) return
  const command = { type: 'title' as const, title: redact(titled.title), source: titled.source, rev: header.rev }
  // Refused where it was renamed or deleted meanwhile.
  await actor.command(command).catch(() => {})
}

export type Titled = { title: string; source: 'generated' | 'fallback' }

/** Resolves with a title, or null where the provisional one is as good as any. Never throws. */
export async function makeTitle(
  items: readonly Item[],
  model: string,
  models: Models,
  sessionId: string,
): Promise<Titled | null> {
  const question = items.find((item) => item.kind === 'user' && item.text.trim() !== '' && !item.text.startsWith('/'))
  const answer = items.find((item) => item.kind === 'text' && item.visible && item.text.trim() !== '')
  const asked = question?.kind === 'user' ? question.text : ''
  const excerpt = `Person: ${asked.slice(0, excerptChars)}\n\nAgent: ${answer?.kind === 'text' ? answer.text.slice(0, excerptChars) : ''}`
  const signal = AbortSignal.timeout(limitMs)
  let maxOutput = 512
  for (let request = 0, prompt = 0; request < 3 && prompt < prompts.length; request++) {
    const reply = await ask(models, { model, maxOutput, system: prompts[prompt]!, excerpt, sessionId }, signal)
    if (reply.length && maxOutput === 512) maxOutput = 1_024
    else if (reply.reasoningOnly) break
    else {
      const title = reply.text === null ? null : cleanTitle(reply.text)
      if (title !== null) return { title, source: 'generated' }
      prompt++
    }
    if (signal.aborted) break
  }
  const title = fallbackTitle(asked)
  return title === null ? null : { title, source: 'fallback' }
}

async function ask(
  models: Models,
  request: { model: string; maxOutput: number; system: string; excerpt: string; sessionId: string },
  signal: AbortSignal,
): Promise<{ text: string | null; length: boolean; reasoningOnly: boolean }> {
  let text = ''
  let reasoned = false
  let length = false
  const stream = models.stream(
    {
      model: request.model,
      messages: [{ role: 'system', text: request.system }, userMessage(request.excerpt)],
      tools: [],
      maxOutput: request.maxOutput,
      sessionId: `title-${request.sessionId}`,
      interactive: false,
    },
    signal,
  )
  for await (const event of stream) {
    if (event.type === 'text') text += event.delta
    else if (event.type === 'reasoning') reasoned = true
    else if (event.type === 'finish') length = event.reason === 'length'
    else if (event.type === 'error') return { text: null, length: false, reasoningOnly: false }
  }
  return { text, length: length && text.trim() === '', reasoningOnly: reasoned && text.trim() === '' && !length }
}
