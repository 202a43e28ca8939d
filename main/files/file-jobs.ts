/** What a file worker can be asked to do. Inputs and answers are plain data; each job is a pure function of its input. */
import { documentText, type DocumentInput, type DocumentText } from './document-text.ts'
import type { PageInput, PageText } from './page-text.ts'
import { countTextChanges, diffText, type TextDiff } from './text-diff.ts'
import {
  editBytes,
  patchBytes,
  replaceBytes,
  type EditedBytes,
  type EditInput,
  type PatchedBytes,
  type PatchInput,
  type ReplaceInput,
} from './edit-bytes.ts'

export type Jobs = {
  edit: { input: EditInput; answer: EditedBytes }
  patch: { input: PatchInput; answer: PatchedBytes }
  replace: { input: ReplaceInput; answer: Uint8Array }
  document: { input: DocumentInput; answer: DocumentText | null }
  page: { input: PageInput; answer: PageText }
  diff: { input: { before: string; after: string; context: number; milliseconds: number }; answer: TextDiff }
  count: {
    input: { before: Uint8Array | null; after: Uint8Array | null }
    answer: { added: number; removed: number }
  }
}

export type Job<Name extends keyof Jobs = keyof Jobs> = { [N in Name]: { name: N; input: Jobs[N]['input'] } }[Name]

export async function runJob(job: Job): Promise<Jobs[keyof Jobs]['answer']> {
  switch (job.name) {
    case 'edit':
      return editBytes(job.input)
    case 'patch':
      return patchBytes(job.input)
    case 'replace':
      return replaceBytes(job.input)
    case 'document':
      return documentText(job.input)
    case 'page':
      // The parser loads with the first page, not with every worker and the main process.
      return (await import('./page-text.ts')).pageText(job.input)
    case 'diff':
      return diffText(job.input)
    case 'count':
      return countTextChanges(job.input)
  }
}
