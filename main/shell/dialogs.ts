/** What only a desktop can do for a person: choose a folder, show a file, open an address outside. */
import { access } from 'node:fs/promises'
import { BrowserWindow, dialog, shell } from 'electron'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Desktop } from '../transport/answers/host-answers.ts'
import { createOutsideAddresses } from './outside-addresses.ts'

export function createDialogs(): Desktop {
  const front = (): BrowserWindow | undefined => BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0]
  const outside = createOutsideAddresses({
    async confirm({ href, host }) {
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
    },
    open: (href) => shell.openExternal(href),
  })

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
    openExternal: (url) => outside.open(url),
  }
}
