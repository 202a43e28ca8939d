/**
 * The bridge of a window: two functions and nothing else (Z-155). The port goes to the page as a message of the page to
 * itself, since a port cannot pass the bridge.
 */
import { contextBridge, ipcRenderer, webUtils } from 'electron'

ipcRenderer.on('lathe:port', ({ ports }) => window.postMessage('lathe:port', location.origin, ports))
ipcRenderer.on('lathe:request', (_event, request: unknown) =>
  window.postMessage({ type: 'lathe:request', request }, location.origin),
)

contextBridge.exposeInMainWorld(
  'lathe',
  Object.freeze({
    connect: () => ipcRenderer.send('lathe:connect'),
    pathForFile: (file: File): string | null => {
      try {
        return webUtils.getPathForFile(file) || null
      } catch {
        return null
      }
    },
  }),
)
