import { z } from 'zod'
import { findFiles } from '../files/file-search.ts'
import type { SearchProgram } from '../files/search-program.ts'
import { clamped } from './clamped.ts'
import { JudgedPaths, readEffect, titled, whereItLeads } from './file-effects.ts'
import type { Tool } from './tool.ts'

export type FindFilesDeps = { program: SearchProgram }

const input = z.object({
  path: z.string().default('.').describe('Folder to look in'),
  query: z.string().optional().describe('Words that must all occur in the path, in any case'),
  glob: z.string().optional().describe('Glob on the path below the folder or on the name, as *.ts or src/**/*.test.ts'),
  type: z.string().optional().describe('File type by name, as ts, py, md'),
  include_dirs: z.boolean().default(false).describe('List folders too'),
  no_ignore: z.boolean().default(false).describe('Also what .gitignore leaves out, and folders like node_modules'),
  sort: z.enum(['path', 'modified']).default('path').describe('By path, or newest first'),
  head_limit: clamped(0, 1_000, 200).describe('How many; 0 is all'),
  offset: clamped(0, 100_000, 0).describe('How many to skip'),
})
type Input = z.infer<typeof input>

const replyCharsMax = 32_000
const footChars = 300

/** Files by name (F-801 to F-807). */
export function createFindFilesTool({ program }: FindFilesDeps): Tool<Input> {
  const paths = new JudgedPaths(program.paths)
  return {
    name: 'find_files',
    description:
      'Lists files below a folder by words in their path, glob or type. What .gitignore leaves out is not listed. Use it instead of find or ls -R.',
    input,
    concurrent: true,
    reproducible: true,
    timeLimitMs: null,
    resultCap: replyCharsMax,
    title: ({ query, glob, path }) =>
      titled('Find', [glob ?? query ?? 'files', path === '.' ? '' : `in ${path}`].join(' ').trim()),

    async plan({ path }, context) {
      const root = await paths.judge(context, path)
      return {
        effects: [readEffect(root)],
        preview: { title: titled('Find files in', root.shown), detail: whereItLeads(root), detailKind: 'path' },
      }
    },

    async run(input, context) {
      const deadline = performance.now() + 10_000
      const root = await paths.use(context, input.path)
      const found = await findFiles(
        program,
        {
          root,
          query: input.query,
          glob: input.glob,
          type: input.type,
          includeDirs: input.include_dirs,
          noIgnore: input.no_ignore,
          sort: input.sort,
          limit: input.head_limit,
          offset: input.offset,
        },
        context.signal,
        deadline,
      )
      const shown = fitting(found.entries, replyCharsMax - footChars)
      const next = shown.length < found.entries.length ? input.offset + shown.length : found.nextOffset
      const notes = [
        next === null ? '' : `more; continue at offset ${next}`,
        found.incomplete ? 'incomplete: time ran out, narrow path, query, glob or type' : '',
        found.unreadable > 0 ? `${found.unreadable} unreadable skipped` : '',
      ].filter((note) => note !== '')
      const text =
        shown.length === 0 && notes.length === 0
          ? `No files in ${root.shown} fit.`
          : [...shown, ...(notes.length > 0 ? [`[${notes.join('; ')}]`] : [])].join('\n')
      return {
        text,
        isError: false,
        summary: `${shown.length}${next === null ? '' : '+'} found`,
        view: { path: root.shown },
      }
    },
  }
}

function fitting(entries: readonly string[], charsMax: number): readonly string[] {
  let chars = 0
  const end = entries.findIndex((entry) => (chars += entry.length + 1) > charsMax)
  return end === -1 ? entries : entries.slice(0, end)
}
