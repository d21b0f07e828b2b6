// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customKey } from '../../web/src/imports/custom-key.ts'

test('a long header becomes a key of 64 characters, and no character is cut in two', () => {
  assert.equal(customKey('Region'), 'Region')
  const header = `${'x'.repeat(63)}😀😀`
  assert.equal(customKey(header), `${'x'.repeat(63)}😀`)
  assert.equal(customKey('😀'.repeat(70)), '😀'.repeat(64))
})
