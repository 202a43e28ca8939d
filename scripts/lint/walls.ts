/**
 * The walls between rooms, as a lint rule, so that a breach is red in the editor as well as in the test command.
 * The law and its reasons are in docs/adr/0002-walls.md.
 */
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

/** Rooms of main/ from the lowest up; those on one line may use each other. A room never imports from a later line. */
const order = [
  ['platform'],
  ['storage'],
  ['files', 'exec', 'models'],
  ['tools', 'approvals'],
  ['agent'],
  ['turns'],
  ['sessions'],
  ['automations', 'integrations'],
  ['transport'],
  ['shell', 'cli'],
]
const rank = new Map(order.flatMap((rooms, height) => rooms.map((room) => [room, height])))

/** Packages that only some places may import. Tests are free of these: they use real parts. */
const kept = [
  { packages: /^better-sqlite3$/, places: /^main\/storage\//, name: 'main/storage' },
  { packages: /^(node-pty|(node:)?child_process)$/, places: /^main\/exec\//, name: 'main/exec' },
  { packages: /^(ai|@ai-sdk\/.+|openai|@anthropic-ai\/.+)$/, places: /^main\/models\//, name: 'main/models' },
  { packages: /^(undici|(node:)?https|(node:)?http2)$/, places: /^main\/platform\//, name: 'main/platform/net' },
  {
    packages: /^(node:)?http$/,
    places: /^main\/(platform|transport|integrations)\//,
    name: 'main/platform/net (requests) and main/transport (the host)',
  },
  {
    packages: /^electron$/,
    places: /^(main\/shell\/|preload\/preload\.ts$)/,
    name: 'main/shell and preload/preload.ts',
  },
]

/** Tests, and what only they import: `test-...` beside them. */
const testFile = /(\.test\.tsx?|(^|\/)test-[^/]+\.tsx?)$/

/** What is wrong with file `from` (its path in the repository) importing `specifier`, or nothing. */
export function breach(from: string, specifier: string): string | undefined {
  const test = testFile.test(from)
  const bare = !specifier.startsWith('.')
  const side = from.split('/')[0] ?? ''
  if (bare) {
    if (
      side === 'renderer' &&
      !test &&
      (isBuiltin(specifier) || /^(electron|better-sqlite3|node-pty|ws|undici)$/.test(specifier))
    )
      return `renderer runs in a sandbox and cannot import '${specifier}'`
    if (from.startsWith('preload/contract/') && !test && !/^(zod|@orpc\/contract)$/.test(specifier))
      return `preload/contract may import only zod and @orpc/contract, not '${specifier}'`
    if (test || !/^(main|preload)$/.test(side)) return undefined
    const wall = kept.find(({ packages }) => packages.test(specifier))
    return wall && !wall.places.test(from) ? `'${specifier}' may be imported only in ${wall.name}` : undefined
  }
  const to = join(dirname(from), specifier).replaceAll('\\', '/')
  const target = to.split('/')[0] ?? ''
  if (side === 'renderer' && target === 'main') return 'renderer imports nothing from main'
  if (side === 'main' && target === 'renderer') return 'main imports nothing from renderer'
  if (/^(main|renderer)$/.test(side) && target === 'preload' && !to.startsWith('preload/contract/'))
    return 'of preload, only preload/contract may be imported'
  if (side === 'preload' && target !== 'preload') return `preload imports nothing from ${target}`
  if (from.startsWith('preload/contract/') && !to.startsWith('preload/contract/'))
    return 'preload/contract imports nothing outside itself'
  if (/^(main|preload|renderer)$/.test(side) && !test && /^(e2e|bench|scripts)$/.test(target))
    return `the product imports nothing from ${target}`
  if (/^(main|preload|renderer)$/.test(side) && !test && testFile.test(to)) return `${to} is for tests only`
  if (side !== 'main' || target !== 'main') return undefined
  const [, room] = from.split('/')
  const [, other] = to.split('/')
  if (!room || !other || from.split('/').length < 3) return undefined
  if (to.split('/').length < 3) return `room ${room} imports nothing from the front doors (${to})`
  if (room !== other && !rank.has(other))
    return `main/${other} is no room of the house; add it to the order in scripts/lint/walls.ts`
  if (room !== other && !rank.has(room))
    return `main/${room} is no room of the house; add it to the order in scripts/lint/walls.ts`
  return (rank.get(other) ?? 0) > (rank.get(room) ?? 0)
    ? `room ${room} is lower than ${other} and may not import it`
    : undefined
}

type Node = { value?: unknown; literal?: Node }
type Context = { cwd: string; filename: string; report: (finding: { node: Node; message: string }) => void }

const walls = {
  create({ cwd, filename, report }: Context) {
    const from = relative(cwd, resolve(cwd, filename)).replaceAll('\\', '/')
    const judge = (node: Node | null | undefined) => {
      if (typeof node?.value !== 'string') return
      const message = breach(from, node.value)
      if (message) report({ node, message })
    }
    type Importing = { source?: Node | null; argument?: Node }
    return {
      ImportDeclaration: ({ source }: Importing) => judge(source),
      ExportNamedDeclaration: ({ source }: Importing) => judge(source),
      ExportAllDeclaration: ({ source }: Importing) => judge(source),
      ImportExpression: ({ source }: Importing) => judge(source),
      TSImportType: ({ source, argument }: Importing) => judge(source ?? argument?.literal ?? argument),
    }
  },
}

// The linter takes a plugin as a module's default export.
export default { meta: { name: 'house' }, rules: { walls } }
