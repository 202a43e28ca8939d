import { patchText, type Differ } from '../files/diff.ts'

const previewCharsMax = 64_000

/** The diff an approval card shows of a change of one file; null means the file is not there, or may not be looked at yet. */
export async function changePreview(
  differ: Differ,
  path: string,
  before: Uint8Array | null,
  after: Uint8Array | null,
  signal: AbortSignal,
): Promise<string> {
  const diff = await differ.diff(before, after, { signal })
  if (!diff.hunks) return `${path}\n${diff.note ?? ''}`
  const patch = patchText(path, diff.hunks, { before: before !== null, after: after !== null })
  return patch.length <= previewCharsMax
    ? patch
    : `${patch.slice(0, previewCharsMax)}\n... ${patch.length - previewCharsMax} more characters`
}
