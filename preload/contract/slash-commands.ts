/** Slash commands: which there are, and how a line that begins with `/` is read (S-107), alike in a window and on the command line. */

/** `ui` in the window only; `side` answers without a turn; `turn` starts one; `idle` wants none to run. */
export type SlashKind = 'ui' | 'side' | 'turn' | 'idle'

export type SlashCommand = {
  name: string
  kind: SlashKind
  /** Shown after the name: what may follow it. */
  argument?: string
  help: string
}

export const slashCommands: readonly SlashCommand[] = [
  { name: 'new', kind: 'ui', argument: '[text]', help: 'New session here; with text, its first message' },
  { name: 'stop', kind: 'side', help: 'Stop the running turn' },
  { name: 'status', kind: 'side', help: 'Show version, model, usage and what runs' },
  { name: 'model', kind: 'side', argument: '[name]', help: 'Choose the model' },
  { name: 'effort', kind: 'side', argument: '[level]', help: 'Choose how much the model thinks' },
  { name: 'agent', kind: 'side', argument: '[name]', help: 'Choose the agent' },
  { name: 'mode', kind: 'side', argument: '[mode]', help: 'Choose what needs your approval' },
  { name: 'history', kind: 'side', argument: '[N]', help: 'Show the last exchanges as text' },
  { name: 'usage', kind: 'side', help: 'Show tokens and price' },
  { name: 'context', kind: 'side', help: 'Show what fills the context' },
  { name: 'compact', kind: 'idle', argument: '[what matters]', help: 'Make room: replace older turns by a summary' },
  { name: 'retry', kind: 'turn', help: 'Try the last message again' },
  { name: 'continue', kind: 'turn', help: 'Go on from an unfinished end' },
  { name: 'undo', kind: 'turn', help: 'Take the last turn back, its files too' },
  { name: 'redo', kind: 'turn', help: 'Bring what was taken back forward again' },
  { name: 'branch', kind: 'side', argument: '[title]', help: 'Fork the session after its newest answer' },
  { name: 'rename', kind: 'side', argument: '[title]', help: 'Rename the session' },
  { name: 'pin', kind: 'side', help: 'Pin or unpin the session' },
  { name: 'archive', kind: 'side', help: 'Archive the session' },
  { name: 'delete', kind: 'side', help: 'Delete the session' },
  { name: 'export', kind: 'ui', argument: '[md, json, html]', help: 'Save the session as a file' },
  { name: 'copy', kind: 'ui', help: 'Copy the last answer' },
  { name: 'diff', kind: 'ui', help: 'Show the changes' },
  { name: 'plan', kind: 'ui', help: 'Show the plan' },
  { name: 'terminal', kind: 'ui', help: 'Open a terminal here' },
  { name: 'attach', kind: 'ui', help: 'Attach files' },
  { name: 'sessions', kind: 'ui', help: 'Go to another session' },
  { name: 'search', kind: 'ui', help: 'Search in all sessions' },
  { name: 'settings', kind: 'ui', help: 'Open settings' },
  { name: 'help', kind: 'ui', help: 'Show all keys' },
]

export type SlashReading =
  | { kind: 'text'; text: string }
  | { kind: 'command'; command: SlashCommand; argument: string }
  | { kind: 'unknown'; name: string; nearest: string[] }

/** A path (a second `/`) is text, `//x` sends `/x`, a name matches whole and without case, an unknown one is not sent. */
export function readSlash(text: string): SlashReading {
  if (!text.startsWith('/')) return { kind: 'text', text }
  if (text.startsWith('//')) return { kind: 'text', text: text.slice(1) }
  const [, name = '', argument = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text)!
  if (name === '' || name.includes('/')) return { kind: 'text', text }
  const command = slashCommands.find((one) => one.name === name.toLowerCase())
  if (command) return { kind: 'command', command, argument: argument.trim() }
  return { kind: 'unknown', name, nearest: nearestNames(name.toLowerCase()) }
}

/** What the person is told of a name nobody knows. */
export function unknownCommand({ name, nearest }: Extract<SlashReading, { kind: 'unknown' }>): string {
  const near = nearest.map((one) => `/${one}`).join(', ')
  return `There is no command /${name}.${near ? ` Did you mean ${near}?` : ''}`
}

function nearestNames(name: string): string[] {
  return slashCommands
    .map((command) => ({ name: command.name, far: distance(name, command.name) }))
    .filter(({ far, name: candidate }) => far <= 2 || candidate.startsWith(name) || name.startsWith(candidate))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name: candidate }) => candidate)
}

/** Insertions, deletions, replacements and swaps of neighbours between two short words. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return 9
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, rows[i - 2]![j - 2]! + 1)
      row.push(best)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
