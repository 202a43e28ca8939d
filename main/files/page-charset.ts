/** Text of a page: as the header says, else as it says itself, else UTF-8, and what is not that is Latin 1. */
export function decodePage(bytes: Uint8Array, charset: string | null): string {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')
  const own = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(head)?.[1]
  for (const label of [charset, own]) {
    try {
      if (label) return new TextDecoder(label).decode(bytes)
    } catch {
      // A name nobody knows says nothing.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
