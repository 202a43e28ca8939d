/** The rules the person set for good: in memory for each judgement, told to every window when they change. */
import type { Rule } from '../../preload/contract/items.ts'
import type { Storage } from '../storage/storage.ts'

export class RulesStore {
  private rules: Rule[] = []
  private readonly storage: Pick<Storage, 'rules' | 'removeRule'>
  private readonly changed: (rules: Rule[]) => void

  constructor(storage: Pick<Storage, 'rules' | 'removeRule'>, changed: (rules: Rule[]) => void) {
    this.storage = storage
    this.changed = changed
  }

  get(): readonly Rule[] {
    return this.rules
  }

  async load(): Promise<void> {
    this.rules = await this.storage.rules()
  }

  /** A session's decision stored another one. */
  async reload(): Promise<void> {
    await this.load()
    this.changed(this.rules)
  }

  async remove(id: string): Promise<void> {
    await this.storage.removeRule(id)
    await this.reload()
  }
}
