import { z } from 'zod'
import type { SearchProgram } from '../files/search-program.ts'
import { listFolder, type TreeEntry } from '../files/tree.ts'
import { clamped } from './clamped.ts'
import { JudgedPaths, readEffect, titled, whereItLeads } from './file-effects.ts'
import type { Tool } from './tool.ts'

const input = z.object({
  path: z.string().default('.').describe('Folder'),
  limit: clamped(1, 1_000, 200).describe('How many entries'),
  offset: clamped(0, 100_000, 0).describe('How many to skip'),
})
type Input = z.infer<typeof input>

/** One folder's entries (F-311). */
export function createListDirTool({ program }: { program: SearchProgram }): Tool<Input> {
  const paths = new JudgedPaths(program.paths)
  return {
    name: 'list_dir',
    description:
      'Lists one folder: folders first, files with their size, links with their target; what .gitignore leaves out is marked.',
    input,
    concurrent: true,
    reproducible: true,
    resultCap: 32_000,
    title: ({ path }) => titled('List', path),

    async plan({ path }, context) {
      const folder = await paths.judge(context, path)
      return {
        effects: [readEffect(folder)],
        preview: { title: titled('List', folder.shown), detail: whereItLeads(folder), detailKind: 'path' },
      }
    },

    async run({ path, limit, offset }, context) {
      const folder = await paths.use(context, path)
      const { entries } = await listFolder(folder)
      const shown = entries.slice(offset, offset + limit)
      const next = offset + shown.length
      const foot = `[${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}${next < entries.length ? `; continue at offset ${next}` : ''}]`
      return {
        text: [...shown.map(lineOf), foot].join('\n'),
        isError: false,
        summary: `${entries.length} entries`,
        view: { path: folder.shown },
      }
    },
  }
}

function lineOf({ name, kind, bytes, target, ignored }: TreeEntry): string {
  const what = {
    folder: '/',
    link: ` -> ${target ?? '?'}`,
    file: bytes === null ? '' : `  ${bytes.toLocaleString('en')} bytes`,
    other: '  (device, pipe or socket)',
  }[kind]
  return `${name}${what}${ignored ? '  (ignored)' : ''}`
}
