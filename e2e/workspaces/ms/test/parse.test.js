const assert = require('node:assert/strict')
const { test } = require('node:test')
const ms = require('../index.js')

test('parses seconds, minutes and days', () => {
  assert.equal(ms('1s'), 1000)
  assert.equal(ms('2.5 minutes'), 150000)
  assert.equal(ms('1 day'), 86400000)
})

test('parses hours', () => {
  assert.equal(ms('2h'), 7200000)
  assert.equal(ms('-1.5 hours'), -5400000)
})

test('formats what it parses', () => {
  assert.equal(ms(ms('10h')), '10h')
  assert.equal(ms(60000, { long: true }), '1 minute')
})
