// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksum } from '../migrate.ts'
import { migrations } from './index.ts'

// The first 16 digits of the checksums that databases keep: SQLite, PostgreSQL. Add a line at each release. The baseline has
// the migrations 0001 to 0019 of version 0.1.0, whose database test/released/ migrates.
const released: Record<string, [sqlite: string, postgres: string]> = {
  '0019_baseline': ['45b40e7911d99ebb', '00b07e9420174038'],
}

test('a released migration never changes: databases that ran it still start', () => {
  const engines = ['sqlite', 'postgres'] as const
  const now = migrations.map(({ name, statements }) => [
    name,
    engines.map((engine) => checksum(statements(engine)).slice(0, 16)),
  ])
  assert.deepEqual(Object.fromEntries(now.slice(0, Object.keys(released).length)), released)
})
