// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fixedCells, readSection } from './reliability.ts'
import { faults } from './table.ts'

const sourceOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

test('each fault has a number of its own, and tests that exist under these names', () => {
  assert.equal(new Set(faults.map(({ number }) => number)).size, faults.length)
  const open = faults.filter(({ tests }) => !Object.keys(tests).length).map(({ number }) => number)
  assert.deepEqual(open, [], 'faults without a test')
  for (const { number, tests } of faults) {
    for (const [file, names] of Object.entries(tests))
      for (const name of names) {
        // A name in a template has values in it, which the table leaves out.
        const source = sourceOf(file)
          .replaceAll(/\$\{[^}]*(\{[^}]*\}[^}]*)*\}/g, '…')
          .replaceAll("\\'", "'")
        const found = [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => source.includes(quoted))
        assert.ok(found, `${file} has no test '${name}' of fault ${number}`)
      }
  }
})

test('the page of reliability has the faults, promises and tests of the table', () => {
  const rows = readSection('faults').slice(2)
  assert.equal(rows.length, faults.length)
  for (const [at, fault] of faults.entries())
    assert.ok(
      rows[at]?.startsWith(`${fixedCells(fault)} `),
      `fault ${fault.number}: npm run faults -- --write`,
    )
})
