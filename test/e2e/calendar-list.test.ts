// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { phone, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()
const no_appointments = 'No appointments in this time.'

const appointment = (title: string, start_at: string, end_at: string, more = {}) =>
  web.create('/appointments', { title, start_at, end_at, ...more })

const entry = (page: Page, title: string) =>
  page.locator('.calendar-grid .calendar-event').filter({ hasText: title })

test('the list of a month without appointments offers to create one, except to somebody who may not', async (t) => {
  const nothing = (page: Page) => page.locator('.calendar-grid').getByText(no_appointments)
  const page = await web.open(t, '/calendar?show=list&date=2041-05-01')
  await nothing(page).locator('..').getByRole('button').click()
  await page.getByRole('dialog', { name: 'Create appointment' }).waitFor()
  const session = await joinAs(web.rapport, 'rosa@example.test', 'read_only', {
    name: 'Rosa',
    language: 'en',
  })
  const read_only = await web.open(t, '/calendar?show=list&date=2041-05-01', { session })
  await nothing(read_only).waitFor()
  assert.equal(await read_only.getByRole('button', { name: /Create/ }).count(), 0)
})

test('a list says that it has no appointments only when they have been read', async (t) => {
  const page = await web.open(t, null, { reusable: false, allow: /400/ })
  const held: Route[] = []
  await page.route(/\/appointments\?/, (route) => {
    held.push(route)
  })
  const nothing = page.getByText(no_appointments)
  const answerHeld = async () => {
    for (const route of held.splice(0)) await route.continue()
  }
  await page.goto(`${web.rapport.url}/calendar?show=list&date=2042-05-01`)
  await page.locator('.calendar-grid').waitFor()
  assert.equal(await nothing.count(), 0, 'before the first answer')
  await answerHeld()
  await nothing.waitFor()
  await page.getByRole('button', { name: 'Later' }).click()
  await page.locator('.calendar-title').getByText('June 2042').waitFor()
  await nothing.waitFor({ state: 'detached' })
  await answerHeld()
  await nothing.waitFor()
  await page.unroute(/\/appointments\?/)
  await page.route(/\/appointments\?/, (route) => route.fulfill({ status: 400, json: {} }))
  await page.getByRole('button', { name: 'Later' }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  assert.equal(await nothing.count(), 0, 'after an error')
})

test('a list says that the activities cannot be read, and is not empty before they are', async (t) => {
  const page = await web.open(t, '/calendar?show=list&date=2043-05-01', { reusable: false, allow: /400/ })
  const nothing = page.getByText(no_appointments)
  await nothing.waitFor()
  const held: Route[] = []
  await page.route(/\/activities\?.*due_from/, (route) => {
    held.push(route)
  })
  await page.getByRole('button', { name: 'Later' }).click()
  await page.locator('.calendar-title').getByText('June 2043').waitFor()
  await nothing.waitFor({ state: 'detached' })
  await untilEqual(async () => held.length, 1)
  await held.pop()?.continue()
  await nothing.waitFor()
  await page.unroute(/\/activities\?.*due_from/)
  await page.route(/\/activities\?.*due_from/, (route) => route.fulfill({ status: 400, json: {} }))
  await page.getByRole('button', { name: 'Later' }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  assert.equal(await nothing.count(), 0, 'after an error')
})

test('a list with more activities than it draws says so', async (t) => {
  const due = { type: 'call', subject: 'Ring', due_at: '2044-05-03T08:00:00Z' }
  const items = Array.from({ length: 1000 }, () => ({ op: 'create', data: due }))
  const { status } = await web.rapport.call('POST', '/api/v1/activities/batch', { items })
  assert.equal(status, 200)
  await web.create('/activities', due)
  const page = await web.open(t, '/calendar?show=list&date=2044-05-01')
  await page.getByText('Only the first 1,000 are shown.').waitFor()
})

test('the list of a month begins with the day, which the calendar marks', async (t) => {
  for (let day = 1; day < 28; day++) {
    const date = `2031-11-${String(day).padStart(2, '0')}`
    await appointment(`Visit ${day}`, `${date}T09:00:00Z`, `${date}T10:00:00Z`)
  }
  const page = await web.open(t, '/calendar?show=list&date=2031-11-20', phone)
  await entry(page, 'Visit 20').waitFor()
  const places = await Promise.all(
    ['Visit 19', 'Visit 20'].map(async (title) => (await entry(page, title).boundingBox())?.y ?? 0),
  )
  const { y: top = 0 } = (await page.locator('.calendar-grid').boundingBox()) ?? {}
  const [before, on_day] = places as [number, number]
  assert.ok(before < top && on_day > top && on_day < top + 120, `${places} from ${top}`)
  await visit(page, '/calendar?show=day')
  await page.locator('.calendar-grid .calendar-today').first().waitFor()
})

test('at the end of a month, the list goes on with the days after it', async (t) => {
  await appointment('Last day', '2032-01-31T09:00:00Z', '2032-01-31T10:00:00Z')
  await appointment('Next month', '2032-02-20T09:00:00Z', '2032-02-20T10:00:00Z')
  const page = await web.open(t, '/calendar?show=list&date=2032-01-31', phone)
  await entry(page, 'Last day').waitFor()
  await entry(page, 'Next month').waitFor()
  await page.getByRole('button', { name: 'Later' }).click()
  await page.waitForURL(/date=2032-02-01/)
})

test('with a filter that leaves few appointments, the list has twelve months, over the turn of a year', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Zoë', last_name: 'Winterbottom' })
  for (const [title, day] of [
    ['First call', '2031-08-04'],
    ['Demo', '2031-12-30'],
    ['Signing', '2032-01-05'],
  ] as const)
    await appointment(title, `${day}T09:00:00Z`, `${day}T10:00:00Z`, { contact_id })
  const page = await web.open(t, `/calendar?contact_id=${contact_id}&date=2031-12-30`)
  await page.getByText(/Jul 2031\s–\sJun 2032/).waitFor()
  for (const title of ['First call', 'Demo', 'Signing']) await entry(page, title).waitFor()
  await page.getByRole('button', { name: 'Later' }).click()
  await page.getByText(/Jul 2032\s–\sJun 2033/).waitFor()
  await page.getByText('No appointments match.').waitFor()
  await page.getByRole('button', { name: 'Earlier' }).click()
  await entry(page, 'Signing').waitFor()
})

test('on a phone, a line keeps an appointment that the edge of the list cuts from the time zone below it', async (t) => {
  const page = await web.open(t, '/calendar?show=list', phone)
  const line = await page
    .locator('.calendar-note')
    .evaluate((note) => note.ownerDocument.defaultView?.getComputedStyle(note).borderTopWidth)
  assert.equal(line, '1px')
})
