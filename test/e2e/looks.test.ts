// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: the page's own world
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { colour, phone, useWeb } from '../web.ts'

const web = useWeb()

const styleOf = (one: Locator, name: string): Promise<string> =>
  one.evaluate((element, name) => (globalThis as any).getComputedStyle(element)[name], name)
const widthOf = async (one: Locator) => (await one.boundingBox())?.width ?? 0

test('in the dark, the track of a switch between views differs from the page', async (t) => {
  const page = await web.open(t, '/deals')
  await colour(page, 'dark')
  const track = page.locator('.mantine-SegmentedControl-root').first()
  await track.waitFor()
  const around = await styleOf(page.locator('body'), 'backgroundColor')
  assert.notEqual(await styleOf(track, 'backgroundColor'), around)
})

test('where there is little room, as at a zoom of 200%, the rail has signs alone, until somebody opens it', async (t) => {
  const page = await web.open(t, '/contacts', { viewport: { width: 720, height: 450 }, reusable: false })
  const rail = page.locator('.rail')
  await rail.waitFor()
  assert.ok((await widthOf(rail)) < 60)
  await rail.getByRole('button', { name: 'Expand the navigation' }).click()
  await rail.getByText('Contacts', { exact: true }).waitFor()
  await page.reload()
  await rail.getByText('Contacts', { exact: true }).waitFor()
})

test('the e-mail of a contact gets the room that other columns leave', async (t) => {
  await web.create('/contacts', { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.test' })
  const page = await web.open(t, '/contacts', { viewport: { width: 1900, height: 900 }, reusable: false })
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
  await head('E-mail').waitFor()
  assert.ok((await widthOf(head('E-mail'))) > 500)
  assert.ok(Math.abs((await widthOf(head('Company'))) - 160) < 2)
})

test('the website of a company and the time of a delivery on a phone are whole', async (t) => {
  const website = 'https://lantern-festival.example'
  const id = await web.create('/companies', { name: 'Lantern Festival', website })
  const page = await web.open(t, '/companies', { viewport: { width: 1440, height: 900 } })
  const link = page.getByRole('link', { name: 'lantern-festival.example' })
  await link.waitFor()
  const cut = (cell: Locator) => cell.evaluate((one: any) => one.scrollWidth > one.clientWidth)
  assert.equal(await cut(page.locator('td', { has: link })), false)
  // An action with a word, as the others.
  const record = await web.open(t, `/companies/${id}`)
  await record.locator('.record-line').getByText('Website', { exact: true }).waitFor()

  const events = ['company.updated']
  await web.create('/webhooks', { url: 'http://127.0.0.1:9/', events })
  await web.rapport.call('PUT', `/api/v1/companies/${id}`, { industry: 'Lights' })
  const log = await web.open(t, '/settings/deliveries', phone)
  const time = log.locator('.delivery-log tbody time').first()
  await time.waitFor()
  assert.ok(((await time.boundingBox())?.height ?? 99) < 24)
})

test('cards round their amounts, and have no line for a company that is not there', async (t) => {
  const id = await web.create('/deals', { name: 'Odd sum', value: 1234.5 })
  const page = await web.open(t, '/deals')
  const card = page.locator(`[data-deal="${id}"]`)
  const amount = card.getByText('€1,235', { exact: true })
  await amount.waitFor()
  assert.equal(await amount.getAttribute('title'), '€1,234.50')
  // Both in one turn of the page: a card that is drawn again has no box for a moment.
  const gap = await card.evaluate((element) => {
    const bottom = element.querySelector('.card-name')?.getBoundingClientRect().bottom ?? Number.NaN
    const foot = [...element.querySelectorAll('[title]')].find(({ textContent }) => textContent === '€1,235')
    return (foot?.getBoundingClientRect().top ?? Number.NaN) - bottom
  })
  assert.ok(gap < 12, `${gap} px`)
})

test('an empty fact shows its dash only while the pointer or the focus is on it', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Empty', last_name: 'Facts' })
  const page = await web.open(t, `/contacts/${id}`)
  for (const name of ['Mobile', 'Company']) {
    const field = page.locator('.field', { hasText: name })
    await field.waitFor()
    assert.equal(await styleOf(field.locator('.field-none'), 'visibility'), 'hidden')
    await field.hover()
    assert.equal(await styleOf(field.locator('.field-none'), 'visibility'), 'visible')
  }
})

test('in the list of the calendar, titles of activities and appointments begin at one place', async (t) => {
  const day = '2033-05-10'
  await web.create('/activities', { subject: 'Of a task', type: 'task', due_at: `${day}T09:00:00Z` })
  const times = { start_at: `${day}T10:00:00Z`, end_at: `${day}T11:00:00Z` }
  await web.create('/appointments', { title: 'Of a meeting', ...times })
  const page = await web.open(t, `/calendar?show=list&date=${day}`)
  const leftOf = async (title: string) => {
    const name = page.locator('.calendar-list .calendar-name', { hasText: title })
    return (await name.boundingBox())?.x
  }
  await page.getByText('Of a meeting').waitFor()
  assert.equal(await leftOf('Of a task'), await leftOf('Of a meeting'))
})

test('the circle that completes an activity is whole in its column', async (t) => {
  await web.create('/activities', { subject: 'Circled', type: 'task' })
  const page = await web.open(t, '/activities?show=all')
  const cell = page.locator('td.table-lead', { has: page.getByLabel('Complete Circled') })
  const [circle, around] = [await cell.locator('button').boundingBox(), await cell.boundingBox()]
  assert.ok(circle && around && circle.x + circle.width <= around.x + around.width)
})

for (const [where, viewport] of Object.entries({ 'beside a list': { width: 1440, height: 900 }, ...phone }))
  test(`the actions on a contact are in one line, ${where === 'viewport' ? 'on a phone' : where}`, async (t) => {
    const id = await web.create('/contacts', {
      first_name: 'Acted',
      last_name: 'On',
      phone: '1',
      email: 'a@b.example',
    })
    const page = await web.open(t, where === 'viewport' ? `/contacts/${id}` : `/contacts?open=${id}`, {
      viewport,
    })
    const line = page.getByRole('article', { name: 'Acted On' }).locator('.record-line')
    await line.getByRole('button', { name: 'More actions' }).waitFor()
    const tops = await line
      .getByRole('button')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    assert.ok(tops.length > 3 && Math.max(...tops) - Math.min(...tops) < 4, tops.join())
  })
