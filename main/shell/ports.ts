/** One MessagePort for each load of our own page, after its frame and origin were checked (Z-155). */
import { ipcMain, MessageChannelMain, type MessagePortMain, type WebContents } from 'electron'
import type { Connections, Wire } from '../transport/connections.ts'
import { isOwnSender } from './page-origin.ts'

export function givePorts(connections: Connections): void {
  const given = new WeakMap<WebContents, MessagePortMain>()
  ipcMain.on('lathe:connect', ({ sender, senderFrame }) => {
    if (
      !isOwnSender({
        frameUrl: senderFrame?.url ?? null,
        isMainFrame: senderFrame !== null && senderFrame === sender.mainFrame,
      })
    )
      return
    // A port lives with one load: the next one closes it.
    given.get(sender)?.close()
    const { port1, port2 } = new MessageChannelMain()
    given.set(sender, port1)
    connections.accept(wireOf(port1), { kind: 'window', attendance: 'attended' })
    port1.start()
    senderFrame!.postMessage('lathe:port', null, [port2])
  })
}

function wireOf(port: MessagePortMain): Wire {
  let open = true
  port.on('close', () => {
    open = false
  })
  return {
    send: (text) => {
      if (open) port.postMessage(text)
    },
    close: () => port.close(),
    onMessage: (listener) =>
      void port.on('message', ({ data }: { data: unknown }) => listener(typeof data === 'string' ? data : null)),
    onClose: (listener) => void port.on('close', listener),
  }
}
