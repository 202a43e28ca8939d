import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LatheError } from '../../preload/contract/errors.ts'
import { runCommand } from '../exec/command.ts'
import { AgentFiles, parseAgent } from './agent-files.ts'
import { joinPrompt, systemPrompt } from './system-prompt.ts'

let root: string
let home: string
let workspace: string
let trusted = true
const tools = ['read_file', 'grep', 'shell']

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-agents-')))
  home = join(root, 'data')
  workspace = join(root, 'app')
  trusted = true
  await mkdir(workspace)
})
afterEach(() => rm(root, { recursive: true }))

const files = () => new AgentFiles({ home, isTrusted: async () => trusted, toolNames: () => tools })

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
const own = (name: string) => join(home, 'agents', `${name}.md`)
const local = (name: string) => join(workspace, '.lathe/agents', `${name}.md`)
const plain = (description: string, more = '') => `---\ndescription: ${description}\n${more}---\n\nDo it well.\n`
const refusal = (text: string) =>
  parseAgent(text, tools).then(
    () => 'none',
    (error: LatheError) => `${error.code}: ${error.message}`,
  )

test('S-8 an agent is its front matter and the text below it, from a file with any line ends', async () => {
  const text =
    '\uFEFF---\r\ndescription: "Reviews: carefully"\r\nmodel: lab/large\r\neffort: high\r\nmode: read-only\r\ntools:\r\n  - read_file\r\n  - grep\r\n---\r\n\r\nName each mistake.\r\n\r\n---\r\nNot front matter.\r\n'
  await put(own('review'), text)
  expect(await files().read('review', workspace)).toEqual({
    name: 'review',
    origin: 'person',
    place: null,
    description: 'Reviews: carefully',
    model: 'lab/large',
    effort: 'high',
    mode: 'read-only',
    tools: ['read_file', 'grep'],
    instructions: 'Name each mistake.\n\n---\nNot front matter.',
  })
})

test('T-160 what is wrong with an agent is said by its name, and where it stands in the file', async () => {
  for (const [text, why] of [
    ['Just text', /does not begin with front matter/],
    ['---\ndescription: x\n', /does not begin with front matter/],
    ['---\nmodel: lab/x\n---\n', /^config\.invalid: description is missing\.$/],
    ['---\n- a\n- b\n---\n', /^config\.invalid: Its front matter names description/],
    [
      '---\ndescription: x\nmodle: lab/x\n---\n',
      /modle is not known; there are description, model, effort, mode, tools/,
    ],
    ['---\ndescription: x\nmode: root\n---\n', /^config\.invalid: mode is not one of /],
    ['---\ndescription: x\ntools: read_file\n---\n', /^config\.invalid: tools is not a list\.$/],
    ['---\ndescription: x\ndescription: y\n---\n', /Line 3: Map keys must be unique/],
    ['---\ndescription: "x\n---\n', /Line \d: /],
    ['---\nmode: a\nmode: b\ntools: []\ntools: []\n---\n', /Line 3: Map keys .* Line 5: Map keys/],
    [`---\ndescription: ${'x'.repeat(201)}\n---\n`, /^config\.invalid: description is longer than 200 characters\.$/],
  ] as const)
    expect([text, await refusal(text)]).toEqual([text, expect.stringMatching(why)])
  await put(own('broken'), '---\nmode: root\n---\n')
  await put(own('tools'), plain('x', 'tools: [read_file, rm_rf]\n'))
  await put(own('many:'), plain('x', 'model: ""\ntools: [rm_rf, rm_rf, grep]\na: 1\nb: 1\n'))
  await put(own('huge'), plain('x') + 'x'.repeat(40_000))
  await put(own('built-in'), plain('x'))
  await writeFile(own('bytes'), Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]))
  for (const [name, why] of [
    ['broken', /^The agent "broken" cannot be used\. description is missing\. mode is not one of [^.]*\.$/],
    [
      'many:',
      /^The agent "many:" .* Its name may .* at most\. model is empty\. tools names "rm_rf", and .* tool\. a, b are not known/,
    ],
    ['tools', 'The agent "tools" cannot be used. tools names "rm_rf", and there is no such tool.'],
    ['huge', 'The agent "huge" cannot be used. It is larger than 32 KiB.'],
    ['built-in', /that of the built-in agent/],
    ['bytes', /not UTF-8/],
    ['nobody', 'There is no agent "nobody" here.'],
  ] as const)
    await expect(files().read(name, workspace)).rejects.toMatchObject({
      code: 'config.invalid',
      message: typeof why === 'string' ? why : expect.stringMatching(why),
      data: { agent: name },
    })
  const listed = await files().list(workspace)
  expect(listed.map(({ name, problem }) => [name, problem !== null])).toEqual(
    ['broken', 'built-in', 'bytes', 'huge', 'many:', 'tools'].map((name) => [name, true]),
  )
})

test('Z-213 YAML of an agent has no tags of its own, and few aliases', async () => {
  expect(await refusal('---\ndescription: !!js/function "x"\n---\n')).toMatch(/Unresolved tag/)
  expect(await refusal('---\ndescription: !secret x\n---\n')).toMatch(/Unresolved tag/)
  const levels = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`)
  const bomb = `---\na0: &a0 [x, x]\n${levels.join('\n')}\ndescription: x\n---\n`
  expect(await refusal(bomb)).toMatch(/alias/)
  // Keys that plain objects have are keys like others.
  expect(await refusal('---\ndescription: x\n__proto__: {mode: all}\n---\n')).toMatch(/config\.invalid/)
})

test('whatever a file holds, it is an agent or config.invalid', async () => {
  const yaml = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.stringMatching(/^[a-z:\-[\]{}&*!|> \n"',#%@`]{0,80}$/),
  )
  await fc.assert(
    fc.asyncProperty(yaml, fc.string(), async (front, body) => {
      const read = await parseAgent(`---\n${front}\n---\n${body}`, tools).catch((error: unknown) => error)
      if (read instanceof Error) expect(read).toMatchObject({ code: 'config.invalid' })
      else expect(read).toMatchObject({ fields: { description: expect.any(String) } })
    }),
  )
})

test('of one name the agent of the folder is meant, and one that is broken there is not replaced by the other', async () => {
  await put(own('review'), plain('Mine'))
  await put(own('write'), plain('Mine too'))
  await put(local('review'), plain('Of the folder'))
  expect((await files().list(workspace)).map(({ name, description, place }) => [name, description, place])).toEqual([
    ['review', 'Of the folder', '.lathe/agents/review.md'],
    ['write', 'Mine too', null],
  ])
  expect((await files().list(null)).map(({ description }) => description)).toEqual(['Mine', 'Mine too'])
  await put(local('review'), 'broken')
  await expect(files().read('review', workspace)).rejects.toMatchObject({ code: 'config.invalid' })
  await rm(local('review'))
  await symlink('not-there.md', local('review'))
  const why = 'It is a link to a file that is not there.'
  await expect(files().read('review', workspace)).rejects.toMatchObject({
    code: 'config.invalid',
    message: `The agent "review" cannot be used. ${why}`,
  })
  expect((await files().list(workspace)).find(({ name }) => name === 'review')).toMatchObject({
    place: '.lathe/agents/review.md',
    problem: why,
  })
})

test('a folder whose .lathe/agents is no folder has none', async () => {
  await put(own('review'), plain('Mine'))
  await put(join(workspace, '.lathe/agents'), 'a file')
  expect(await files().read('review', workspace)).toMatchObject({ origin: 'person' })
})

test('Z-4 a folder that is not trusted offers no agents', async () => {
  await put(local('review'), plain('Of the folder'))
  trusted = false
  expect(await files().list(workspace)).toEqual([])
  await expect(files().read('review', workspace)).rejects.toMatchObject({ code: 'config.invalid' })
})

test('no agent is read through a link that leaves its folder, from a file of secrets or from a pipe', async () => {
  await put(join(root, 'outside.md'), plain('Outside'))
  await put(join(workspace, '.env'), plain('SECRET'))
  await put(local('kept'), plain('Kept'))
  await symlink(join(root, 'outside.md'), local('out'))
  await symlink('../../.env', local('secret'))
  await symlink('kept.md', local('linked'))
  await put(own('mine'), plain('Mine'))
  await symlink(join(root, 'outside.md'), own('out-of-mine'))
  if (process.platform !== 'win32') {
    const env = { PATH: process.env['PATH']! }
    const args = [local('pipe')]
    await runCommand({ file: 'mkfifo', args, cwd: workspace, env, timeoutMs: 30_000, maxBytes: 1_000 })
  }
  const listed = await files().list(workspace)
  expect(listed.filter(({ problem }) => problem === null).map(({ name }) => name)).toEqual(['kept', 'linked', 'mine'])
  expect(JSON.stringify(listed)).not.toMatch(/Outside|SECRET/)
})

test('a name that is a path is no agent', async () => {
  await put(join(root, 'outside.md'), plain('Outside'))
  for (const name of ['../../outside', 'a/b', '.', '..', 'a\0b', ''])
    await expect(files().read(name, workspace)).rejects.toMatchObject({ code: 'config.invalid' })
})

test('C-21 the text of an agent stands apart in the prompt, and says whose it is', async () => {
  await put(own('mine'), plain('Mine'))
  await put(local('theirs'), plain('Theirs'))
  const prompt = async (name: string) => {
    const agent = await files().read(name, workspace)
    return joinPrompt(await systemPrompt({ workspace, tools: [], shell: 'bash', agent }))
  }
  expect(await prompt('mine')).toContain('# Instructions of the agent "mine"\n\nDo it well.')
  expect(await prompt('theirs')).toContain(
    "# Instructions of this workspace's agent (.lathe/agents/theirs.md)\n\nDo it well.",
  )
  expect(joinPrompt(await systemPrompt({ workspace, tools: [], shell: 'bash' }))).not.toContain('Do it well')
})
