/** The model context: a pure projection of the session's items (C-1). Only the transcript is stored; this is computed. */
import type { Attachment, Item, ItemOf } from '../../preload/contract/items.ts'
import type { Turn } from '../../preload/contract/session.ts'
import type { AssistantPart, ModelMessage, ToolResultPart, UserPart } from '../models/model.ts'

/** Bodies that items only name, loaded before the projection: whole tool results by hash, attachments by hash. */
export type Bodies = { results: ReadonlyMap<string, string>; attachments: ReadonlyMap<string, Uint8Array> }

/** Hashes `projectItems` will ask for. */
export function neededBodies(items: readonly Item[]): { results: string[]; attachments: Attachment[] } {
  const results = items.flatMap((item) =>
    item.kind === 'tool' && item.contextual && item.resultRef ? [item.resultRef] : [],
  )
  const attachments = items.flatMap((item) => (item.kind === 'user' && item.contextual ? item.attachments : []))
  return { results, attachments }
}

/**
 * Messages of what the model may see, in order (C-3): a step's text and calls are one assistant message, its results one
 * tool message; a retried attempt leaves the context (T-179). Equal inputs give equal bytes.
 */
export function projectItems(items: readonly Item[], turns: readonly Turn[], bodies: Bodies): ModelMessage[] {
  const retried = new Set(turns.map((turn) => turn.retryOf).filter((id) => id !== undefined))
  const messages: ModelMessage[] = []
  let step = null as { id: string | null; parts: AssistantPart[]; results: ToolResultPart[] } | null
  const close = () => {
    if (!step) return
    if (step.parts.length > 0) messages.push({ role: 'assistant', parts: step.parts })
    if (step.results.length > 0) messages.push({ role: 'tool', results: step.results })
    step = null
  }
  for (const item of items) {
    if (!item.contextual || (item.turnId !== null && retried.has(item.turnId))) continue
    if (item.kind === 'user') {
      close()
      messages.push({ role: 'user', parts: userParts(item.prompt ?? item.text, item.attachments, bodies) })
    } else if (item.kind === 'notice') {
      close()
      messages.push({ role: 'user', parts: [{ type: 'text', text: item.prompt ?? item.text }] })
    } else if (item.kind === 'text') {
      if (item.text.trim() === '') continue
      if (step?.id !== item.stepId || step.results.length > 0) close()
      step ??= { id: item.stepId, parts: [], results: [] }
      step.parts.push({ type: 'text', text: item.text })
    } else if (
      item.kind === 'tool' &&
      item.state !== 'proposed' &&
      item.state !== 'waiting' &&
      item.state !== 'running'
    ) {
      if (step?.id !== item.stepId) close()
      step ??= { id: item.stepId, parts: [], results: [] }
      step.parts.push({ type: 'call', callId: item.callId, name: item.name, args: item.args })
      step.results.push({
        callId: item.callId,
        name: item.name,
        text: resultText(item, bodies),
        isError: item.state !== 'ok',
      })
    }
  }
  close()
  return messages
}

/** What the model is told of a call that has ended (C-31): its result, or why there is none. */
export function resultText(item: ItemOf<'tool'>, bodies: Bodies): string {
  if (item.state === 'cancelled') return 'This call was cancelled before it finished.'
  if (item.state === 'unknown')
    return `${item.summary ? `${item.summary}\n` : ''}The outcome of this call is unknown: it may or may not have taken effect. Check before repeating it.`
  const whole = item.resultRef === undefined ? undefined : bodies.results.get(item.resultRef)
  return whole ?? (item.summary || '(no output)')
}

/** Attached text files as marked blocks, images as images, everything else by name (F-1209). */
export function userParts(text: string, attachments: readonly Attachment[], bodies: Bodies): UserPart[] {
  const parts: UserPart[] = []
  for (const attachment of attachments) {
    const bytes = bodies.attachments.get(attachment.hash)
    if (!bytes)
      parts.push({
        type: 'text',
        text: `<attachment name=${JSON.stringify(attachment.name)}>The file is no longer there.</attachment>`,
      })
    else if (/^image\/(png|jpeg|gif|webp)$/.test(attachment.mediaType))
      parts.push({ type: 'image', mediaType: attachment.mediaType, data: bytes })
    else if (isText(bytes))
      parts.push({
        type: 'text',
        text: `<attachment name=${JSON.stringify(attachment.name)}>\n${clipText(new TextDecoder().decode(bytes))}\n</attachment>`,
      })
    else
      parts.push({
        type: 'text',
        text: `<attachment name=${JSON.stringify(attachment.name)} type=${JSON.stringify(attachment.mediaType)} bytes="${attachment.bytes}">This file is not text and is not shown.</attachment>`,
      })
  }
  if (text !== '' || parts.length === 0) parts.push({ type: 'text', text })
  return parts
}

const attachedTextMax = 64_000

function clipText(text: string): string {
  if (text.length <= attachedTextMax) return text
  const head = text.slice(0, attachedTextMax * 0.75)
  const tail = text.slice(-attachedTextMax * 0.25)
  return `${head}\n[${text.length - attachedTextMax} characters left out]\n${tail}`
}

function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8_192).includes(0)
}

/** Tokens of a text where nobody reported them: about four characters each. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
