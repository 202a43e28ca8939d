/** What the shell refuses, each as a hostile page or frame would try it (security.md 11). */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, expect, test } from './desktop.ts'

test('Z-150 Z-155 the page has one frozen object, and nothing of Node or of the preload script’s world', async ({
  open,
}) => {
  const { page } = await (await open()).window()
  const found = await page.evaluate(() => {
    const names = ['require', 'process', 'module', 'Buffer', 'ipcRenderer', 'electron', 'standIn', 'global']
    const bridge = self.lathe
    return {
      there: names.filter((name) => name in window),
      members: Object.keys(bridge),
      frozen: Object.isFrozen(bridge),
      replaced:
        Reflect.set(window, 'lathe', {}) ||
        Reflect.set(bridge, 'connect', null) ||
        Reflect.deleteProperty(window, 'lathe'),
    }
  })
  expect(found).toEqual({ there: [], members: ['connect', 'pathForFile'], frozen: true, replaced: false })
})

test('Z-151 Z-152 the scheme serves listed files only, each under the policy', async ({ open }) => {
  const { page } = await (await open()).window()
  const answers = await page.evaluate(async () => {
    const paths = [
      '/',
      '/index.html',
      '/../package.json',
      '/%2e%2e/main/main.js',
      '/assets/',
      '/nothing.js',
      '/etc/passwd',
    ]
    const all = await Promise.all(paths.map((path) => fetch(path)))
    const posted = await fetch('/', { method: 'POST' })
    return {
      statuses: all.map(({ status }) => status),
      policies: new Set(all.map(({ headers }) => headers.get('content-security-policy'))).size,
      policy: all[0]!.headers.get('content-security-policy'),
      posted: posted.status,
    }
  })
  expect(answers).toMatchObject({ statuses: [200, 200, 404, 404, 404, 404, 404], policies: 1, posted: 403 })
  expect(answers.policy).toContain("default-src 'none'")
  expect(answers.policy).not.toContain('unsafe-eval')
  // Later, since what a debugger runs itself is let through.
  const refused = await page.evaluate(
    () =>
      new Promise((resolve) =>
        setTimeout(() => {
          try {
            // oxlint-disable-next-line no-new-func, no-implied-eval -- That it is refused is what is tested.
            resolve(new Function('return 1')())
          } catch (error) {
            resolve((error as Error).name)
          }
        }),
      ),
  )
  expect(refused).toBe('EvalError')
})

test('Z-153 navigation, new windows and strangers’ downloads are refused; the page stays', async ({ open }) => {
  const desktop = await open()
  const { page } = await desktop.window()
  const { app } = desktop
  // The page names the session it shows, once it shows one.
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible()
  const before = (await app.until('windows', ({ windows }) => windows[0]!.url.includes('#session='))).windows[0]!.url
  await page.evaluate(() => {
    location.assign('http://127.0.0.1:9/elsewhere')
  })
  await app.until('refused', ({ refused }) => refused.includes('navigate http://127.0.0.1:9/elsewhere'))
  await page.evaluate(() => {
    location.assign('/assets/other.html')
  })
  await app.until('refused', ({ refused }) => refused.includes('navigate app://lathe/assets/other.html'))
  expect(await page.evaluate(() => window.open('http://127.0.0.1:9/popup'))).toBeNull()
  await app.until('refused', ({ refused }) => refused.includes('open http://127.0.0.1:9/popup'))
  await page.evaluate(() => {
    const link = document.createElement('a')
    link.href = 'data:application/zip;base64,UEsFBg=='
    link.download = 'x.zip'
    link.click()
  })
  const { refused, saved, windows } = await app.until('refused', (state) =>
    state.refused.some((one) => one.startsWith('download data:')),
  )
  expect({ saved, windows: windows.map(({ url }) => url) }).toEqual({ saved: [], windows: [before] })
  expect(refused.filter((one) => one.startsWith('navigate'))).toHaveLength(2)
  const { id } = windows[0]!
  expect(await app.act('window.attachWebview', id)).toBe(true)
  expect(await app.act('window.redirect', { id, url: 'https://example.com/' })).toBe(true)
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible()
})

test('Z-154 permissions are denied but for writing the clipboard and notifications', async ({ open }) => {
  const desktop = await open()
  const { page } = await desktop.window()
  const found = await page.evaluate(async () => {
    const state = async (name: string) => (await navigator.permissions.query({ name: name as PermissionName })).state
    const media = await navigator.mediaDevices.getUserMedia({ video: true }).catch((error: Error) => error.name)
    return {
      states: await Promise.all(
        ['clipboard-write', 'notifications', 'clipboard-read', 'geolocation', 'camera'].map(state),
      ),
      media: typeof media === 'string',
    }
  })
  expect(found).toEqual({ states: ['granted', 'granted', 'denied', 'denied', 'denied'], media: true })
})

test('Z-155 ZA-29 a frame that is not our page’s own gets no port', async ({ open }) => {
  const desktop = await open()
  const { app } = desktop
  await desktop.window()
  const { id } = (await app.state()).windows[0]!
  const forged = (url: string | null, main: boolean) =>
    app.act<number>('ipc.forge', { id, channel: 'lathe:connect', url, main })
  expect(await forged('app://lathe/', false)).toBe(0)
  expect(await forged('https://example.com/', true)).toBe(0)
  expect(await forged('app://lathe.example/', true)).toBe(0)
  expect(await forged(null, true)).toBe(0)
  expect(await forged('app://lathe/', true)).toBe(1)
})

test('Z-156 a request that breaks the contract is refused, and twenty of them close the port', async ({ open }) => {
  const desktop = await open()
  const { page } = await desktop.window()
  const found = await page.evaluate(async () => {
    const port = await new Promise<MessagePort>((resolve) => {
      addEventListener('message', ({ data, ports }) => data === 'lathe:port' && resolve(ports[0]!))
      self.lathe.connect()
    })
    const heard: string[] = []
    const closed = new Promise<true>((resolve) => port.addEventListener('close', () => resolve(true)))
    port.addEventListener('message', ({ data }) => heard.push(String(data)))
    port.start()
    port.postMessage('{"i":"1","p":{"u":"/host/nothing"}}')
    for (let bad = 0; bad < 25; bad++) port.postMessage('nonsense')
    return { closed: await closed, refused: heard.some((text) => text.includes('request.invalid')) }
  })
  expect(found).toEqual({ closed: true, refused: true })
})

test('Z-196 an address opens outside only when a person confirmed its host; other schemes never', async ({ open }) => {
  const desktop = await open({
    script: [{ emit: [{ text: '[site](https://example.com/a) [file](file:///etc/passwd)' }] }],
  })
  const { app } = desktop
  const window = await desktop.begun()
  await window.send('Give me links')
  await window.settled('completed')
  const site = window.transcript
    .getByRole('link', { name: /site/ })
    .or(window.transcript.getByRole('button', { name: /site/ }))
    .first()
  await site.click()
  await window.page.getByRole('button', { name: 'Open link' }).click()
  const { dialogs } = await app.until('asked', (state) => state.dialogs.length === 1)
  expect(dialogs[0]!.options).toMatchObject({ detail: 'https://example.com/a', defaultId: 1 })
  expect((await app.state()).openedOutside).toEqual([])
  await app.act('dialog.answer', { id: dialogs[0]!.id, answer: { response: 1 } })
  // The page has shown where it goes; the shell asks until it hears a yes.
  await site.click()
  const again = await app.until('asked again', (state) => state.dialogs.length === 2)
  expect(again.openedOutside).toEqual([])
  await app.act('dialog.answer', { id: again.dialogs[1]!.id, answer: { response: 0 } })
  expect((await app.until('opened', (state) => state.openedOutside.length > 0)).openedOutside).toEqual([
    'https://example.com/a',
  ])
})

for (const { keychain, file, shows } of [
  { keychain: 'basic_text', file: 'secrets.json', shows: true },
  { keychain: 'gnome_libsecret', file: 'keychain.json', shows: false },
])
  test(`Z-110 Z-111 with ${keychain} a key lies in ${file}, ${shows ? 'for this user alone' : 'encrypted'}`, async ({
    open,
  }) => {
    const desktop = await open({ env: { STAND_IN_KEYCHAIN: keychain } })
    const { page } = await desktop.window()
    await ask(page, '/models/setKey', { requestId: 'r1', provider: 'lab', key: 'sk-secret-value' })
    const path = join(desktop.lab.home, file)
    await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toContain('provider.lab')
    expect((await readFile(path, 'utf8')).includes('sk-secret-value')).toBe(shows)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
