/**
 * A shell command, taken apart by a real grammar into its simple commands and redirects (Z-56, Z-57). The grammar is not
 * believed where it can be checked: every word is read again, and nothing but blanks may stand between the parts. Node
 * types that are not listed here are not understood, and then nothing is (Z-58).
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import type { Node, Parser } from 'web-tree-sitter'
import { type Hole, Opaque, readWord, type Word } from './shell-words.ts'

export type SimpleCommand = {
  kind: 'command'
  /** Empty for assignments alone. */
  words: Word[]
  text: string
  /** Names set for this command, or by it. */
  assigned: string[]
  /** Its input is another command, a file or a here-document. */
  fed: boolean
  /** It may run more than once, or at another time than it stands. */
  repeated: boolean
}

export type Redirect = { kind: 'redirect'; access: 'read' | 'write' | 'append' | 'both'; target: Word; text: string }

export type Part = SimpleCommand | Redirect

/** A function that starts itself twice at once (Z-70). */
export class ForkBomb extends Error {}

const commandBytesMax = 16 * 1024
const simpleCommandsMax = 200
/** Ordinary commands take a tenth of a millisecond; hostile ones of 16 KiB were seen to take a hundred. */
const parseMs = 1_000

let loading: Promise<Parser> | null = null

/** The grammar is 1.4 MB of wasm and is loaded for the first command that is judged, not at start. */
function loadParser(): Promise<Parser> {
  loading ??= load()
  loading.catch(() => (loading = null))
  return loading
}

async function load(): Promise<Parser> {
  // Its largest function would cost half a gigabyte and a second of a processor to optimize, for a tenth of a millisecond.
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
  const { Language, Parser } = await import('web-tree-sitter')
  const { resolve } = createRequire(import.meta.url)
  await Parser.init({ locateFile: () => resolve('web-tree-sitter/web-tree-sitter.wasm') })
  const parser = new Parser()
  parser.setLanguage(await Language.load(await readFile(resolve('tree-sitter-bash/tree-sitter-bash.wasm'))))
  return parser
}

/**
 * The parts of a bash or sh command in the order they stand. Throws `Opaque` for what is not understood for sure; `home`
 * is what `~` and `$HOME` stand for.
 */
export async function parseShell(source: string, home: string): Promise<Part[]> {
  if (Buffer.byteLength(source) > commandBytesMax) throw new Opaque('it is longer than 16 KiB')
  // The grammar and the shell disagree about control characters and blanks outside ASCII.
  if (/[\x00-\x08\x0b-\x1f\x7f-\x9f]|[^\P{White_Space}\t\n ]/u.test(source))
    throw new Opaque('it holds control characters or unusual blanks')
  const parser = await loadParser()
  const began = performance.now()
  const tree = parser.parse(source, null, { progressCallback: () => performance.now() - began > parseMs })
  if (tree === null) {
    parser.reset()
    throw new Opaque('it takes too long to parse')
  }
  try {
    if (tree.rootNode.hasError) throw new Opaque('it is not valid for the shell')
    const reader = new TreeReader(source, home)
    reader.read(tree.rootNode)
    return reader.parts
  } finally {
    tree.delete()
  }
}

type Place = { fed: boolean; repeated: boolean }

const substitutions = new Set(['command_substitution', 'process_substitution'])
const holes = new Set([
  ...substitutions,
  'simple_expansion',
  'expansion',
  'arithmetic_expansion',
  'ansi_c_string',
  'translated_string',
])
const wordParts = new Set([
  ...holes,
  'word',
  'number',
  'string',
  'string_content',
  'raw_string',
  'concatenation',
  'brace_expression',
  'variable_name',
  'special_variable_name',
  'extglob_pattern',
  'regex',
])
const branches = new Set([
  'program',
  'list',
  'compound_statement',
  'if_statement',
  'elif_clause',
  'else_clause',
  'do_group',
  'negated_command',
  'subshell',
  'variable_assignments',
])
const loops = new Set(['while_statement', 'for_statement'])

/** Forms of `${...}` that neither assign, nor evaluate arithmetic, nor expand what a variable holds once more. */
const plainExpansion = /^\$\{#?([A-Za-z_]\w*|\d+|[@*#?$!-])(:?[-+?]|##?|%%?|\/\/?|\}$)/

const blanks = /^(?:[ \t\n]|\\\n)*$/
/** Between two words a line continuation alone does not separate. */
const wordGap = /^(?:\\\n)*[ \t](?:[ \t]|\\\n)*$/

class TreeReader {
  readonly parts: Part[] = []
  #commands = 0
  readonly #source: string
  readonly #home: string

  constructor(source: string, home: string) {
    this.#source = source
    this.#home = home
  }

  read(root: Node): void {
    if (!blanks.test(this.#source.slice(0, root.startIndex)) || !blanks.test(this.#source.slice(root.endIndex)))
      throw new Opaque('a part of it was not understood')
    this.#statement(root, { fed: false, repeated: false })
  }

  #statement(node: Node, place: Place): void {
    if (node.type === 'comment') return this.#comment(node)
    if (node.type === 'command') return this.#command(node, place)
    if (node.type === 'redirected_statement') return this.#redirected(node, place)
    if (node.type === 'pipeline') return this.#pipeline(node, place)
    if (node.type === 'variable_assignment') return this.#assignment(node, place)
    if (node.type === 'test_command') return this.#test(node, place)
    if (node.type === 'declaration_command' || node.type === 'unset_command') return this.#declaration(node, place)
    if (node.type === 'function_definition') return this.#function(node, place)
    if (node.type === 'case_statement' || node.type === 'case_item') return this.#wordsAndStatements(node, place)
    if (loops.has(node.type)) return this.#loop(node, place)
    // `((...))` comes as a compound statement too.
    if (!branches.has(node.type) || node.child(0)?.type === '((') throw new Opaque(`"${node.type}" is not understood`)
    this.#checkGaps(node)
    for (const child of node.namedChildren) this.#statement(child, place)
  }

  #pipeline(node: Node, place: Place): void {
    this.#checkGaps(node)
    // In `cat <<END | sh` the part behind the bar is a pipeline without a first command.
    let fed = place.fed || node.child(0)?.isNamed === false
    for (const child of node.namedChildren) {
      this.#statement(child, { ...place, fed })
      fed = true
    }
  }

  #loop(node: Node, place: Place): void {
    const inside = { ...place, repeated: true }
    const variable = node.childForFieldName('variable')
    // A loop sets its variable: one that means something to programs is as good as an assignment.
    if (variable && !/^[a-z][a-z0-9]{0,15}$/.test(variable.text))
      this.#add({ words: [], node: variable, assigned: [variable.text] }, inside)
    this.#wordsAndStatements(node, inside)
  }

  #wordsAndStatements(node: Node, place: Place): void {
    this.#checkGaps(node)
    for (const child of node.namedChildren) {
      if (child.type === 'variable_name') continue
      if (wordParts.has(child.type)) this.#word(child, place)
      else this.#statement(child, place)
    }
  }

  #function(node: Node, place: Place): void {
    this.#checkGaps(node)
    const name = node.childForFieldName('name')?.text ?? ''
    for (const child of node.namedChildren) {
      if (child.type !== 'word') this.#statement(child, { ...place, repeated: true })
    }
    const calls = node.descendantsOfType('command_name').filter((command) => command?.text === name)
    if (calls.length > 1 && /(?<![|&>])[|&](?![|&>])/.test(node.text)) throw new ForkBomb(name)
  }

  #redirected(node: Node, place: Place): void {
    this.#checkGaps(node)
    const redirects = node.childrenForFieldName('redirect')
    const fed = place.fed || redirects.some((redirect) => isInput(redirect))
    for (const child of node.namedChildren) {
      if (redirects.some((redirect) => redirect.equals(child))) this.#redirect(child, place)
      else this.#statement(child, { ...place, fed })
    }
  }

  #redirect(node: Node, place: Place): void {
    // In `a2>x` and `{a}>x` the grammar and the shell do not agree which part is the descriptor.
    const before = this.#source[node.startIndex - 1] ?? ' '
    const descriptor = node.namedChildren.some((child) => child.type === 'file_descriptor')
    if (/[\d}]/.test(before) || (descriptor && !/[\s;&|()]/.test(before)))
      throw new Opaque('a redirect was not understood')
    if (node.type === 'heredoc_redirect') return this.#heredoc(node, place)
    if (node.type === 'herestring_redirect') {
      for (const child of node.namedChildren) this.#word(child, place)
      return
    }
    if (node.type !== 'file_redirect') throw new Opaque(`"${node.type}" is not understood`)
    // `cmd > out arg`: the grammar takes `arg` for a second target, the shell for an argument.
    const targets = node.childrenForFieldName('destination')
    const operator = node.children.find((child) => !child.isNamed)?.type ?? ''
    if (targets.length === 0 && /^[<>]&-$/.test(operator)) return
    if (
      targets.length !== 1 ||
      node.namedChildren.some((child) => child.type !== 'file_descriptor' && !child.equals(targets[0]!))
    )
      throw new Opaque('a redirect was not understood')
    const target = this.#word(targets[0]!, place)
    if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(target.literal ?? '')) return
    const access = {
      '<': 'read',
      '<&': 'read',
      '>': 'write',
      '>|': 'write',
      '>&': 'write',
      '&>': 'write',
      '>>': 'append',
      '&>>': 'append',
      '<>': 'both',
    } as const
    if (!(operator in access)) throw new Opaque('a redirect was not understood')
    this.parts.push({ kind: 'redirect', access: access[operator as keyof typeof access], target, text: node.text })
  }

  /**
   * Where a here-document ends decides what is run, so it is found out again: its lines are those up to the first that is
   * the delimiter. An unquoted body runs its substitutions.
   */
  #heredoc(node: Node, place: Place): void {
    const [start, body, end] = ['heredoc_start', 'heredoc_body', 'heredoc_end'].map((type) =>
      node.namedChildren.find((child) => child.type === type),
    )
    if (!start || !body || !end) throw new Opaque('a here-document was not understood')
    const delimiter = readWord(start.text, [], this.#home).literal
    const stripped = node.children.some((child) => child.type === '<<-')
    const from = this.#source.indexOf('\n', start.endIndex) + 1
    const lines = this.#source
      .slice(from)
      .split('\n')
      .map((line) => (stripped ? line.replace(/^\t+/, '') : line))
    const endLine = this.#source.slice(from, end.startIndex).split('\n').length - 1
    if (delimiter === null || body.startIndex !== from || lines.indexOf(delimiter) !== endLine)
      throw new Opaque('a here-document was not understood')

    if (!/['"\\]/.test(start.text)) {
      const inner = this.#holesOf(body, place)
      const bare = blank(
        body.text,
        inner.map((hole) => ({ start: hole.startIndex - body.startIndex, end: hole.endIndex - body.startIndex })),
      )
      if (/\\\n|`|\$[({[]/.test(bare.replace(/\\[$`\\]/g, ''))) throw new Opaque('a here-document was not understood')
    }
    // What stands behind `<<END` on its line belongs to the line, not to the document.
    for (const child of node.namedChildren) {
      if ([start, body, end].some((known) => known.equals(child)) || child.type === 'file_descriptor') continue
      if (child.type.endsWith('_redirect')) this.#redirect(child, place)
      else if (child.type === 'command' || child.type === 'pipeline' || child.type === 'list')
        this.#statement(child, { ...place, fed: place.fed || child.type === 'pipeline' })
      else throw new Opaque('a here-document was not understood')
    }
  }

  #command(node: Node, place: Place): void {
    const words: Word[] = []
    const assigned: string[] = []
    const redirects: Node[] = []
    let previous: Node | null = null
    for (const child of node.children) {
      const between = previous && !isRedirect(child) && !isRedirect(previous) ? wordGap : blanks
      if (!between.test(this.#source.slice(previous?.endIndex ?? node.startIndex, child.startIndex)))
        throw new Opaque('a word was not understood')
      previous = child
      if (child.type === 'variable_assignment') assigned.push(this.#assigned(child, place))
      else if (isRedirect(child)) redirects.push(child)
      else if (child.type === 'command_name') words.push(this.#word(child.namedChild(0)!, place))
      else words.push(this.#word(child, place))
    }
    for (const redirect of redirects) this.#redirect(redirect, place)
    this.#add({ words, node, assigned }, { ...place, fed: place.fed || redirects.some(isInput) })
  }

  #assignment(node: Node, place: Place): void {
    this.#add({ words: [], node, assigned: [this.#assigned(node, place)] }, place)
  }

  #assigned(node: Node, place: Place): string {
    const name = node.childForFieldName('name')
    const value = node.childForFieldName('value')
    if (name?.type !== 'variable_name' || value?.type === 'array') throw new Opaque('an assignment was not understood')
    if (value) this.#word(value, place)
    return name.text
  }

  /** `[ ... ]` and `[[ ... ]]`. What is compared may be evaluated again, so only plain words are taken for known. */
  #test(node: Node, place: Place): void {
    this.#holesOf(node, place)
    const plain = /^\[\[? (?:[\w./=!<>-]+ )+\]?\]$/.test(node.text)
    const literals = plain ? node.text.split(' ') : [node.child(0)!.text, null]
    this.#add(
      {
        words: literals.map((literal) => ({ raw: literal ?? '', literal, path: null, glob: false })),
        node,
        assigned: [],
      },
      place,
    )
  }

  #declaration(node: Node, place: Place): void {
    this.#holesOf(node, place)
    this.#add({ words: [readWord(node.child(0)!.text, [], this.#home)], node, assigned: [] }, place)
  }

  #add(command: { words: Word[]; node: Node; assigned: string[] }, place: Place): void {
    this.#commands += 1
    if (this.#commands > simpleCommandsMax) throw new Opaque('it holds more than 200 commands')
    this.parts.push({
      kind: 'command',
      words: command.words,
      text: command.node.text,
      assigned: command.assigned,
      fed: place.fed,
      repeated: place.repeated,
    })
  }

  #word(node: Node, place: Place): Word {
    if (!wordParts.has(node.type)) throw new Opaque(`"${node.type}" is not understood`)
    const inner = this.#holesOf(node, place)
    return readWord(
      node.text,
      inner.map((hole): Hole => ({ start: hole.startIndex - node.startIndex, end: hole.endIndex - node.startIndex })),
      this.#home,
    )
  }

  /** The parts that the shell replaces, outermost only. Commands in them are read as any other (Z-57). */
  #holesOf(node: Node, place: Place): Node[] {
    if (!holes.has(node.type)) return node.namedChildren.flatMap((child) => this.#holesOf(child, place))
    const inside = { ...place, fed: false }
    if (substitutions.has(node.type)) {
      if (node.text.startsWith('`') && node.text.slice(1, -1).includes('\\'))
        throw new Opaque('a quoted command was not understood')
      this.#checkGaps(node)
      for (const child of node.namedChildren) {
        if (child.type === 'file_redirect') this.#redirect(child, inside)
        else this.#statement(child, inside)
      }
      return [node]
    }
    const within = node.namedChildren.flatMap((child) => this.#holesOf(child, place))
    // Arithmetic evaluates what its variables hold, which may again be anything.
    if (node.type === 'arithmetic_expansion' && /[A-Za-z_$`]/.test(node.text))
      throw new Opaque('arithmetic on variables is not followed')
    if (node.type === 'expansion') {
      const bare = blank(
        node.text,
        within.map((hole) => ({ start: hole.startIndex - node.startIndex, end: hole.endIndex - node.startIndex })),
      )
      if (!plainExpansion.test(node.text) || /`|\$\(/.test(bare)) throw new Opaque('an expansion is not understood')
    }
    return [node]
  }

  #comment(node: Node): void {
    const before = this.#source[node.startIndex - 1]
    if (node.text.includes('\n') || (before !== undefined && !/[\s;&|()]/.test(before)))
      throw new Opaque('a comment was not understood')
  }

  /** Every character of a statement belongs to one of its parts. */
  #checkGaps(node: Node): void {
    let at = node.startIndex
    for (const child of node.children) {
      if (!blanks.test(this.#source.slice(at, child.startIndex))) throw new Opaque('a part of it was not understood')
      at = Math.max(at, child.endIndex)
    }
    if (!blanks.test(this.#source.slice(at, node.endIndex))) throw new Opaque('a part of it was not understood')
  }
}

function isRedirect(node: Node): boolean {
  return node.type.endsWith('_redirect')
}

function isInput(redirect: Node): boolean {
  return redirect.type !== 'file_redirect' || redirect.children.some((child) => child.type.startsWith('<'))
}

/** The text with the given places made blank, everything else at its place. */
function blank(text: string, places: readonly Hole[]): string {
  let result = text
  for (const { start, end } of places) result = result.slice(0, start) + ' '.repeat(end - start) + result.slice(end)
  return result
}
