// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { work_kinds } from '../db/work-table.ts'
import { jobs } from './jobs.ts'

test('every job has its period, its role and its line in ARCHITECTURE.md', () => {
  const list = jobs({ durability: {}, config: {}, mailer: {}, poller: {} } as never)
  const second = 1000
  const hour = 3600 * second
  assert.deepEqual(
    list.map(({ name, first_ms, every_ms, role = null, held = null }) => [
      name,
      first_ms,
      every_ms,
      role,
      held,
    ]),
    [
      ['service clock', 10 * second, 10 * second, null, null],
      ['durability', hour, hour, null, null],
      ['zone data', second, hour, null, null],
      ['statistics', 2 * second, 2 * second, 'dispatcher', null],
      ...work_kinds.map((kind) => [`work: ${kind}`, 0, second, 'dispatcher', null]),
      ['imports', 0, second, 'dispatcher', null],
      ['mails 1', 0, second, 'dispatcher', null],
      ['mails 2', 0, second, 'dispatcher', null],
      ['busy calendars', second, second, 'dispatcher', null],
      ['stale calendars', 5 * second, 10 * second, 'dispatcher', null],
      ['pending mails', 5 * second, 60 * second, 'dispatcher', null],
      ['daily digests', 5 * second, 60 * second, 'dispatcher', 'waits'],
      ['booking reminders', 2 * second, 5 * second, 'dispatcher', 'waits'],
      ['bookings', 10 * second, 60 * second, 'dispatcher', 'waits'],
      ['delivery log', 10 * second, hour, 'dispatcher', 'waits'],
      ['mail log', 15 * second, hour, 'dispatcher', 'waits'],
      ['trash', 15 * second, hour, 'dispatcher', 'waits'],
      ['interrupted erasures', 15 * second, hour, 'dispatcher', 'runs'],
      ['old merges', 20 * second, hour, 'dispatcher', 'waits'],
      ['old imports', 20 * second, hour, 'dispatcher', 'waits'],
      ['notifications', 20 * second, hour, 'dispatcher', 'waits'],
      ['people', 20 * second, hour, 'dispatcher', 'waits'],
      ['audit log', 25 * second, hour, 'dispatcher', 'waits'],
    ],
  )
  const text = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const [, table = ''] = /\n\| Job \|.*\n.*\n((?:\|.*\n)+)/.exec(text) ?? []
  const described = table.matchAll(/^\| ([^|]+) \|/gm)
  assert.deepEqual(
    Array.from(described, ([, name]) => name),
    [...new Set(list.map(({ name }) => name.replace(/^work: .*/, 'work').replace(/^mails \d$/, 'mails')))],
  )
})
