import sharp from 'sharp'
import { expect, test } from 'vitest'
import { Images, sizeNote } from './images.ts'
import { codeOf, TestBlobs } from './test-workspace.ts'

const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })

async function prepared(bytes: Uint8Array) {
  const blobs = new TestBlobs()
  const image = await new Images(blobs).prepare(bytes)
  const sent = await blobs.get(image.hash)
  return { image, sent, meta: await sharp(sent).metadata() }
}

test('F-1220 F-1221 FA-40 a large photo is sent upright, at most 2,000 pixels and 3.5 MiB, without metadata, and says so', async () => {
  const photo = await noise(2_250, 4_000)
    .jpeg({ quality: 95 })
    .withExif({ IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toBuffer()
  const { image, sent, meta } = await prepared(photo)
  expect([image.mediaType, image.width, image.height, image.original]).toEqual([
    'image/jpeg',
    2_000,
    1_125,
    { width: 4_000, height: 2_250 },
  ])
  expect(sent.length).toBeLessThanOrEqual(3.5 * 1024 * 1024)
  expect([meta.exif, meta.orientation]).toEqual([undefined, undefined])
  expect(sizeNote(image)).toBe('shown at 2000x1125 of 4000x2250')
})

test('F-1220 PNG stays PNG where it fits, else it becomes JPEG; of an animation the first frame', async () => {
  const small = await prepared(await noise(40, 30).png().toBuffer())
  expect([small.image.mediaType, sizeNote(small.image)]).toEqual(['image/png', ''])
  const large = await prepared(await noise(2_000, 2_000).png().toBuffer())
  expect([large.image.mediaType, large.sent.length <= 3.5 * 1024 * 1024]).toEqual(['image/jpeg', true])
  const frames = await sharp([await noise(8, 8).png().toBuffer(), await noise(8, 8).png().toBuffer()], {
    join: { animated: true },
  })
    .gif()
    .toBuffer()
  expect((await prepared(frames)).meta).toMatchObject({ format: 'png', width: 8, height: 8 })
})

test('F-1220 F-1212 over 50 megapixels and what is damaged are refused, and the host lives', async () => {
  const huge = await sharp({ create: { width: 8_000, height: 7_000, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  expect(await codeOf(prepared(huge))).toBe('file.binary')
  const cut = (await noise(400, 400).png().toBuffer()).subarray(0, 600)
  expect(await codeOf(prepared(cut))).toBe('file.binary')
})

test('F-1220 a picture is made once', async () => {
  const blobs = new TestBlobs()
  const images = new Images(blobs)
  const bytes = await noise(20, 20).png().toBuffer()
  const [one, other] = await Promise.all([images.prepare(bytes), images.prepare(Buffer.from(bytes))])
  expect(one).toBe(other)
})
