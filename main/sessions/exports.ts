/**
 * Exports on their way to a client (S-91): asked for part by part, each made when it is asked for, so what is in memory is
 * a part and the entry it ends in.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import { exportPartChars } from '../../preload/contract/limits.ts'
import type { ExportPart } from '../../preload/contract/session-list-routes.ts'
import type { Storage } from '../storage/storage.ts'
import { type ExportFormat, exportSession } from './export.ts'
import type { Sessions } from './sessions.ts'

type Asked = {
  sessionId: string
  /** The client's name for this export; its parts are asked for in order. */
  exportId: string
  part: number
  format: ExportFormat
  exact?: boolean | undefined
}
type Under = { parts: AsyncGenerator<ExportPart>; part: number; answer: Promise<ExportPart>; idle: NodeJS.Timeout }
type Ports = { storage: Pick<Storage, 'snapshot'>; sessions: Pick<Sessions, 'open'> }

const exportsMax = 4
const idleMs = 30_000

export class Exports {
  private readonly under = new Map<string, Under>()
  private readonly ports: Ports

  constructor(ports: Ports) {
    this.ports = ports
  }

  /**
   * The next part, or the last answered once more. All are of the session as it was at the first; one that is not gone on
   * with for 30 s ends. Throws `request.invalid` for parts out of order.
   */
  async part(asked: Asked): Promise<ExportPart> {
    const one = asked.part === 0 && !this.under.has(asked.exportId) ? this.begin(asked) : this.at(asked)
    one.idle.refresh()
    try {
      return await one.answer
    } catch (error) {
      this.drop(asked.exportId)
      throw error
    }
  }

  close(): void {
    for (const exportId of this.under.keys()) this.drop(exportId)
  }

  private begin({ sessionId, exportId, format, exact = false }: Asked): Under {
    if (this.under.size >= exportsMax)
      throw new LatheError('request.invalid', 'Too many sessions are being exported at once.', {
        hint: 'Wait for the others.',
      })
    const parts = partsOf(this.ports, sessionId, format, exact)
    const idle = setTimeout(() => this.drop(exportId), idleMs)
    idle.unref()
    const one = { parts, part: 0, answer: next(parts), idle }
    this.under.set(exportId, one)
    return one
  }

  private at({ exportId, part }: Asked): Under {
    const one = this.under.get(exportId)
    if (!one || (part !== one.part && part !== one.part + 1))
      throw new LatheError('request.invalid', 'The parts of this export were asked for out of order.', {
        hint: 'Begin it again.',
      })
    if (part === one.part) return one
    one.part = part
    one.answer = next(one.parts)
    return one
  }

  private drop(exportId: string): void {
    const one = this.under.get(exportId)
    this.under.delete(exportId)
    if (!one) return
    clearTimeout(one.idle)
    // Ends its reading; one that failed has ended it.
    one.parts.return(undefined).catch(() => {})
  }
}

async function next(parts: AsyncGenerator<ExportPart>): Promise<ExportPart> {
  const { value, done } = await parts.next()
  if (done) throw new LatheError('request.invalid', 'This export has ended.')
  return value
}

async function* partsOf(
  { storage, sessions }: Ports,
  sessionId: string,
  format: ExportFormat,
  exact: boolean,
): AsyncGenerator<ExportPart, undefined> {
  // Refuses what is not there or was deleted, and settles what a crash left open.
  const { header } = await sessions.open(sessionId)
  const snapshot = await storage.snapshot(sessionId)
  try {
    const { name, mediaType, pieces } = exportSession(snapshot ?? unsent(header), format, { exact })
    let text = ''
    for await (const piece of pieces) {
      text += piece
      while (text.length > exportPartChars) {
        const end = cutAt(text, exportPartChars)
        yield { name, mediaType, text: text.slice(0, end), last: false }
        text = text.slice(end)
      }
    }
    yield { name, mediaType, text, last: true }
  } finally {
    await snapshot?.close()
  }
}

function unsent(header: Parameters<typeof exportSession>[0]['header']): Parameters<typeof exportSession>[0] {
  return { header, async *turns() {}, async *items() {} }
}

/** `at` or the place before, so that no character and no line end is cut in two. */
function cutAt(text: string, at: number): number {
  const before = text.charCodeAt(at - 1)
  return (before >= 0xd800 && before <= 0xdbff) || before === 0x0d ? at - 1 : at
}
