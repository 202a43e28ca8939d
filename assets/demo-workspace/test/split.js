import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitBill, withTip } from '../src/split.js'

const sum = (shares) => shares.reduce((total, share) => total + share, 0)

test('an even bill has equal shares', () => {
  assert.deepEqual(splitBill(900, 3), [300, 300, 300])
})

test('no cent is lost when the bill does not divide evenly', () => {
  const shares = splitBill(1000, 3)
  assert.equal(sum(shares), 1000)
  assert.deepEqual(shares, [334, 333, 333])
})

test('a tip is rounded to whole cents', () => {
  assert.equal(withTip(1999, 15), 2299)
})
