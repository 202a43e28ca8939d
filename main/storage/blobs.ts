/** Content-addressed store in the data folder; bodies are referenced by the SHA-256 of their bytes, 64 hex digits. */
export interface Blobs {
  /** Durable before it resolves; the same bytes twice are one file. Of pieces only the one at hand is in memory. */
  put(bytes: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<string>
  /** Throws `file.not_found` where the blob is gone. */
  get(hash: string): Promise<Uint8Array>
}
