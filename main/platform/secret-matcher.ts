/**
 * What stands at one place of a text: nothing, a secret of `length` units shown as `shown`, or `'open'` where more input
 * is needed to tell. `swallow` says which units after it belong to it too, however many come.
 */
export type Found = { length: number; shown: string; swallow?: ((code: number) => boolean) | undefined } | 'open' | null

export type Matcher = {
  /** 1 for each pair of low bytes of two units that a secret may begin with: the quick test of every place. */
  readonly pairs: Uint8Array
  /** `before` is the unit before `at`, -1 at the very beginning; `ended` says that no input follows. */
  at(text: string, at: number, before: number, ended: boolean): Found
}

export function pairIndex(first: number, second: number): number {
  return ((first & 0xff) << 8) | (second & 0xff)
}
