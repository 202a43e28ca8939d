const assert = require('node:assert/strict')
const { test } = require('node:test')
const compare = require('../index.js')

test('equal versions are equal', () => {
  assert.equal(compare('1.2.3', '1.2.3'), 0)
})

test('parts are compared as numbers', () => {
  assert.equal(compare('1.10.0', '1.9.0'), 1)
  assert.equal(compare('2.0.0', '10.0.0'), -1)
})

test('sorts', () => {
  const versions = ['1.2.3', '10.5.5', '4.11.6', '4.2.0', '1.5.19']
  assert.deepEqual(versions.sort(compare), ['1.2.3', '1.5.19', '4.2.0', '4.11.6', '10.5.5'])
})
