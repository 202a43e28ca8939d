/** Figures as they stand in the transcript. */

/** `940`, `12.4k`, `1.2M`. */
export function tokensText(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_500) return `${(count / 1_000).toFixed(count < 99_500 ? 1 : 0).replace(/\.0$/, '')}k`
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

/** `812 B`, `34 KB`, `1.8 MB`, `73.6 GB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} KB`
  const [unit, name] = bytes < 999_950_000 ? [1_000_000, 'MB'] : [1_000_000_000, 'GB']
  return `${(bytes / unit).toFixed(1).replace(/\.0$/, '')} ${name}`
}

/** `$0.0123` for cents and less, `$1.24` above. */
export function costText(dollars: number): string {
  return `$${dollars.toFixed(dollars > 0 && dollars < 0.1 ? 4 : 2)}`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
