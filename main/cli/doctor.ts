/**
 * `lathe doctor`: looks at the installation and the data folder, and names a fix for each fault (S-132). It changes nothing
 * but what it was told to: with `--fix` what can be mended without losing anything, with `--empty-checkpoints` those go
 * (F-1015).
 */
import { access, chmod, constants, readdir, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorBody, LatheError } from '../../preload/contract/errors.ts'
import { blobsKeptMs, freeDiskMin, freeDiskWarn } from '../../preload/contract/limits.ts'
import { openPty } from '../exec/carrier.ts'
import { runCommand } from '../exec/command.ts'
import { checkpointFolder, checkpointStores, emptyCheckpoints } from '../files/checkpoint-stores.ts'
import { readProvidersConfig } from '../models/config.ts'
import { openConfig } from '../platform/config.ts'
import { acquireHome, lockOwner, readHostFile, removeHostFile } from '../platform/home.ts'
import { listVersion, rebuildList } from '../sessions/list-rebuild.ts'
import { openStorage } from '../storage/open-storage.ts'
import { createSecrets } from '../storage/secrets.ts'
import type { Storage } from '../storage/storage.ts'
import { attach } from '../transport/local-socket.ts'
import { exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

const programMs = 10_000
const indexingMs = 60_000
const wantedVariables = new Set(['PATH', 'HOME', 'SystemRoot', 'USERPROFILE', 'LANG'])

type Finding = {
  status: 'ok' | 'warn' | 'fail'
  message: string
  fix?: string
  /** Mends it without losing anything, and says what was done; null where nothing was. */
  mend?: () => Promise<string | null>
}
type Installation = { home: string; version: string }
type Check = { name: string; look(installation: Installation): Promise<Finding[]> }

const ok = (message: string): Finding[] => [{ status: 'ok', message }]
const warn = (message: string, fix: string, mend?: Finding['mend']): Finding[] => [
  { status: 'warn', message, fix, ...(mend === undefined ? {} : { mend }) },
]
const fail = (message: string, fix: string): Finding[] => [{ status: 'fail', message, fix }]

const checks: Check[] = [
  {
    name: 'version',
    look: async ({ version }) =>
      ok(`Lathe ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}`),
  },
  { name: 'data folder', look: lookAtFolder },
  { name: 'owner', look: lookAtOwner },
  { name: 'configuration', look: lookAtConfiguration },
  { name: 'database', look: lookAtDatabase },
  { name: 'list and search', look: lookAtList },
  { name: 'checkpoints', look: lookAtCheckpoints },
  { name: 'keys', look: lookAtKeys },
  { name: 'ripgrep', look: lookAtRipgrep },
  { name: 'git', look: lookAtGit },
  { name: 'terminals', look: lookAtTerminals },
  { name: 'disk space', look: lookAtDisk },
]

/** Exit 1 where a check failed. Throws `request.invalid` where something is to be changed while Lathe runs. */
export async function doctor(
  installation: Installation,
  output: Output,
  { fix = false, emptyCheckpoints: emptying = false } = {},
): Promise<number> {
  if (fix || emptying) await checkUnused(installation)
  if (emptying) await emptyCheckpoints(checkpointFolder(installation.home))
  let failed = false
  for (const { name, look } of checks) {
    const examine = () =>
      look(installation).catch((error: unknown): Finding[] => {
        const { message, hint } = errorBody(error)
        return fail(message, hint ?? 'See the log in the data folder.')
      })
    const tell = (status: string, message: string, advice?: string): void => {
      if (output.json) output.line({ name, status, message, ...(advice === undefined ? {} : { fix: advice }) })
      else output.print(`${status.padEnd(5)} ${name}: ${message}${advice === undefined ? '' : `\n      ${advice}`}`)
    }
    let findings = await examine()
    const mends = fix ? new Set(findings.flatMap(({ mend }) => mend ?? [])) : new Set<never>()
    for (const mend of mends) {
      const done = await mend().catch((error: unknown) => `Could not be mended: ${errorBody(error).message}`)
      if (done !== null) tell('fixed', done)
    }
    if (mends.size > 0) findings = await examine()
    for (const { status, message, fix: advice, mend } of findings) {
      failed ||= status === 'fail'
      tell(status, message, mend && advice !== undefined ? `${advice} Or: lathe doctor --fix` : advice)
    }
  }
  return failed ? exitCodes.failed : exitCodes.completed
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function lookAtFolder({ home }: Installation): Promise<Finding[]> {
  if (!(await isThere(home))) return ok(`${home}, made with the first use`)
  const folder = await stat(home)
  if (!folder.isDirectory()) return fail(`${home} is no folder.`, 'Move that file away, or set LATHE_HOME to a folder.')
  const writable = await access(home, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) return fail(`${home} cannot be written.`, `Give it to your user, or set LATHE_HOME to another folder.`)
  if (process.platform !== 'win32' && (folder.mode & 0o077) !== 0)
    return warn(`${home} can be read by others.`, `chmod 700 '${home}'`, async () => {
      await chmod(home, 0o700)
      return 'Only your user can read it now.'
    })
  return ok(home)
}

async function lookAtOwner({ home }: Installation): Promise<Finding[]> {
  const host = await readHostFile(home)
  const owner = await lockOwner(home)
  if (!host && owner?.isAlive)
    return warn(
      `Process ${owner.pid} holds the lock and does not say where it listens.`,
      'If it is starting, wait; if it is no Lathe, end it.',
    )
  if (!host) return ok('no Lathe process runs with this data folder')
  const wire = await attach(host, 'deny')
  if (!wire)
    return warn(
      `host.json names process ${host.pid}, which does not listen.`,
      'If that process is no Lathe, remove host.json from the data folder.',
      // A living Lathe holds the lock too.
      owner?.isAlive
        ? undefined
        : async () => {
            await removeHostFile(home, host.instanceId)
            return 'host.json was removed.'
          },
    )
  wire.close(1000, 'done')
  return ok(`process ${host.pid}, version ${host.version}${host.url === undefined ? '' : `, serving ${host.url}`}`)
}

async function lookAtConfiguration({ home }: Installation): Promise<Finding[]> {
  const file = join(home, 'config.json')
  if (!(await isThere(file)))
    return warn(
      'There is no config.json, so only the demo model can answer.',
      `Connect a model in the window, or write ${file}.`,
    )
  const config = await openConfig(file)
  try {
    const { content, problem } = config
    if (problem)
      return fail(
        `${problem.file}, line ${problem.line}, column ${problem.column}: ${problem.message}`,
        'Correct that place; until then the last good configuration is used.',
      )
    const { providers, problems } = readProvidersConfig(content)
    const secrets = createSecrets({ home })
    const findings = problems.map(({ where, problem: what }): Finding => ({
      status: 'warn',
      message: `${where}: ${what}`,
      fix: `Correct it in ${file}.`,
    }))
    for (const { id, apiKeyEnv } of providers.values()) {
      if (apiKeyEnv === undefined || process.env[apiKeyEnv] || (await secrets.get(`provider.${id}`)) !== null) continue
      findings.push({
        status: 'warn',
        message: `${id}: ${apiKeyEnv} is not set and no key is stored.`,
        fix: `Set ${apiKeyEnv}, or enter the key in Settings.`,
      })
    }
    return findings.length > 0 ? findings : ok(`providers ${[...providers.keys()].join(', ')}`)
  } finally {
    config.dispose()
  }
}

async function lookAtDatabase({ home }: Installation): Promise<Finding[]> {
  if (!(await isThere(join(home, 'lathe.db')))) return ok('none yet')
  const aside = (await readdir(home)).filter((name) => name.startsWith('lathe.db-set-aside-'))
  const findings: Finding[] = aside.map((name) => ({
    status: 'warn',
    message: `A damaged database was set aside as ${name}.`,
    fix: 'Keep it for recovery, or remove it once nothing in it is missed.',
  }))
  const storage = await openStorage({ home, readOnly: true })
  try {
    if (storage.condition.kind === 'newer') {
      return [
        ...findings,
        ...fail(
          `It has version ${storage.condition.version}; this Lathe knows ${storage.condition.supported}.`,
          'Use the newer Lathe that wrote it. Here it opens for reading only.',
        ),
      ]
    }
    const health = await storage.health()
    const { version: schema, integrity, databaseBytes, blobBytes, blobsMissing, unreferencedBytes } = health
    if (integrity !== 'ok')
      findings.push(
        ...fail(
          `Its integrity check says: ${integrity}`,
          'Quit Lathe and start it again: it sets the file aside and begins a new one.',
        ),
      )
    if (blobsMissing > 0)
      findings.push(
        ...warn(
          `${blobsMissing} stored bodies are missing.`,
          'Bring them back from a backup of the data folder; sessions show what is missing.',
        ),
      )
    const bodies = `${mebibytes(blobBytes)} of bodies, ${mebibytes(unreferencedBytes)} of them no longer referred to`
    const message = `version ${schema}, ${mebibytes(databaseBytes)} and ${bodies}`
    return [...findings, { status: 'ok', message, mend: () => changeStorage(home, reclaim) }]
  } finally {
    await storage.close()
  }
}

/** What is derived from the sessions, and made anew by itself. */
async function lookAtList({ home }: Installation): Promise<Finding[]> {
  if (!(await isThere(join(home, 'lathe.db')))) return ok('none yet')
  const storage = await openStorage({ home, readOnly: true })
  try {
    const fix = 'Lathe makes it anew by itself while it runs.'
    const mend = () => changeStorage(home, makeAnew)
    const findings: Finding[] = []
    const stored = await storage.value('list.version')
    // None where Lathe only ever ran as a command: what those write is of this version.
    if (stored !== null && stored !== listVersion)
      findings.push(
        ...warn(`The list of sessions has version ${JSON.stringify(stored)}, not ${listVersion}.`, fix, mend),
      )
    const { pending, damaged } = await storage.searchState()
    if (damaged) findings.push(...warn('The search index is damaged.', fix, mend))
    else if (pending > 0) findings.push(...warn(`${pending} entries wait to be indexed for search.`, fix, mend))
    return findings.length > 0 ? findings : ok(`list version ${listVersion}, search up to date`)
  } finally {
    await storage.close()
  }
}

async function lookAtCheckpoints({ home }: Installation): Promise<Finding[]> {
  const stores = await checkpointStores(checkpointFolder(home))
  const size = mebibytes(stores.reduce((sum, { bytes }) => sum + bytes, 0))
  if (stores.length === 0) return ok('none')
  const of = stores.length === 1 ? '1 workspace' : `${stores.length} workspaces`
  return [
    {
      status: 'ok',
      message: `${size} of ${of}`,
      fix: 'lathe doctor --empty-checkpoints removes them; each is made anew with the next turn.',
    },
  ]
}

/** Throws `request.invalid` while a process uses the data folder. */
async function checkUnused({ home }: Installation): Promise<void> {
  const host = await readHostFile(home)
  const wire = host && (await attach(host, 'deny'))
  wire?.close(1000, 'done')
  if (wire)
    throw new LatheError('request.invalid', `Lathe is running (process ${host.pid}) and uses its data folder.`, {
      hint: 'Quit it first.',
    })
}

/** Changes the stored data as the folder's owner. Throws where another process has it. */
async function changeStorage<T>(home: string, change: (storage: Storage) => Promise<T>): Promise<T> {
  const owner = await acquireHome(home)
  if (!owner)
    throw new LatheError('host.unreachable', 'Another process holds the data folder.', { hint: 'Quit it first.' })
  try {
    const storage = await openStorage({ home, owner: owner.instanceId })
    try {
      return await change(storage)
    } finally {
      await storage.close()
    }
  } finally {
    await owner.release()
  }
}

/** The space of what was deleted goes back to the disk (S-173). */
async function reclaim(storage: Storage): Promise<string | null> {
  const { bytes } = await storage.sweepBlobs(Date.now() - blobsKeptMs)
  const freed = bytes + (await storage.vacuum())
  return freed > 0 ? `${mebibytes(freed)} were given back to the disk.` : null
}

/** The list's columns, and what waits to be indexed (S-51, S-99). */
async function makeAnew(storage: Storage): Promise<string> {
  await rebuildList({ storage, log: () => {} })
  for (const end = Date.now() + indexingMs; Date.now() < end; await delay(100)) {
    const { pending, damaged } = await storage.searchState()
    if (pending === 0 && !damaged) return 'The list and the search index were made anew.'
    if (damaged) await storage.search('lathe', 1)
  }
  return 'The list was made anew; the search index follows while Lathe runs.'
}

async function lookAtKeys({ home }: Installation): Promise<Finding[]> {
  const secrets = createSecrets({ home })
  const names = await secrets.list()
  if (names.length === 0) return ok('none stored')
  return warn(
    `${names.length} stored in secrets.json, readable by your user alone.`,
    'The desktop app keeps them in the keychain; a variable named by apiKeyEnv needs no storing.',
  )
}

async function lookAtRipgrep(): Promise<Finding[]> {
  const { rgPath } = await import('@vscode/ripgrep')
  const answer = await versionLine(rgPath)
  return answer === null ? fail(`${rgPath} does not run.`, 'Run `npm ci` again, or reinstall Lathe.') : ok(answer)
}

async function lookAtGit(): Promise<Finding[]> {
  const answer = await versionLine('git')
  return answer
    ? ok(answer)
    : warn('git was not found.', 'Install git: without it there are no branches, and diffs are slower.')
}

async function versionLine(file: string): Promise<string | null> {
  const answer = await runCommand({
    file,
    args: ['--version'],
    cwd: tmpdir(),
    env: environment(),
    timeoutMs: programMs,
    maxBytes: 4_096,
  }).catch(() => null)
  return answer?.code === 0 ? answer.stdout.toString('utf8').split('\n')[0]!.trim() : null
}

async function lookAtTerminals(): Promise<Finding[]> {
  const { file, args } =
    process.platform === 'win32'
      ? { file: 'cmd.exe', args: ['/c', 'exit 0'] }
      : { file: '/bin/sh', args: ['-c', 'exit 0'] }
  const exit = Promise.withResolvers<number | null>()
  try {
    const pty = await openPty(
      { file, args, cwd: tmpdir(), env: environment() },
      { cols: 80, rows: 24 },
      { data: () => {}, exit: exit.resolve, closed: () => {} },
    )
    const code = await exit.promise
    pty.destroy()
    if (code === 0) return ok('a terminal could be opened')
  } catch {
    // Said below.
  }
  return fail('No terminal could be opened.', 'Run `npm ci` again, or reinstall Lathe: node-pty does not work here.')
}

async function lookAtDisk({ home }: Installation): Promise<Finding[]> {
  const { bavail, bsize } = await statfs((await isThere(home)) ? home : tmpdir())
  const free = bavail * bsize
  if (free < freeDiskMin)
    return fail(`${mebibytes(free)} free; no turn starts below ${mebibytes(freeDiskMin)}.`, 'Make room on this disk.')
  if (free < freeDiskWarn) return warn(`${mebibytes(free)} free.`, 'Make room on this disk.')
  return ok(`${mebibytes(free)} free`)
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => wantedVariables.has(entry[0])),
  )
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MiB`
}
