import type { ChangedFile } from '../../preload/contract/session.ts'

/** How each kind of change looks wherever a file is listed: a letter, its word, its colour. */
export const changeKinds: Readonly<Record<ChangedFile['kind'], { letter: string; word: string; colour: string }>> = {
  created: { letter: 'A', word: 'Created', colour: 'text-added' },
  edited: { letter: 'M', word: 'Edited', colour: 'text-modified' },
  deleted: { letter: 'D', word: 'Deleted', colour: 'text-removed' },
  renamed: { letter: 'R', word: 'Renamed', colour: 'text-note' },
}
