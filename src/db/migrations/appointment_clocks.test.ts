// runs: both, apart
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch, settingsOf } from '../../../test/engine.ts'
import { writeZoneFolder } from '../../../test/zone-files.ts'
import { clockChanges } from '../../resources/appointments/clocks.ts'
import { setZoneFolder } from '../../zones/zones.ts'
import { transaction } from '../db.ts'
import { migrate } from '../migrate.ts'
import { appointmentClocks } from './0041_appointment_clocks.ts'
import { migrations } from './index.ts'

const hour = 3_600_000

test('appointments of before get the wall clock that the data of Node gave them, so newer rules show', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
  t.after(() => removeScratch(folder))
  const database = await openScratch(folder)
  await migrate(database, migrations.slice(0, migrations.indexOf(appointmentClocks)))
  const dates = sql`'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'`
  const at = (start: string) => sql`${`${start}:00.000Z`}, ${`${start}:59.000Z`}`
  await transaction(database.db, async (tx) => {
    await sql`INSERT INTO workspaces (id, name, created_at) VALUES (1, 'Old', '2026')`.execute(tx)
    await sql`INSERT INTO users (id, name, email, email_key, password_hash, time_zone, created_at, updated_at)
      VALUES ('usr_1', 'Ada', 'ada@example.com', 'ada@example.com', '', 'Asia/Kathmandu', '2026', '2026')`.execute(
      tx,
    )
    await sql`INSERT INTO booking_pages (id, workspace_id, slug, title, duration_minutes, buffer_minutes,
        minimum_notice_minutes, horizon_days, time_zone, availability, date_overrides, active, created_at, updated_at)
      VALUES (1, 1, 'demo', 'Demo', 30, 0, 0, 60, 'America/Chicago', '{}', '{}', 1, ${dates})`.execute(tx)
    const into = sql`INSERT INTO appointments
      (workspace_id, title, start_at, end_at, booking_page_id, owner_id, status, created_at, updated_at)`
    await sql`${into} VALUES
      (1, 'Winter', ${at('2040-01-10T15:00')}, 1, NULL, 'scheduled', ${dates}),
      (1, 'Summer', ${at('2040-07-10T14:00')}, 1, NULL, 'scheduled', ${dates}),
      (1, 'Own', ${at('2040-01-10T15:00')}, NULL, 'usr_1', 'scheduled', ${dates}),
      (1, 'Nobody', ${at('2040-01-10T15:00')}, NULL, NULL, 'scheduled', ${dates}),
      (1, 'Past', ${at('2020-01-10T15:00')}, 1, NULL, 'scheduled', ${dates})`.execute(tx)
  })
  await migrate(database)
  const { rows } = await sql<{ title: string; time_zone: string | null; utc_offset_minutes: number | null }>`
    SELECT title, time_zone, utc_offset_minutes FROM appointments ORDER BY id`.execute(database.db)
  assert.deepEqual(
    rows.map(({ title, time_zone, utc_offset_minutes }) => [title, time_zone, utc_offset_minutes]),
    [
      ['Winter', 'America/Chicago', -360],
      ['Summer', 'America/Chicago', -300],
      ['Own', 'Asia/Kathmandu', 345],
      ['Nobody', null, null],
      ['Past', null, null],
    ],
  )
  // Chicago stays in winter time.
  const changed = { first_ms: -6 * hour, changes: [], rule: 'CST6' }
  writeZoneFolder(join(folder, 'zones'), '2999a', { 'America/Chicago': changed })
  setZoneFolder(join(folder, 'zones'))
  const changes = await clockChanges(database.db, 1, '2030-01-01T00:00:00.000Z')
  assert.deepEqual(
    changes.map(({ title, start_at, kept_start_at }) => [title, start_at, kept_start_at]),
    [['Summer', '2040-07-10T14:00:00.000Z', '2040-07-10T15:00:00.000Z']],
  )
})
