// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phoneFilter } from '../../web/src/app/phone-filter.ts'

const finds = (typed: string, stored: string) =>
  phoneFilter(typed)?.split(',').includes(stored.replaceAll(/\D/g, '')) ?? false

test('a typed telephone number finds the same number, with and without its calling code', () => {
  for (const typed of ['+49 (30) 123-4567', '0049 30 1234567', '030/123.4567', '030 1234567'])
    for (const stored of ['+49 30 1234567', '030 1234567'])
      assert.ok(finds(typed, stored), `${typed}: ${stored}`)
  // A stored number that begins with 00 is found by its calling code only.
  assert.ok(finds('+49 (30) 123-4567', '0049301234567'))
  assert.ok(!finds('030 1234567', '0049301234567'))
  assert.ok(finds('910 55 01 42', '+34 910 55 01 42'))
  assert.ok(finds('+1 202 555 0143', '(202) 555-0143'))
  assert.ok(!finds('030 1234567', '+49 40 1234567'))
})

test('a 0 in parentheses after the calling code counts as written, and as left out', () => {
  for (const typed of ['+49 (0)30 1234567', '0049 (0) 30 1234567', '(+49) (0)30 1234567'])
    for (const stored of ['+49 30 1234567', '030 1234567', '+49 (0)30 1234567'])
      assert.ok(finds(typed, stored), `${typed}: ${stored}`)
  for (const typed of ['+49 30 1234567', '030 1234567']) assert.ok(finds(typed, '+49 (0)30 1234567'), typed)
})

test('an Italian number keeps its 0 after the calling code', () => {
  assert.ok(finds('06 1234567', '+39 06 1234567'))
  assert.ok(finds('+39 06 1234567', '06 1234567'))
  assert.ok(finds('+39 06 1234567', '+39 06 1234567'))
})

test('a number has 6 to 15 digits, without its + or 00', () => {
  for (const number of ['+123456', '123456', '123456789012345', '+123456789012345', '00123456789012345'])
    assert.ok(finds(number, number), number)
  for (const text of ['+12345', '12345', '1234567890123456', '+1234567890123456', '001234567890123456'])
    assert.equal(phoneFilter(text), null, text)
})

test('texts that are not telephone numbers, and beginnings of one, are not looked for', () => {
  for (const text of ['', '030', 'Room 030123456', '12.5k', '+', 'Müller'])
    assert.equal(phoneFilter(text), null)
})

test('the filter has at most 100 values, as the API allows', () => {
  assert.ok((phoneFilter('0301234567') ?? '').split(',').length <= 100)
})
