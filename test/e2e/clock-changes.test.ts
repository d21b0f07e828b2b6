// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { openScratch } from '../engine.ts'
import { checkScreen, phone, untilEqual, useWeb } from '../web.ts'

const web = useWeb()

let pages = 0
/** An appointment that was agreed by other rules of its zone: an hour earlier on the wall clock. */
async function moved(title: string, start_at: string): Promise<number> {
  const page = { slug: `moved-${++pages}`, title, time_zone: 'America/Winnipeg' }
  const booking_page_id = await web.create('/booking-pages', page)
  const end_at = new Date(Date.parse(start_at) + 1_800_000).toISOString()
  const id = await web.create('/appointments', { title, start_at, end_at, booking_page_id })
  const database = await openScratch(web.rapport.data_dir)
  const offset = sql`UPDATE appointments SET utc_offset_minutes = utc_offset_minutes - 60 WHERE id = ${id}`
  await transaction(database.db, (tx) => offset.execute(tx))
  await database.close()
  return id
}

const startOf = async (id: number) => (await web.read(`/appointments/${id}`)).start_at

test('appointments that new rules of a zone moved are listed above the calendar, and keep their wall clock together', async (t) => {
  const first = await moved('Demo', '2031-03-05T15:00:00.000Z')
  const second = await moved('Review', '2031-03-06T15:00:00.000Z')
  const page = await web.open(t, '/calendar?show=week&date=2031-03-05')
  const note = page.getByRole('alert').filter({ hasText: 'New rules of a time zone move 2 appointments' })
  await note.getByText('now 5 Mar 2031, 16:00, agreed for 5 Mar 2031, 15:00').waitFor()
  await page.locator('.calendar-grid').waitFor()
  await checkScreen(page)
  await note.getByRole('button', { name: 'Keep the wall clock' }).click()
  await page.getByText('2 appointments are settled').waitFor()
  await untilEqual(() => note.count(), 0)
  assert.equal(await startOf(first), '2031-03-05T14:00:00.000Z')
  assert.equal(await startOf(second), '2031-03-06T14:00:00.000Z')
})

test('an appointment can also keep its time, on a phone', async (t) => {
  const id = await moved('Visit', '2031-04-02T15:00:00.000Z')
  const page = await web.open(t, '/calendar?show=list&date=2031-04-02', phone)
  const note = page.getByRole('alert').filter({ hasText: 'New rules of a time zone move 1 appointment' })
  await note.waitFor()
  await checkScreen(page)
  await note.getByRole('button', { name: 'Keep the time' }).click()
  await untilEqual(() => note.count(), 0)
  assert.equal(await startOf(id), '2031-04-02T15:00:00.000Z')
})
