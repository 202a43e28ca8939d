import { afterEach, beforeEach, expect, test } from 'vitest'
import { SearchProgram } from '../../files/search-program.ts'
import { makeWorkspace, type TestWorkspace } from '../../files/test-workspace.ts'
import { fileAnswers, type FileServices } from './file-answers.ts'

const who = { clientId: 'me', kind: 'web', attendance: 'attended' } as const

let workspace: TestWorkspace

beforeEach(async () => {
  workspace = await makeWorkspace()
})
afterEach(() => workspace[Symbol.asyncDispose]())

test('F-1303 F-802 the tree dims what is ignored and leaves out the folder of the history', async () => {
  for (const path of ['.git/HEAD', 'node_modules/x', 'dist/x', 'src/a.ts', '.gitignore'])
    await workspace.put(path, path === '.gitignore' ? 'dist\n' : 'x')
  const { paths, folder } = workspace
  const services: Partial<FileServices> = {
    paths,
    program: new SearchProgram({ paths, env: {} }),
    knowsWorkspace: async (path) => path === folder,
    watch: () => {},
  }
  const { files } = fileAnswers(services as FileServices)
  const listed = await files.list({ workspace: folder, path: '' }, who)
  expect(listed.map(({ name, ignored }) => [name, ignored])).toEqual([
    ['dist', true],
    ['node_modules', true],
    ['src', false],
    ['.gitignore', false],
  ])
})
