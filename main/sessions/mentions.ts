/** What mentions are found to be when a message is admitted (S-113): bounded, and marked as data for the model (Z-130). */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Item, Mention, ResolvedMention } from '../../preload/contract/items.ts'
import {
  mentionedBytesMax,
  mentionedSessionChars,
  mentionedTerminalBytes,
  mentionedTerminalLines,
} from '../../preload/contract/limits.ts'
import type { ChangedFile, SessionView } from '../../preload/contract/session.ts'
import type { FilePath, Place } from '../files/paths.ts'
import { untrustedBlock, withoutInvisible } from '../platform/untrusted-text.ts'

export type MentionSources = {
  /** Where a path really leads; throws where it cannot be said. */
  path(place: Place, path: string): Promise<FilePath>
  /** Another session as it is now; throws where it is not there. */
  session(id: string): Promise<SessionView>
  /** The newest lines a terminal shows, without secrets; null where it was closed. */
  terminal(id: string, lines: number): Promise<{ title: string; text: string } | null>
  /** Files changed in a turn of the session the message is for; null where it has no such turn. */
  changes(turnId: string): Promise<ChangedFile[] | null>
}

const changedFilesMax = 100

/** Throws `mention.missing`, which names the first that is not there. Undefined where nothing is mentioned. */
export async function resolveMentions(
  mentions: readonly Mention[] | undefined,
  place: Place,
  sources: MentionSources,
): Promise<ResolvedMention[] | undefined> {
  if (!mentions || mentions.length === 0) return undefined
  const told = new Set<string>()
  let left = mentionedBytesMax
  const resolved: ResolvedMention[] = []
  // What is mentioned twice is told once.
  for (const mention of mentions) {
    const key = `${mention.kind} ${mention.ref}`
    if (told.has(key)) {
      resolved.push({ ...mention, content: '' })
      continue
    }
    const found = withoutInvisible(await describe(mention, place, sources))
    const text = cut(found, Math.min(left, mentionedTerminalBytes))
    left -= Buffer.byteLength(text)
    told.add(key)
    resolved.push({ ...mention, content: untrustedBlock(`mentioned-${mention.kind}`, text) })
  }
  return resolved
}

async function describe(mention: Mention, place: Place, sources: MentionSources): Promise<string> {
  switch (mention.kind) {
    case 'file':
      return fileFacts(mention, await sources.path(place, mention.ref).catch(() => null))
    case 'session': {
      // A session that quotes itself would say everything twice.
      const view = mention.ref === place.sessionId ? null : await sources.session(mention.ref).catch(() => null)
      if (!view) throw missing(mention, 'The session')
      return sessionText(view)
    }
    case 'terminal': {
      const shown = await sources.terminal(mention.ref, mentionedTerminalLines)
      if (!shown) throw missing(mention, 'The terminal')
      return `terminal: ${shown.title}\nnewest output:\n${shown.text}`
    }
    case 'changes': {
      const files = await sources.changes(mention.ref)
      if (!files) throw missing(mention, 'The turn')
      return changesText(files)
    }
  }
}

/** Only what lies inside, links followed (S-114). Tools read it; its path and size are told. */
function fileFacts(mention: Mention, path: FilePath | null): string {
  if (!path || !path.inside || path.kind === 'missing' || path.kind === 'other') throw missing(mention, 'The file')
  if (path.kind === 'folder') return `folder: ${path.shown}`
  return `file: ${path.shown}\nsize: ${path.stats?.size ?? 0} bytes`
}

function sessionText({ header, items }: SessionView): string {
  let text = ''
  for (const item of items.toReversed()) {
    const said = saidIn(item)
    if (said === null) continue
    text = text === '' ? said : `${said}\n\n${text}`
    if (text.length >= mentionedSessionChars) break
  }
  return `title: ${header.title}\nid: ${header.id}\nnewest content:\n${text.slice(-mentionedSessionChars)}`
}

function saidIn(item: Item): string | null {
  if (!item.visible) return null
  if (item.kind === 'user') return `user: ${item.text}`
  if (item.kind === 'text') return `agent: ${item.text}`
  return item.kind === 'tool' ? `tool: ${item.title || item.name}` : null
}

function changesText(files: readonly ChangedFile[]): string {
  const lines = files
    .slice(0, changedFilesMax)
    .map(({ kind, path, added, removed, undone }) =>
      [kind, path, added === null ? '' : `+${added}`, removed === null ? '' : `-${removed}`, undone ? '(undone)' : '']
        .filter(Boolean)
        .join(' '),
    )
  if (files.length > changedFilesMax) lines.push(`and ${files.length - changedFilesMax} more`)
  return `files changed: ${files.length}\n${lines.join('\n')}`
}

/** The end is what counts of output; facts are never that long. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  const head = text.slice(0, text.indexOf('\n') + 1)
  const room = Math.max(0, bytes - Buffer.byteLength(head) - 32)
  const tail =
    room === 0
      ? ''
      : whole
          .subarray(whole.length - room)
          .toString('utf8')
          .replace(/^\ufffd+/, '')
  return `${head}[the beginning is left out]\n${tail}`
}

function missing({ label, kind, ref }: Mention, what: string): LatheError {
  return new LatheError('mention.missing', `${what} "${label}" is not there.`, {
    hint:
      kind === 'file'
        ? 'Only what is inside the workspace can be mentioned. Take it out, or attach it.'
        : 'Take it out of the message.',
    data: { kind, ref, label },
  })
}
