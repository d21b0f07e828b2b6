// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ana, fieldOf, visitor } from '../booking.ts'
import { untilEqual, useWeb } from '../web.ts'

const web = useWeb()

const entry = (page: Page, title: string) =>
  page.locator('.calendar-grid .calendar-event').filter({ hasText: title })

test('a booking page is made and changed, visitors book on it, and the open calendar shows it by itself', async (t) => {
  const page = await web.open(t, '/booking-pages', { allow: /status of 422/ })
  await page.getByRole('heading', { name: 'Booking pages' }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create booking page' })
  await dialog.getByLabel('Title').waitFor()
  await page.keyboard.type('Größere Führung')
  await untilEqual(() => dialog.getByLabel('Address').inputValue(), 'grossere-fuhrung')
  await dialog.getByLabel('Address').fill('tour')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Größere Führung' }).waitFor()

  // A preview of the public page is beside it.
  const preview = page.frameLocator('iframe')
  await preview.getByRole('heading', { name: 'Größere Führung' }).waitFor()
  await untilEqual(() => page.locator('iframe').getAttribute('sandbox'), '')
  assert.equal(await preview.locator('script').count(), 0)
  // Its style is there, and its months and days are links.
  const width = await preview
    .locator('main')
    .evaluate((main) => main.ownerDocument.defaultView?.getComputedStyle(main).maxWidth)
  assert.equal(width, '704px')
  const from = page.getByLabel('Monday, from')
  await untilEqual(() => from.inputValue(), '09:00')
  await from.fill('18:00')
  await page.getByLabel('Duration in minutes').fill('4')
  await page.getByRole('button', { name: 'Save changes' }).click()
  // The service is heard at the fields.
  await page.getByText('The end must be after the start.').waitFor()
  await page.getByText(/This must be (from|at least) 5/).waitFor()
  await from.fill('10:00')
  await page.getByLabel('Duration in minutes').fill('45')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  await preview.getByText('45 minutes').waitFor()
  const { id, availability, duration_minutes } = (await web.read('/booking-pages?sort=-created_at'))[0]
  assert.deepEqual(availability.monday, [{ from: '10:00', to: '17:00' }])
  assert.equal(duration_minutes, 45)

  const [{ start_at: slot }] = await web.read(`/booking-pages/${id}/slots`)
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date(slot))
  // From when the page hears of changes elsewhere.
  const listening = page.waitForResponse(/events\/stream/)
  await page.goto(`${web.rapport.url}/calendar?show=week&date=${day}`)
  await page.getByText('Times in Europe/Berlin').waitFor()
  await listening
  await untilEqual(() => entry(page, 'Größere Führung').count(), 0)
  const { get, post } = visitor(web.rapport.url)
  const form = await get(`/book/tour?slot=${encodeURIComponent(slot)}`)
  const fields = Object.fromEntries(
    ['slot', 'minutes', 'zone'].map((name) => [name, fieldOf(form.text, name)]),
  )
  const booked = await post('/book/tour', { ...fields, ...ana, slot })
  assert.equal(booked.status, 303, booked.text)
  await entry(page, 'Größere Führung').waitFor()

  await entry(page, 'Größere Führung').focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('article', { name: 'Größere Führung' })
  await panel.getByRole('link', { name: 'Ana Ruiz' }).waitFor()
  await panel.getByRole('link', { name: 'Größere Führung' }).waitFor()
})

test('what is written on a booking page outlives other pages, and takes back nothing that a colleague has saved', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'shared',
    title: 'Shared',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`)
  await page.getByLabel('Description').fill('Bring a map')
  await page.getByRole('link', { name: 'Contacts' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  await web.rapport.call('PUT', `/api/v1/booking-pages/${id}`, { title: 'Renamed', duration_minutes: 45 })
  await page.goto(`${web.rapport.url}/booking-pages/${id}`)
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  assert.equal(await page.getByLabel('Description').inputValue(), 'Bring a map')
  await untilEqual(() => page.getByLabel('Duration in minutes').inputValue(), '45')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const { title, description, duration_minutes } = await web.read(`/booking-pages/${id}`)
  assert.deepEqual([title, description, duration_minutes], ['Renamed', 'Bring a map', 45])
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
})

test('how much visitors may book, and whether somebody answers first, is set on the booking page', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'limited',
    title: 'Limited',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/ })
  await page.getByLabel('Bookings are requests that somebody accepts').check()
  const numbers = {
    'Open bookings of one e-mail, at most': '2',
    'Bookings a day from one network, at most': '5',
    'Bookings an hour in all, at most': '0',
  }
  for (const [label, value] of Object.entries(numbers)) await page.getByLabel(label).fill(value)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText(/from 1 to 10,?000|at least 1/).waitFor()
  await page.getByLabel('Bookings an hour in all, at most').fill('20')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const saved = await web.read(`/booking-pages/${id}`)
  assert.deepEqual(
    [
      saved.approval,
      saved.open_bookings_per_email,
      saved.bookings_per_address_per_day,
      saved.bookings_per_hour,
    ],
    [true, 2, 5, 20],
  )
})
