// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

const appointment = (title: string, start_at: string, end_at: string) =>
  web.create('/appointments', { title, start_at, end_at })
const timesOf = async (id: number) => {
  const { start_at, end_at } = await web.read(`/appointments/${id}`)
  return [start_at, end_at]
}
// In Berlin, 30 March has 23 hours, and 26 October has 25.
const short_day = ['2031-03-29T23:00:00.000Z', '2031-03-30T22:00:00.000Z']
const long_day = ['2031-10-25T22:00:00.000Z', '2031-10-26T23:00:00.000Z']

/** Drags an entry above the hours to a day of the same week. */
async function dragTo(page: Page, title: string, day: string) {
  const what = page.locator('.calendar-whole').filter({ hasText: title })
  const [box, to] = await Promise.all([
    what.boundingBox(),
    page.locator(`[data-whole="${day}"]`).boundingBox(),
  ])
  assert.ok(box && to)
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + 20, y)
  await page.mouse.down()
  await page.mouse.move(box.x + 60, y)
  await page.mouse.move(to.x + 20, y)
  await page.mouse.up()
}

test('a whole day that is dragged to a clock change is still from midnight to midnight', async (t) => {
  const fair = await appointment('Fair', '2031-03-27T23:00:00Z', '2031-03-28T23:00:00Z')
  const page = await web.open(t, '/calendar?show=week&date=2031-03-28')
  await dragTo(page, 'Fair', '2031-03-30')
  await page.getByText(/Fair is now/).waitFor()
  assert.deepEqual(await timesOf(fair), short_day)
  const stay = await appointment('Stay', '2031-10-23T22:00:00Z', '2031-10-24T22:00:00Z')
  await visit(page, '/calendar?show=week&date=2031-10-24')
  await dragTo(page, 'Stay', '2031-10-26')
  await page.getByText(/Stay is now/).waitFor()
  assert.deepEqual(await timesOf(stay), long_day)
})

test('a whole day gets a start on a clock change, on its page and in the dialog, and ends at midnight', async (t) => {
  const id = await appointment('Holiday', '2031-03-20T23:00:00Z', '2031-03-21T23:00:00Z')
  const page = await web.open(t, `/calendar/${id}`)
  await page.getByRole('button', { name: 'Start: Edit' }).click()
  const start = page.getByRole('textbox', { name: 'Start' })
  await start.fill('2031-03-30T00:00')
  await start.press('Enter')
  await untilEqual(() => timesOf(id), short_day)

  await visit(page, '/calendar?show=week&date=2031-03-30')
  await page.getByRole('button', { name: 'Create appointment' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create appointment' })
  const write = async (label: string, wall: string) => {
    await dialog.getByRole('textbox', { name: label }).fill(wall)
    await page.keyboard.press('Tab')
  }
  await write('Start', '2031-10-20T00:00')
  await write('End', '2031-10-21T00:00')
  await write('Start', '2031-10-26T00:00')
  await untilEqual(() => dialog.getByRole('textbox', { name: 'End' }).inputValue(), '27/10/2031 00:00')
})

test('a whole day that moves to a day without a midnight ends with that day', async (t) => {
  const session = await joinAs(web.rapport, 'carla@example.test', 'admin', { time_zone: 'America/Santiago' })
  const id = await appointment('Feriado', '2031-08-20T04:00:00Z', '2031-08-21T04:00:00Z')
  const page = await web.open(t, `/calendar/${id}`, { session })
  await page.getByRole('button', { name: 'Start: Edit' }).click()
  const start = page.getByRole('textbox', { name: 'Start' })
  // In Santiago, 7 September begins at 1:00.
  await start.fill('2031-09-07T00:00')
  await start.press('Enter')
  await untilEqual(() => timesOf(id), ['2031-09-07T04:00:00.000Z', '2031-09-08T03:00:00.000Z'])
})

test('a conflict about guests names them', async (t) => {
  const [ann, bea, cem] = await Promise.all(
    ['Ann', 'Bea', 'Cem'].map((first_name) => web.create('/contacts', { first_name, last_name: 'Guest' })),
  )
  const times = { start_at: '2031-06-02T08:00:00Z', end_at: '2031-06-02T09:00:00Z' }
  const id = await web.create('/appointments', { title: 'Lunch', ...times, guest_ids: [ann, bea] })
  const page = await web.open(t, `/calendar/${id}`, { reusable: false, allow: /status of 412/ })
  let is_first = true
  await page.route(`**/api/v1/appointments/${id}`, async (route) => {
    if (route.request().method() === 'PUT' && is_first) {
      is_first = false
      await web.rapport.call('PUT', `/api/v1/appointments/${id}`, { guest_ids: [ann, bea, cem] })
    }
    await route.continue()
  })
  await page.getByRole('button', { name: 'Remove the guest Bea Guest' }).click()
  const clash = page.getByRole('dialog').getByRole('row', { name: /^Guests/ })
  await untilEqual(
    () => clash.getByRole('cell').allInnerTexts(),
    ['Ann Guest, Bea Guest, Cem Guest', 'Ann Guest'],
  )
  await page.getByRole('button', { name: 'Use mine' }).click()
  await untilEqual(async () => (await web.read(`/appointments/${id}`)).guest_ids, [ann])
})

test('a time at which a host is busy elsewhere is refused with this reason, where an appointment is moved', async (t) => {
  const [{ id: user_id }] = await web.read('/members')
  const fields = { time_zone: 'Europe/Berlin', hosts: [{ user_id }] }
  const [one, other] = await Promise.all(
    ['one', 'other'].map((slug) => web.create('/booking-pages', { ...fields, slug, title: slug })),
  )
  const at = (hour: string) => ({
    start_at: `2031-06-03T${hour}:00:00Z`,
    end_at: `2031-06-03T${hour}:30:00Z`,
  })
  await web.create('/appointments', { title: 'Audit', ...at('08'), booking_page_id: other })
  const id = await web.create('/appointments', { title: 'Demo', ...at('10'), booking_page_id: one })
  const page = await web.open(t, `/calendar/${id}`, { allow: /status of 409/ })
  await page.getByRole('button', { name: 'Start: Edit' }).click()
  const start = page.getByRole('textbox', { name: 'Start' })
  await start.fill('2031-06-03T10:00')
  await start.press('Enter')
  await page.getByText('No host of the booking page is free at this time.').first().waitFor()
  assert.equal((await web.read(`/appointments/${id}`)).start_at, '2031-06-03T10:00:00.000Z')
})
