/** The feed a release was built with (`LATHE_UPDATE_FEED`, docs/release-check.md), read by electron-updater. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { app } from 'electron'
import type { UpdateFeed } from './updates.ts'

/** Null where this build has none: one that was not built for updates, or that the system's package manager keeps. */
export async function findUpdateFeed(): Promise<(() => Promise<UpdateFeed>) | null> {
  // From source it is named, so that the whole way can be tried.
  const config = app.isPackaged ? join(process.resourcesPath, 'app-update.yml') : process.env['LATHE_UPDATE_CONFIG']
  if (config === undefined) return null
  try {
    await access(config)
  } catch {
    return null
  }
  let opened: Promise<UpdateFeed> | null = null
  return () => (opened ??= openFeed(config))
}

/** Loaded with the first look: a start without updates does not pay for them. */
async function openFeed(config: string): Promise<UpdateFeed> {
  const { autoUpdater, CancellationToken } = (await import('electron-updater')).default
  autoUpdater.logger = null
  autoUpdater.autoDownload = false
  autoUpdater.autoInstallOnAppQuit = false
  autoUpdater.allowDowngrade = false
  autoUpdater.updateConfigPath = config
  autoUpdater.forceDevUpdateConfig = !app.isPackaged
  // Version and platform are all that is told (Z-231): the updater's own number for this machine is not.
  autoUpdater.requestHeaders = {
    'User-Agent': `Lathe/${app.getVersion()} ${process.platform}-${process.arch}`,
    'x-user-staging-id': 'none',
  }
  // Its failures come as rejections too; unheard, the event would end the process.
  autoUpdater.on('error', () => {})
  return {
    async look() {
      const result = await autoUpdater.checkForUpdates()
      if (!result?.isUpdateAvailable) return null
      const { version, releaseNotes } = result.updateInfo
      return { version, notes: typeof releaseNotes === 'string' ? releaseNotes.slice(0, 20_000) : null }
    },
    async download(progress, signal) {
      const token = new CancellationToken()
      const cancel = (): void => token.cancel()
      const tell = ({ percent }: { percent: number }): void => progress(percent)
      signal.addEventListener('abort', cancel, { once: true })
      autoUpdater.on('download-progress', tell)
      try {
        await autoUpdater.downloadUpdate(token)
      } finally {
        signal.removeEventListener('abort', cancel)
        autoUpdater.off('download-progress', tell)
      }
    },
    install(restart) {
      const failures: Error[] = []
      const hear = (error: Error): void => void failures.push(error)
      autoUpdater.on('error', hear)
      autoUpdater.quitAndInstall(true, restart)
      autoUpdater.off('error', hear)
      if (failures[0]) throw failures[0]
    },
  }
}
