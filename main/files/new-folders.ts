/**
 * Where the system watches each folder by itself, what is made in a new one before its watch stands is told by nobody:
 * new folders are looked into, and those in them that stay silent ask for a new watch of everything.
 */
import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { isTemporary } from './atomic-write.ts'
import type { IgnoreTree } from './ignore-rules.ts'
import { neverEntered } from './never-entered.ts'

export type NewFoldersPorts = {
  workspace: string
  ignored: IgnoreTree
  /** A folder is not watched. */
  renew(): void
}

/** Elsewhere the system's watch is one of the whole workspace. */
const watchesEachFolder = process.platform === 'linux'
/** Of more entries nobody looks at each. */
const entriesMax = 500
/** A new folder that the system said nothing of for so long is not watched. */
const silentMs = 1_000

export class NewFolders {
  readonly #ports: NewFoldersPorts
  #created = new Set<string>()
  /** Folders made in folders that are new themselves, until an event names them. */
  #doubted = new Set<string>()
  #doubting: NodeJS.Timeout | undefined
  #hasIgnored = false
  #ended = false

  constructor(ports: NewFoldersPorts) {
    this.#ports = ports
  }

  /** There are unwatched ones among those that ignore files leave out. */
  get hasIgnored(): boolean {
    return this.#hasIgnored
  }

  /** An event named this path. */
  heard(path: string, isNew: boolean): void {
    this.#doubted.delete(path)
    if (watchesEachFolder && isNew) this.#created.add(path)
  }

  /** What was made since the last time. */
  takeCreated(): string[] {
    const created = [...this.#created]
    this.#created.clear()
    return created
  }

  /** Adds what lies in the created ones to `paths`; a folder in one of them may have no watch, and is looked for again. */
  async lookInside(created: readonly string[], paths: Set<string>): Promise<void> {
    if (created.length > entriesMax) return this.#doubt('')
    for (const path of created) {
      const entries = await entriesOf(join(this.#ports.workspace, path))
      if (entries.length > entriesMax) return this.#doubt('')
      for (const entry of entries) {
        const inside = `${path}/${entry.name}`
        if (paths.has(inside) || isTemporary(entry.name) || neverEntered.has(entry.name)) continue
        if (!entry.isDirectory()) paths.add(inside)
        else if (await this.#ports.ignored.ignores(inside)) this.#hasIgnored = true
        else this.#doubt(inside)
      }
    }
  }

  /** A new watch is made, which has all folders. */
  renewed(): void {
    this.#hasIgnored = false
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#doubting)
  }

  /** Asks for a new watch once, behind the last of many. */
  #doubt(folder: string): void {
    if (this.#ended) return
    this.#doubted.add(folder)
    clearTimeout(this.#doubting)
    this.#doubting = setTimeout(() => {
      const isUnwatched = this.#doubted.size > 0
      this.#doubted.clear()
      if (isUnwatched) this.#ports.renew()
    }, silentMs).unref()
  }
}

/** Of a folder, never of what a link leads to; one more than counts at most. */
async function entriesOf(path: string): Promise<Dirent[]> {
  const entries: Dirent[] = []
  try {
    if (!(await lstat(path)).isDirectory()) return entries
    for await (const entry of await opendir(path)) if (entries.push(entry) > entriesMax) break
  } catch {
    // It has gone again, or is not to be read.
  }
  return entries
}
