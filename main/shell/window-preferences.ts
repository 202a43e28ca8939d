import type { WebPreferences } from 'electron'

/** Every window's page runs sandboxed, isolated, without Node (Z-150). Written out, so that a lost default shows in review. */
export function webPreferences(preload: string, platform: NodeJS.Platform = process.platform): WebPreferences {
  return {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    webviewTag: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
    safeDialogs: true,
    // Elsewhere than on macOS, which checks by itself, dictionaries would be fetched from a third party (Z-160).
    spellcheck: platform === 'darwin',
  }
}
