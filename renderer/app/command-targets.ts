import type { Comment } from '../../preload/contract/change-routes.ts'

/** Panes that carry out commands while they are on screen: the commands find them here, and are disabled without them. */
interface CommandTargets {
  composer: { chooseAgent(): void }
  transcript: { find(): void }
  changes: {
    next(): void
    previous(): void
    nextFile(): void
    previousFile(): void
    keep(): void
    undo(): void
    comment(): void
    /** Goes to the lines a comment is about. */
    show(comment: Comment): void
  }
  editor: { save(): void }
  terminal: {
    find(): void
    copy(): void
    paste(): void
    clear(): void
    selectAll(): void
    /** Its shell marks commands, and some were run. */
    marked(): boolean
    jump(direction: 1 | -1): void
    copyOutput(): void
    send(): void
    sendOutput(): void
    rename(): void
    close(): void
  }
}

const targets: { [Name in keyof CommandTargets]?: CommandTargets[Name] } = {}

export function commandTarget<Name extends keyof CommandTargets>(name: Name): CommandTargets[Name] | undefined {
  return targets[name]
}

/** Stands in for `name` until the answered function is called. */
export function provideTarget<Name extends keyof CommandTargets>(name: Name, target: CommandTargets[Name]): () => void {
  Object.assign(targets, { [name]: target })
  return () => {
    if (targets[name] === target) delete targets[name]
  }
}
