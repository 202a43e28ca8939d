/** The host as its windows know it: what it is and can do, and what ails it. */
import { homedir } from 'node:os'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import type { HostInfo } from '../../preload/contract/workbench-routes.ts'
import type { Config } from '../platform/config.ts'
import type { Storage } from '../storage/storage.ts'

export type HostStatePorts = {
  fixed: Omit<HostInfo, 'platform' | 'home' | 'banner'>
  storage: Pick<Storage, 'condition'>
  config: Pick<Config, 'problem'>
  send(event: WorkbenchEvent): void
}

export class HostState {
  private slowSaving = false
  private isStorageLost = false
  /** Bytes left on the disk of the data folder; null while unknown. */
  private freeDisk: number | null = null
  private readonly ports: HostStatePorts

  constructor(ports: HostStatePorts) {
    this.ports = ports
  }

  savingSlowly(slow: boolean): void {
    this.slowSaving = slow
    this.tell()
  }

  /** Nothing can be stored any more, or it can again. */
  storageLost(isLost: boolean): void {
    this.isStorageLost = isLost
    this.tell()
  }

  /** How storage is, and whether only reads are sure to be served (sessions.md 19). */
  storage(): { storage: Storage['condition']['kind'] | 'lost'; isDegraded: boolean } {
    const { kind } = this.ports.storage.condition
    return { storage: this.isStorageLost ? 'lost' : kind, isDegraded: this.isStorageLost || kind === 'newer' }
  }

  diskLeft(bytes: number | null): void {
    this.freeDisk = bytes
    this.tell()
  }

  tell(): void {
    this.ports.send(this.event())
  }

  event(): WorkbenchEvent {
    const { slowSaving, freeDisk } = this
    const state = this.storage().isDegraded ? 'degraded' : 'ready'
    return { type: 'host.changed', state, slowSaving, freeDisk, banner: this.banner() }
  }

  info(): HostInfo {
    return { ...this.ports.fixed, platform: process.platform, home: homedir(), banner: this.banner() }
  }

  private banner(): string | null {
    const { condition } = this.ports.storage
    const { problem } = this.ports.config
    if (condition.kind === 'set_aside')
      return `The database was damaged and set aside as ${condition.kept}. Lathe began a new one.`
    if (condition.kind === 'newer')
      return 'This data folder was written by a newer version of Lathe. It is open for reading only.'
    return problem
      ? `${problem.file}, line ${problem.line}: ${problem.message} The last good configuration is used.`
      : null
  }
}
