/** The licences of everything that ships: `out/licences.txt`, one section a package with its text. */
import { glob, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { root } from './steps.ts'

export type Licensed = { name: string; version: string; licence: string; text: string | null }

/** Packages our sources import, and all that these need: what is bundled, or comes along. */
export async function shippedPackages(): Promise<Licensed[]> {
  const found = new Map<string, Licensed>()
  const visit = async (name: string, from: string): Promise<void> => {
    const folder = await folderOf(name, from)
    if (folder === null || found.has(folder)) return
    const read = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string
      license?: string
      dependencies?: Record<string, string>
      optionalDependencies?: Record<string, string>
    }
    const { version, license = 'not stated', dependencies = {}, optionalDependencies = {} } = read
    found.set(folder, { name, version, licence: license, text: await licenceText(folder) })
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) await visit(next, folder)
  }
  for (const name of await importedPackages()) await visit(name, root)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function importedPackages(): Promise<Set<string>> {
  const names = new Set<string>()
  for await (const path of glob('{main,preload,renderer}/**/*.{ts,tsx,css}', { cwd: root })) {
    if (/\.test\.tsx?$/.test(path)) continue
    const text = await readFile(join(root, path), 'utf8')
    for (const [, name = '', scheme] of text.matchAll(
      /(?:from|import)\s*\(?\s*['"]((?:@[\w.-]+\/)?[\w-][\w.-]*)(:?)[^'"]*['"]/g,
    ))
      if (!scheme && !isBuiltin(name) && name !== 'electron') names.add(name)
  }
  return names
}

/** Where a package is found from a folder, as Node looks for it; null for one that is not installed here. */
async function folderOf(name: string, from: string): Promise<string | null> {
  for (const modules of createRequire(join(from, 'package.json')).resolve.paths(name) ?? []) {
    const folder = join(modules, name)
    if (await readFile(join(folder, 'package.json')).catch(() => null)) return folder
    if (modules === join(root, 'node_modules')) return null
  }
  return null
}

async function licenceText(folder: string): Promise<string | null> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))
  return texts.join('\n').trim() || null
}

/** Writes `out/licences.txt` and answers how many packages it holds. */
export async function writeLicences(): Promise<number> {
  const packages = await shippedPackages()
  const sections = packages.map(
    ({ name, version, licence, text }) =>
      `${name} ${version}\nLicence: ${licence}\n\n${text ?? '(its package carries no text)'}`,
  )
  const path = join(root, 'out/licences.txt')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(
    path,
    `What Lathe is made of, and under which licences.\n\n${sections.join(`\n\n${'='.repeat(80)}\n\n`)}\n`,
  )
  return packages.length
}
