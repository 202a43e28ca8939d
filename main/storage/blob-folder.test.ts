import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, truncate, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBlobFolder } from './blob-folder.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-blobs-'))
})

afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

test('a body is stored once, by its hash, privately', async () => {
  const blobs = openBlobFolder(home)
  const hash = await blobs.put('hello')
  expect(hash).toBe(sha256('hello'))
  expect(await blobs.put(Buffer.from('hello'))).toBe(hash)
  expect(Buffer.from(await blobs.get(hash)).toString()).toBe('hello')
  const folder = join(home, 'blobs', hash.slice(0, 2))
  expect(await readdir(folder)).toEqual([hash])
  expect(await blobs.list()).toEqual([{ hash, bytes: 5, usedAt: expect.any(Number) }])
  expect(await modeOf(join(folder, hash), 0o600)).toBe(0o600)
  expect(await modeOf(folder, 0o700)).toBe(0o700)
})

test('large bodies, and many at once of the same', async () => {
  const blobs = openBlobFolder(home)
  const large = new Uint8Array(3_000_000).map((_, at) => at % 251)
  const hashes = await Promise.all([
    blobs.put(large),
    blobs.put(large),
    blobs.put(large.subarray(0, 100_000)),
    blobs.put(''),
  ])
  expect(hashes).toEqual([sha256(large), sha256(large), sha256(large.subarray(0, 100_000)), sha256('')])
  expect(sha256(await blobs.get(hashes[0]))).toBe(hashes[0])
  expect(await readdir(join(home, 'blobs', hashes[0].slice(0, 2)))).toEqual([hashes[0]])
})

test('a body that was cut short on disk is written again', async () => {
  const blobs = openBlobFolder(home)
  const hash = await blobs.put('whole')
  await truncate(join(home, 'blobs', hash.slice(0, 2), hash), 2)
  await blobs.put('whole')
  expect(Buffer.from(await blobs.get(hash)).toString()).toBe('whole')
})

test('S-117 a missing body says so, and only hashes are taken', async () => {
  const blobs = openBlobFolder(home)
  await expect(blobs.get('a'.repeat(64))).rejects.toMatchObject({ code: 'file.not_found' })
  for (const odd of ['../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(64)}\n`])
    await expect(blobs.get(odd)).rejects.toMatchObject({ code: 'request.invalid' })
})

test('S-23 what comes in pieces is stored as one body, and nothing of it where its source fails', async () => {
  const blobs = openBlobFolder(home)
  const pieces = Array.from({ length: 40 }, (_, at) => Buffer.alloc(100_000, at))
  async function* given(failsAt = Infinity) {
    for (const [at, piece] of pieces.entries()) {
      if (at === failsAt) throw new Error('the source broke')
      yield piece
    }
  }
  const hash = await blobs.put(given())
  expect(hash).toBe(await blobs.put(Buffer.concat(pieces)))
  expect(await blobs.put(given())).toBe(hash)
  expect(await blobs.get(hash)).toEqual(Buffer.concat(pieces))
  await expect(blobs.put(given(7))).rejects.toMatchObject({ code: 'storage.failed' })
  const names = await readdir(join(home, 'blobs'), { recursive: true })
  expect(names.filter((name) => name.endsWith('.part'))).toEqual([])
})

test('S-23 a sweep takes what is old and unwanted; what is put again in that moment stays', async () => {
  const blobs = openBlobFolder(home)
  const [old, kept, fresh, again] = await Promise.all(['old', 'kept', 'fresh', 'again'].map((text) => blobs.put(text)))
  const age = async (hash: string): Promise<void> =>
    await utimes(join(home, 'blobs', hash.slice(0, 2), hash), 1_000, 1_000)
  for (const hash of [old!, kept!, again!]) await age(hash)

  const putting: Promise<string>[] = []
  const swept = await blobs.sweep(2_000_000, async () => {
    putting.push(blobs.put('again'))
    return new Set([kept!])
  })
  await Promise.all(putting)

  expect(swept).toEqual({ removed: 1, bytes: 3 })
  expect((await blobs.list()).map(({ hash }) => hash).sort()).toEqual([kept, fresh, again].sort())
})

/** The permission bits; where there are none, the ones asked for. */
async function modeOf(path: string, asked: number): Promise<number> {
  return process.platform === 'win32' ? asked : (await stat(path)).mode & 0o777
}
