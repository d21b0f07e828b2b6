// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { highest_value, isExact, toUnits, units } from './decimal.ts'

test('every value of up to 4 decimals is stored exactly and comes back as the same number', () => {
  fc.assert(
    fc.property(fc.nat(99_999_999_999), fc.nat(9999), (whole, decimals) => {
      const value = Number(`${whole}.${String(decimals).padStart(4, '0')}`)
      assert.ok(isExact(value))
      assert.equal(toUnits(value), Number(`${whole}${String(decimals).padStart(4, '0')}`))
      assert.equal(Number(toUnits(value)) / units, value)
    }),
  )
  assert.equal(toUnits(highest_value), 999_999_999_999_999)
  assert.equal(toUnits(null), null)
})

test('a fifth decimal is seen, up to values where a double can hold one', () => {
  for (const value of [0.30000000000000004, 0.00001, 1e-7, 5e-324, 1.23456, 123_456_789.12345])
    assert.equal(isExact(value), false, String(value))
})
