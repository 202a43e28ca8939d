import { expect, test } from 'vitest'
import type { WorkbenchEvent } from '../../preload/contract/events.ts'
import { contract } from '../../preload/contract/routes.ts'
import { withBrowsers } from './browser-answers.ts'
import { Browsers } from './browsers.ts'
import { createConnections, type Wire } from './connections.ts'
import { fakeHandlers } from './fake-handlers.ts'
import type { ClientContext } from './handlers.ts'
import { readRoutes } from './read-routes.ts'
import { routePaths } from './router.ts'

const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 <b>evil</b>'

function open(browsers: Browsers, rights: 'full' | 'watch') {
  const admitted = browsers.admit(browsers.link(rights), agent)!
  const closed: string[] = []
  const listeners: (() => void)[] = []
  const wire: Wire = {
    send: () => {},
    close: (_code, reason) => (closed.push(reason), listeners.forEach((listener) => listener())),
    onMessage: () => {},
    onClose: (listener) => void listeners.push(listener),
  }
  admitted.browser.connected(wire)
  return { ...admitted, closed, leave: () => listeners.forEach((listener) => listener()) }
}

test('S-31 a browser is named by words of ours, and known by when it came, whether it is there, and what it may do', () => {
  let now = 1_000
  const browsers = new Browsers(() => now)
  const { browser, leave } = open(browsers, 'watch')
  now = 5_000
  expect(browsers.get(browser.id)).toEqual({
    id: browser.id,
    name: 'Chrome on Linux',
    rights: 'watch',
    signedInAt: 1_000,
    seenAt: 5_000,
    connected: true,
  })
  leave()
  now = 9_000
  expect(browsers.get(browser.id)).toMatchObject({ seenAt: 5_000, connected: false })
})

test('S-31 rights are read each time: those handed out before are narrowed, widened and ended with the browser', () => {
  const browsers = new Browsers()
  const { browser, closed } = open(browsers, 'full')
  const { rights } = browser
  const first = rights.narrowed
  expect([rights.mayAct(), first.aborted]).toEqual([true, false])
  browsers.setRights(browser.id, 'watch')
  expect([rights.mayAct(), first.reason]).toEqual([false, expect.objectContaining({ code: 'access.denied' })])
  browsers.setRights(browser.id, 'full')
  const second = rights.narrowed
  expect([rights.mayAct(), second.aborted]).toEqual([true, false])
  browsers.signOut(browser.id)
  expect([rights.mayAct(), second.aborted]).toEqual([false, true])
  expect(open(browsers, 'watch').browser.rights.narrowed.aborted).toBe(true)
  expect(closed).toEqual(['signed out'])
  expect(() => browsers.setRights(browser.id, 'full')).toThrow('not signed in')
})

test('S-31 an address is told anew once rights were taken from a browser that came by it, and only then', () => {
  const browsers = new Browsers()
  const told: string[] = []
  browsers.onNewLink = (rights) => told.push(`${rights} ${browsers.link(rights)}`)
  const before = { full: browsers.link('full'), watch: browsers.link('watch') }
  const mine = open(browsers, 'full')
  const watcher = open(browsers, 'watch')
  browsers.signOut(watcher.browser.id)
  expect(told).toEqual([`watch ${browsers.link('watch')}`])
  expect(browsers.link('full')).toBe(before.full)
  expect(browsers.knows(before.watch)).toBe(false)
  browsers.setRights(mine.browser.id, 'watch')
  expect(told).toHaveLength(2)
  // The address is new already: nothing more has to be taken back.
  browsers.signOut(mine.browser.id)
  expect(told).toHaveLength(2)
})

test('S-31 Z-221 who may only watch signs out nobody who may do more, however often they come', () => {
  const browsers = new Browsers(() => 1)
  const person = browsers.admit(browsers.link('full'), agent)!
  const watcher = browsers.admit(browsers.link('watch'), agent)!
  for (let count = 0; count < 200; count++) browsers.admit(browsers.link('watch'), agent)
  expect(browsers.knows(person.token!)).toBe(true)
  expect(browsers.knows(watcher.token!)).toBe(false)
  expect(browsers.list()).toHaveLength(64)
})

test('Z-221 of very many browsers those away longest are signed out', () => {
  let now = 0
  const browsers = new Browsers(() => ++now)
  const first = open(browsers, 'full')
  for (let count = 0; count < 100; count++) open(browsers, 'watch').leave()
  expect(browsers.list()).toHaveLength(64)
  expect(browsers.get(first.browser.id)).not.toBeNull()
})

test('S-31 who only watches hears of itself alone, as soon as it changes', async () => {
  const browsers = new Browsers()
  const mine = open(browsers, 'full')
  const other = open(browsers, 'full')
  const quiet = async function* (): AsyncGenerator<WorkbenchEvent> {
    await new Promise(() => {})
    yield { type: 'models.changed' }
  }
  const handlers = withBrowsers(fakeHandlers({ host: { watch: quiet } }), browsers, (rights) => browsers.link(rights))
  const client = ({ id, rights }: typeof mine.browser): ClientContext => ({
    clientId: id,
    kind: 'web',
    attendance: 'attended',
    rights,
    signal: new AbortController().signal,
  })
  const hears = handlers.host.watch({ stream: 's' }, client(other.browser))[Symbol.asyncIterator]()
  const next = hears.next()
  browsers.setRights(other.browser.id, 'watch')
  expect((await next).value).toMatchObject({
    type: 'browsers.changed',
    browsers: [{ id: other.browser.id, rights: 'watch' }],
  })
  expect(await handlers.browsers.list(undefined, client(other.browser))).toHaveLength(1)
  expect(await handlers.browsers.list(undefined, client(mine.browser))).toHaveLength(2)
})

test('S-31 SA-5 Z-2 a client that only watches reaches no service by any route that is not one of reading', async () => {
  const reached: string[] = []
  const handlers = new Proxy({} as ReturnType<typeof fakeHandlers>, {
    get: (_, group: string) =>
      new Proxy({}, { get: (_group, route: string) => async () => void reached.push(`${group}.${route}`) }),
  })
  const connections = createConnections({ handlers, fault: () => {}, now: () => 0 })
  for (const path of routePaths) {
    const name = path.slice(1).replace('/', '.')
    if (readRoutes.has(name)) continue
    let answer: (text: string) => void = () => {}
    const answered = new Promise<string>((resolve) => (answer = resolve))
    let listener: (text: string | null) => void = () => {}
    connections.accept(
      { send: answer, close: () => {}, onMessage: (to) => (listener = to), onClose: () => {} },
      { kind: 'web', attendance: 'attended', rights: { mayAct: () => false, narrowed: AbortSignal.abort() } },
    )
    listener(JSON.stringify({ i: '1', p: { u: path, b: {} } }))
    expect([name, JSON.parse(await answered).p.b.json.data.code]).toEqual([
      name,
      expect.stringMatching(/^(access\.denied|request\.invalid)$/),
    ])
  }
  expect(reached).toEqual([])
  for (const name of readRoutes) {
    const [group, route] = name.split('.') as [keyof typeof contract, string]
    expect([name, route in contract[group]]).toEqual([name, true])
  }
})
