/** What only a desktop can do for a person: choose a folder, show a file, open an address outside. */
import { access } from 'node:fs/promises'
import { BrowserWindow, dialog, shell } from 'electron'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Desktop } from '../transport/answers/host-answers.ts'
import { outsideAddress } from './page-origin.ts'

const betweenOpensMs = 2_000

/** Addresses are shown and confirmed the first time for each host, and open at most every 2 s (Z-196). */
export function createDialogs(): Desktop {
  const confirmedHosts = new Set<string>()
  let openedAt = -Infinity

  const front = (): BrowserWindow | undefined => BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0]

  async function confirm(href: string, host: string): Promise<boolean> {
    const window = front()
    if (!window) return false
    const { response } = await dialog.showMessageBox(window, {
      type: 'question',
      message: `Open ${host} outside Lathe?`,
      detail: href,
      buttons: ['Open', 'Cancel'],
      defaultId: 1,
      cancelId: 1,
      noLink: true,
    })
    return response === 0
  }

  return {
    async chooseFolder() {
      const window = front()
      const options = { properties: ['openDirectory' as const, 'createDirectory' as const] }
      const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options))
      return filePaths[0] ?? null
    },
    async reveal(path) {
      await access(path).catch(() => {
        throw new LatheError('file.not_found', `There is no ${path}.`)
      })
      shell.showItemInFolder(path)
    },
    async openExternal(url) {
      const address = outsideAddress(url)
      if (!address) throw new LatheError('request.invalid', 'Only web and mail addresses are opened outside.')
      if (performance.now() - openedAt < betweenOpensMs)
        throw new LatheError('request.invalid', 'An address was opened a moment ago.', { hint: 'Try again.' })
      if (!confirmedHosts.has(address.host)) {
        if (!(await confirm(address.href, address.host))) return
        confirmedHosts.add(address.host)
      }
      openedAt = performance.now()
      await shell.openExternal(address.href)
    },
  }
}
