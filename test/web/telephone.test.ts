// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { telephoneOf } from '../../web/src/ui/telephone.ts'

test('a call leaves out the zero that is dialled in the country alone', () => {
  const table: [string, string | null][] = [
    ['+49 (0)30 1234-56', 'tel:+4930123456'],
    ['+49(0)30/123456', 'tel:+4930123456'],
    ['0049 ( 0 ) 30 123456', 'tel:004930123456'],
    ['+49-(0)30/123456', 'tel:+4930123456'],
    ['(+49) (0)30 123456', 'tel:+4930123456'],
    ['+49 30 (0) 1', 'tel:+493001'],
    ['(0)30 123456', 'tel:030123456'],
    ['(030) 123456', 'tel:030123456'],
    ['+1 (555) 010-0100', 'tel:+15550100100'],
    ['*21#', 'tel:*21#'],
    ['none', null],
  ]
  for (const [text, address] of table) assert.equal(telephoneOf(text), address, text)
})
