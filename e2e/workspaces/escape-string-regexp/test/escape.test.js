import assert from 'node:assert/strict'
import { test } from 'node:test'
import escapeStringRegexp from '../index.js'

test('escapes what means something in a pattern', () => {
  assert.equal(escapeStringRegexp('\\ ^ $ * + ? . ( ) | { } [ ]'), '\\\\ \\^ \\$ \\* \\+ \\? \\. \\( \\) \\| \\{ \\} \\[ \\]')
})

test('escapes the dash, also for patterns with the u flag', () => {
  assert.equal(escapeStringRegexp('foo - bar'), 'foo \\x2d bar')
  assert.match('-', new RegExp(escapeStringRegexp('-'), 'u'))
})
