/**
 * What runs in a page beside the page. `isolatedWorld` gives the preload script its `electron`, in a world of its own that
 * the page cannot reach; `mainWorld` builds there what the preload script exposed. The two speak by events of the
 * document, whose details are copies, under a name only they know.
 */

export function isolatedWorld({ secret }, preload) {
  if (window !== window.top) return
  const strict = (name, target) =>
    new Proxy(target, {
      get(object, member) {
        if (typeof member === 'symbol' || member in object) return object[member]
        throw new Error(`The stand-in has no ${name}.${member}.`)
      },
    })
  const toMain = (message) => globalThis.standIn(JSON.stringify(message))
  /** What neither a structured clone nor the wire could carry is refused, as Electron refuses it. */
  const carried = (value) => {
    const clone = structuredClone(value)
    const text = JSON.stringify(clone)
    if (text === undefined && clone !== undefined) throw new Error('The stand-in cannot carry this value.')
    return clone
  }
  const listeners = new Map()
  const ports = new Map()
  const exposed = new Map()
  let dropped = []

  const ipcRenderer = strict('ipcRenderer', {
    on(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
    },
    send: (channel, ...args) => toMain({ type: 'ipc', channel, args: carried(args) }),
  })
  const contextBridge = strict('contextBridge', {
    exposeInMainWorld(name, api) {
      exposed.set(name, api)
    },
  })
  const webUtils = strict('webUtils', {
    getPathForFile(file) {
      if (!(file instanceof File)) throw new TypeError('A File is needed.')
      const known = dropped.find(
        ({ name, size, mtime }) =>
          name === file.name && (size === null || (size === file.size && Math.abs(mtime - file.lastModified) < 2)),
      )
      return known?.path ?? ''
    },
  })
  const electron = strict('electron (in a sandboxed preload script)', { contextBridge, ipcRenderer, webUtils })

  globalThis.standInTake = (message) => {
    if (message.type === 'dropped') dropped = message.files
    else if (message.type === 'port') ports.get(message.port)?.postMessage(message.data)
    else if (message.type === 'port-closed') {
      ports.get(message.port)?.close()
      ports.delete(message.port)
    } else if (message.type === 'ipc') {
      const given = message.ports.map((port) => {
        const { port1, port2 } = new MessageChannel()
        port1.addEventListener('message', ({ data }) => toMain({ type: 'port', port, data: carried(data) }))
        port1.start()
        port1.addEventListener('close', () => toMain({ type: 'port-closed', port }))
        ports.set(port, port1)
        return port2
      })
      for (const listener of listeners.get(message.channel) ?? []) listener({ ports: given }, ...message.args)
    }
  }

  document.addEventListener(`${secret}-ask`, ({ detail }) => {
    const answer = { value: null, error: null }
    try {
      if (detail.open !== undefined) toMain({ type: 'open', url: detail.open })
      else if (detail.shape) {
        answer.value = [...exposed].map(([name, api]) => [name, Object.keys(api)])
      } else {
        answer.value = structuredClone(exposed.get(detail.name)[detail.member](...detail.args))
      }
    } catch (error) {
      answer.error = String(error?.message ?? error)
    }
    document.dispatchEvent(new CustomEvent(`${secret}-answer`, { detail: answer }))
  })

  const require = (name) => {
    if (name === 'electron') return electron
    throw new Error(`A sandboxed preload script cannot require ${name}.`)
  }
  const module = { exports: {} }
  preload(require, module, module.exports)
}

export function mainWorld({ secret }) {
  if (window !== window.top) return
  const ask = (detail) => {
    let answer
    const take = (event) => (answer = event.detail)
    document.addEventListener(`${secret}-answer`, take, { once: true })
    document.dispatchEvent(new CustomEvent(`${secret}-ask`, { detail }))
    if (!answer) throw new Error('The preload script did not answer.')
    if (answer.error !== null) throw new Error(answer.error)
    return answer.value
  }
  // As where the shell denies it: no window, and null.
  window.open = (url = '') => {
    ask({ open: new URL(url, location.href).href })
    return null
  }
  for (const [name, members] of ask({ shape: true })) {
    const api = {}
    for (const member of members) api[member] = (...args) => ask({ name, member, args })
    Object.defineProperty(window, name, { value: Object.freeze(api), enumerable: true })
  }
}
