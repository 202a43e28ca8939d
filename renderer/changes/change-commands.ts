import { type Command, inSession, onSession } from '../app/command.ts'
import { commandTarget } from '../app/command-targets.ts'
import { prefer, usePreferences } from '../state/preferences.ts'
import { showUndo } from './show-undo.ts'

const changesShown = () => commandTarget('changes') !== undefined || 'The Changes tab is not shown.'

export const changeCommands: readonly Command[] = [
  {
    id: 'changes.next',
    title: 'Next change',
    category: 'Changes',
    keys: 'F7',
    when: changesShown,
    run: () => commandTarget('changes')?.next(),
  },
  {
    id: 'changes.previous',
    title: 'Previous change',
    category: 'Changes',
    keys: 'Shift+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.previous(),
  },
  {
    id: 'changes.nextFile',
    title: 'Next changed file',
    category: 'Changes',
    keys: 'Alt+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.nextFile(),
  },
  {
    id: 'changes.previousFile',
    title: 'Previous changed file',
    category: 'Changes',
    keys: 'Alt+Shift+F7',
    when: changesShown,
    run: () => commandTarget('changes')?.previousFile(),
  },
  {
    id: 'changes.keep',
    title: 'Keep this change',
    category: 'Changes',
    keys: 'F8',
    when: changesShown,
    run: () => commandTarget('changes')?.keep(),
  },
  {
    id: 'changes.undo',
    title: 'Undo this change',
    category: 'Changes',
    keys: 'Shift+F8',
    when: changesShown,
    run: () => commandTarget('changes')?.undo(),
  },
  {
    id: 'changes.comment',
    title: 'Comment on this change',
    category: 'Changes',
    keys: 'F9',
    when: changesShown,
    run: () => commandTarget('changes')?.comment(),
  },
  {
    id: 'changes.undoTurn',
    title: 'Undo the changes of the latest turn…',
    category: 'Changes',
    when: inSession,
    run: onSession((id) => showUndo(id, false)),
  },
  {
    id: 'changes.redoTurn',
    title: 'Redo the changes of the latest undone turn…',
    category: 'Changes',
    when: inSession,
    run: onSession((id) => showUndo(id, true)),
  },
  {
    id: 'changes.split',
    title: 'Changes: side by side',
    category: 'Changes',
    run: () => prefer({ 'changes.style': 'split' }),
  },
  {
    id: 'changes.unified',
    title: 'Changes: unified',
    category: 'Changes',
    run: () => prefer({ 'changes.style': 'unified' }),
  },
  {
    id: 'changes.wrap',
    title: 'Changes: wrap long lines or not',
    category: 'Changes',
    run: () => prefer({ 'changes.wrap': !usePreferences.getState()['changes.wrap'] }),
  },
]
