/** Paths of file tools: resolved once to be judged, and again to be used, which must lead to the same place (F-106). */
import { swapped, type FilePath, type Paths, type Place } from '../files/paths.ts'
import type { Effect, ToolContext } from './tool.ts'

export class JudgedPaths {
  readonly #paths: Paths
  /** What `plan` resolved for a call; the pipeline hands the same context to `run`. */
  readonly #judged = new WeakMap<ToolContext, FilePath>()

  constructor(paths: Paths) {
    this.#paths = paths
  }

  async judge(context: ToolContext, given: string): Promise<FilePath> {
    const path = await this.#paths.resolve(placeOf(context), given)
    this.#judged.set(context, path)
    return path
  }

  /** Throws `path.swapped` where the path now leads elsewhere than what was judged. */
  async use(context: ToolContext, given: string): Promise<FilePath> {
    const path = await this.#paths.resolve(placeOf(context), given)
    const judged = this.#judged.get(context)
    if (judged && (judged.real !== path.real || judged.inside !== path.inside || judged.secret !== path.secret))
      throw swapped(path)
    return path
  }
}

export function placeOf({ sessionId, workspace, extraFolders }: ToolContext): Place {
  return { sessionId, workspace, extraFolders }
}

export function readEffect({ real, inside, secret }: FilePath): Effect {
  return { kind: 'read', path: real, inside, secret }
}

export function writeEffect(path: FilePath): Effect {
  const { real, secret } = path
  return {
    kind: 'write',
    path: real,
    inside: path.inside && path.writable,
    change: path.kind === 'missing' ? 'create' : 'edit',
    protected: path.protected,
    secret,
  }
}

/** Whether a file's content may be looked at before a person has agreed to anything. */
export function isOpenToAll({ inside, secret }: FilePath): boolean {
  return inside && !secret
}

/** The path as given, and where it really leads if that is somewhere else (F-105). */
export function whereItLeads(path: FilePath): string {
  return path.absolute === path.real ? path.shown : `${path.given} → ${path.real}`
}

/** A card's title of at most 80 characters: the end of a path says more than its beginning. */
export function titled(verb: string, path: string): string {
  const room = 80 - verb.length - 1
  return `${verb} ${path.length <= room ? path : `…${path.slice(1 - room)}`}`
}
