import { describe, expect, test } from 'vitest'
import { cleanTitle, fallbackTitle, provisionalTitle } from './titles.ts'

describe('T-168 the first words at once', () => {
  test.each([
    ['Fix the cart', 'Fix the cart'],
    ['\n\n  # Fix *the* cart\nand more', 'Fix the cart'],
    ['- see [the guide](https://example.org/guide) first', 'see the guide first'],
    [`${'word '.repeat(30)}`, 'word word word word word word word word word word word word'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('%j', (text, title) => {
    expect(provisionalTitle(text, [])).toEqual({ title, titleSource: 'provisional' })
  })
  test('of a message of files alone, the name of the first; of nothing, no title', () => {
    const file = { name: 'trace.log', mediaType: 'text/plain', bytes: 1, hash: 'a'.repeat(64) }
    expect(provisionalTitle('', [file])).toMatchObject({ title: 'trace.log' })
    expect(provisionalTitle('  \n', [])).toEqual({})
  })
})

describe('T-171 a title a model wrote', () => {
  test.each([
    ['The User Guide', 'The User Guide'],
    ['User Authentication Bug', 'User Authentication Bug'],
    ['<think>They want a title</think>\n\nResumable uploads', 'Resumable uploads'],
    ['Title: Resumable uploads', 'Resumable uploads'],
    ['**Title:** "Resumable   uploads"', 'Resumable uploads'],
    ['# «Reprise des envois»', 'Reprise des envois'],
    ['`npm test` fails', 'npm test fails'],
    ['Thanks to the parser', 'Thanks to the parser'],
    ['I/O errors in the cart', 'I/O errors in the cart'],
    ['', null],
    ['<think>never closed', null],
    ['Sure!', null],
    ['OK.', null],
    ['I will name it uploads', null],
    ["I'll help with that", null],
    ['The user wants to resume uploads', null],
  ])('%j', (reply, title) => {
    expect(cleanTitle(reply)).toBe(title)
  })
  test('is at most 80 characters, cut at a word', () => {
    const title = cleanTitle('resumable uploads '.repeat(10))!
    expect(title.length).toBeLessThanOrEqual(80)
    expect(title).toMatch(/(resumable|uploads)$/)
  })
})

describe('T-172 what stands where no model helped', () => {
  test.each([
    ['Fix the cart so that it adds up. Then test it.', 'Fix the cart that'],
    ['Cart cart CART total', 'Cart total'],
    ['Wie geht es der Müller-Methode?', 'Wie geht der Müller'],
    ['\n\n  # Fix the cart\nand more', 'Fix the cart'],
    ['---\nUpgrade Node', 'Upgrade Node'],
    ['修复购物车的总价计算。然后测试', '修复购物车的'],
    ['カートの合計を直して', 'カートの合計を'],
    ['שלום לך עולם של קוד', 'שלום עולם קוד'],
    ['اصلح سلة المشتريات من فضلك', 'اصلح سلة المشتريات فضلك'],
    ['a b c', null],
    ['', null],
  ])('%j', (text, title) => {
    const made = fallbackTitle(text)
    expect(made).toBe(title)
  })
  test('is at most 60 characters', () => {
    expect(fallbackTitle(`${'abcdefghij'.repeat(3)} ${'klmnopqrst'.repeat(3)} word`)!.length).toBeLessThanOrEqual(60)
  })
})
