import { expect, test } from 'vitest'
import { Slots } from './slots.ts'

test('T-21 more turns run as soon as more may; with fewer, none is begun in place of one that ends', async () => {
  let most = 1
  const slots = new Slots(() => most)
  const begun: string[] = []
  const never = new AbortController().signal
  const take = async (name: string, rank: number) => {
    const release = await slots.take(rank, never)
    begun.push(name)
    return release
  }
  const first = await take('first', 1)
  const others = [take('automatic', 1), take('person', 0), take('last', 1)] as const
  most = 2
  slots.fill()
  const person = await others[1]
  most = 3
  slots.fill()
  const automatic = await others[0]
  most = 1
  first()
  first()
  person()
  expect(slots.full).toBe(true)
  expect(begun).toEqual(['first', 'person', 'automatic'])
  automatic()
  const last = await others[2]
  last()
  expect([begun.at(-1), slots.full]).toEqual(['last', false])
})
