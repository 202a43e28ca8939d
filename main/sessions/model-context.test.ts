import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { limitImages, neededBodies, projectItems } from '../agent/context.ts'
import { Images } from '../files/images.ts'
import { openBlobFolder } from '../storage/blob-folder.ts'
import type { Blobs } from '../storage/blobs.ts'
import { userItem } from '../storage/write-samples.ts'
import { loadBodies } from './model-context.ts'

test('F-1224 of 25 pictures the newest 20 are read; the others neither from the disk nor decoded, and are told of', async () => {
  const home = await mkdtemp(join(tmpdir(), 'lathe-context-'))
  try {
    const folder = openBlobFolder(home)
    const items = []
    for (let at = 0; at < 25; at++) {
      const background = { r: at, g: 0, b: 0 }
      const bytes = await sharp({ create: { width: 4, height: 4, channels: 3, background } })
        .png()
        .toBuffer()
      const attachments = [
        { name: `${at}.png`, mediaType: 'image/png', bytes: bytes.length, hash: await folder.put(bytes) },
      ]
      items.push(userItem(at + 1, 'look', { attachments }))
    }
    const read = new Set<string>()
    const blobs: Blobs = { ...folder, get: (hash) => (read.add(hash), folder.get(hash)) }
    const bodies = await loadBodies({ storage: { blobs }, images: new Images(blobs) }, neededBodies(items, []))
    const hashes = items.map((item) => item.attachments[0]!.hash)
    expect(hashes.filter((hash) => read.has(hash))).toEqual(hashes.slice(5))
    const { messages, leftOut } = limitImages(projectItems(items, [], bodies))
    expect(leftOut).toBe(5)
    const pictures = messages.map((message) =>
      message.role === 'user' ? message.parts.filter(({ type }) => type === 'image').length : 0,
    )
    expect(pictures).toEqual([...Array(5).fill(0), ...Array(20).fill(1)])
    expect(JSON.stringify(messages.slice(0, 5)).match(/too many in this request/g)).toHaveLength(5)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
