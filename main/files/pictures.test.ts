import sharp from 'sharp'
import { expect, test } from 'vitest'
import { pictureBody, pictureOf } from './pictures.ts'

test('F-904 what a picture is shows by its content; what is none, or could run, is not drawn', async () => {
  const png = await sharp({ create: { width: 4, height: 3, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  expect(pictureOf(png)).toEqual({ mediaType: 'image/png', bytes: png.length, width: 4, height: 3 })
  expect(pictureBody(png)).toEqual({ data: png.toString('base64'), mediaType: 'image/png' })
  expect(pictureOf(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBeNull()
  expect(pictureOf(Buffer.from('plain text'))).toBeNull()
  expect(() => pictureBody(null)).toThrow('no picture')
  const large = Buffer.concat([png, Buffer.alloc(11 * 1024 * 1024)])
  expect(() => pictureBody(large)).toThrow('larger than 10 MiB')
})
