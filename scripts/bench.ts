/**
 * `npm run bench [NAME ...]`: runs the benchmarks of bench/, each in a process of its own, one at a time. Each prints a
 * table for people and, as its last line, one JSON object; the objects are kept in bench/results/.
 */
import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildParts, isStale } from './build.ts'
import { root } from './steps.ts'

const limitMs = 20 * 60_000
const results = join(root, 'bench/results')

async function output(script: string): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['--expose-gc', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: limitMs,
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
      process.stdout.write(part)
    })
    child.once('error', fail)
    child.once('close', (code) => (code === 0 ? done(text) : fail(new Error(`${script} ended with ${code}`))))
  })
}

const asked = process.argv.slice(2)
const names = (await readdir(join(root, 'bench')))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
  .filter((name) => asked.length === 0 || asked.includes(name))
if (names.length === 0) throw new Error(`There is no benchmark named ${asked.join(', ')}.`)
if (await isStale()) await buildParts()
await mkdir(results, { recursive: true })
for (const name of names) {
  console.log(`\n## ${name}`)
  const text = await output(join(root, 'bench', `${name}.bench.ts`))
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(JSON.parse(last), null, 2)}\n`)
}
