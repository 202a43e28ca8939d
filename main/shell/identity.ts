/** What the system knows the application by, and the pictures it shows of it. `scripts/packaging.test.ts` holds the package to it. */

/** As `appId` of electron-builder.yml: Windows shows notifications only of a program that names its installed shortcut's. */
export const applicationId = 'dev.lathe.app'

/** Pictures, by their place in the application. A template is coloured by macOS itself; elsewhere a bar may be as dark as its lines. */
export function icons(platform: NodeJS.Platform): { tray: string; window: string | null } {
  return {
    tray: platform === 'darwin' ? 'assets/icons/trayTemplate.png' : 'assets/icons/linux/32x32.png',
    window: platform === 'linux' ? 'assets/icons/linux/512x512.png' : null,
  }
}
