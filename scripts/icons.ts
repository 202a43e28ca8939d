/**
 * `npm run icons`: makes the icon files that packagers want from the SVGs in assets/icons. The results are committed, so
 * this runs only when a drawing changes. macOS wants air around the plate; elsewhere the plate fills the square.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright'
import { requireBrowser, sandboxArguments } from './browser.ts'
import { root } from './steps.ts'

const folder = join(root, 'assets/icons')

async function render(page: Page, svg: string, size: number): Promise<Buffer> {
  await page.setViewportSize({ width: size, height: size })
  const address = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  await page.setContent(
    `<body style="margin:0"><img src="${address}" width="${size}" height="${size}" style="display:block">`,
  )
  await page.locator('img').evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode())
  return page.screenshot({ omitBackground: true })
}

/** A Windows icon of PNG images: a directory of 16 bytes an entry, then the images. */
function ico(images: { size: number; png: Buffer }[]): Buffer {
  const head = Buffer.alloc(6 + 16 * images.length)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(images.length, 4)
  let offset = head.length
  images.forEach(({ size, png }, index) => {
    const at = 6 + 16 * index
    head.writeUInt8(size % 256, at)
    head.writeUInt8(size % 256, at + 1)
    head.writeUInt16LE(1, at + 4)
    head.writeUInt16LE(32, at + 6)
    head.writeUInt32LE(png.length, at + 8)
    head.writeUInt32LE(offset, at + 12)
    offset += png.length
  })
  return Buffer.concat([head, ...images.map(({ png }) => png)])
}

/** A macOS icon: four-letter types, each with its length and a PNG. */
function icns(images: { type: string; png: Buffer }[]): Buffer {
  const entries = images.map(({ type, png }) => {
    const head = Buffer.alloc(8)
    head.write(type, 'ascii')
    head.writeUInt32BE(png.length + 8, 4)
    return Buffer.concat([head, png])
  })
  const body = Buffer.concat(entries)
  const head = Buffer.alloc(8)
  head.write('icns', 'ascii')
  head.writeUInt32BE(body.length + 8, 4)
  return Buffer.concat([head, body])
}

const airy = await readFile(join(folder, 'icon.svg'), 'utf8')
const full = airy.replace('viewBox="0 0 1024 1024"', 'viewBox="100 100 824 824"')
const tray = await readFile(join(folder, 'tray.svg'), 'utf8')

const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
try {
  const page = await browser.newPage()
  await mkdir(join(folder, 'linux'), { recursive: true })
  await mkdir(join(root, 'assets/public'), { recursive: true })
  await writeFile(join(root, 'assets/public/icon.svg'), full)
  for (const size of [16, 24, 32, 48, 64, 128, 256, 512])
    await writeFile(join(folder, `linux/${size}x${size}.png`), await render(page, full, size))

  const windows = []
  for (const size of [16, 24, 32, 48, 64, 128, 256]) windows.push({ size, png: await render(page, full, size) })
  await writeFile(join(folder, 'icon.ico'), ico(windows))

  const mac: [type: string, size: number][] = [
    ['icp4', 16],
    ['icp5', 32],
    ['ic11', 32],
    ['ic12', 64],
    ['ic07', 128],
    ['ic13', 256],
    ['ic08', 256],
    ['ic14', 512],
    ['ic09', 512],
    ['ic10', 1024],
  ]
  const images = []
  for (const [type, size] of mac) images.push({ type, png: await render(page, airy, size) })
  await writeFile(join(folder, 'icon.icns'), icns(images))

  // "Template" tells macOS to colour it by the menu bar.
  for (const [name, size] of [
    ['trayTemplate.png', 16],
    ['trayTemplate@2x.png', 32],
  ] as const)
    await writeFile(join(folder, name), await render(page, tray, size))
} finally {
  await browser.close()
}
