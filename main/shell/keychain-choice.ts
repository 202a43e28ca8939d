/** Whether keys may be given to this keychain: not to one that only pretends (`basic_text`), nor to none (Z-110, Z-111). */
export function isKeychain(at: { platform: NodeJS.Platform; available: boolean; backend: string }): boolean {
  if (!at.available) return false
  return at.platform !== 'linux' || (at.backend !== 'basic_text' && at.backend !== 'unknown')
}
