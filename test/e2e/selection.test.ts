// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { checkScreen, desk, fits, phone, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const count = 1204
const families = ['Ruiz', 'Østergård', 'Nguyễn', 'von der Leyen-Bülow', 'O’Hara', 'de la Fuente y Martínez']
const web = useWeb()
before(async () => {
  const contacts = Array.from({ length: count }, (_, n) => ({
    first_name: `Ana ${n}`,
    last_name: families[n % families.length] as string,
  }))
  for (let from = 0; from < count; from += 1000) {
    const items = contacts.slice(from, from + 1000).map((data) => ({ op: 'create', data }))
    assert.equal((await web.rapport.call('POST', '/api/v1/contacts/batch', { items })).status, 200)
  }
})

const total = async (query = '') =>
  (await web.rapport.call('GET', `/api/v1/contacts?per_page=1&${query}`)).body.meta.total as number
const bar = (page: Page) => page.getByRole('region', { name: / selected$/ })
const selectPage = (page: Page) => page.getByRole('checkbox', { name: 'Select all on this page' }).check()
const selectAll = (page: Page) => bar(page).getByRole('button', { name: 'Select all 1,204 that match' })
/** Waits until the bar says that it reads this many rows. */
const reads = (page: Page, all: string) =>
  bar(page)
    .getByText(new RegExp(`^Reading \\d+ of ${all}$`))
    .waitFor()
/** Begins to select all, and holds the read of the rows until the returned function is called. */
async function beginRead(page: Page, press = () => selectAll(page).click()) {
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/contacts\?.*cursor=/, async (route) => {
    await come
    await route.continue().catch(() => {})
  })
  await selectPage(page)
  await press()
  await reads(page, '1,204')
  return letCome
}
/** Whether an action of the bar can be reached, by the keyboard or a click. */
const isOffered = (page: Page) =>
  bar(page)
    .getByRole('button', { name: 'Delete' })
    .evaluate((button) => {
      button.focus()
      return button.matches(':focus')
    })

test('on a phone, rows are selected by touch, and the bar of actions has room', async (t) => {
  const page = await web.open(t, '/contacts', { ...phone, hasTouch: true })
  const row = page.locator('tbody tr[data-row-id]').first()
  await row.waitFor()
  // Beside the small box, too: a finger is larger.
  const cell = await row.locator('td').first().boundingBox()
  assert.ok(cell && cell.width >= 40 && cell.height >= 44, JSON.stringify(cell))
  await page.touchscreen.tap(cell.x + 4, cell.y + 4)
  await bar(page).getByText('1 selected').waitFor()
  await untilEqual(() => page.locator('.panel').count(), 0)
  await selectPage(page)
  await bar(page).getByText('50 selected').waitFor()
  await fits(page)
  const [box, rail] = [await bar(page).boundingBox(), await page.locator('.bottom').boundingBox()]
  assert.ok(box && rail && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= rail.y)
  await bar(page).getByRole('button', { name: 'Clear' }).tap()
  await bar(page).waitFor({ state: 'detached' })
})

test('a toast leaves the buttons for other pages and the bar of a phone free', async (t) => {
  // The pager of a phone stands above its bar.
  for (const screen of [desk, phone]) {
    const page = await web.open(t, '/contacts', screen)
    await page.locator('tbody').getByRole('checkbox').first().check()
    await bar(page).getByRole('button', { name: 'Delete' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await bar(page).waitFor({ state: 'detached' })
    const toast = page.getByRole('alert').filter({ has: undo })
    await until(
      () => Promise.all([toast.boundingBox(), page.locator('.pager').boundingBox()]),
      ([upper, lower]) => Boolean(upper && lower && upper.y + upper.height <= lower.y),
    )
    await undo.click()
    await until(total, (now) => now === count)
  }
})

test('one Undo brings back all that were deleted beyond the page', async (t) => {
  const page = await web.open(t, '/contacts?search=%C3%98sterg%C3%A5rd')
  const matching = await total('search=%C3%98sterg%C3%A5rd')
  await page.getByText(new RegExp(`of ${matching}$`)).waitFor()
  await selectPage(page)
  await bar(page)
    .getByRole('button', { name: `Select all ${matching} that match` })
    .click()
  await bar(page).getByText(`${matching} selected`).waitFor()
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByText(`${matching} contacts deleted`).waitFor()
  assert.equal(await total(), count - matching)
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(total, (now) => now === count)
})

test('only what the filters match is selected, and other filters deselect it', async (t) => {
  const page = await web.open(t, '/contacts?search=O%E2%80%99Hara')
  await page.getByText(/^1–50 of 20\d$/).waitFor()
  const matching = await total('search=O%E2%80%99Hara')
  await selectPage(page)
  await bar(page)
    .getByRole('button', { name: `Select all ${matching} that match` })
    .click()
  await bar(page).getByText(`${matching} selected`).waitFor()
  await page
    .getByRole('checkbox', { name: /^Select Ana/ })
    .first()
    .uncheck()
  await bar(page)
    .getByText(`${matching - 1} selected`)
    .waitFor()
  await page.getByRole('link', { name: 'Contacts', exact: true }).click()
  await page.getByText('1–50 of 1,204').waitFor()
  // Selected rows that are on this page, too, stay selected.
  await bar(page)
    .getByText(/^\d\d? selected$/)
    .waitFor()
})

test('work on many records that is stopped leaves the rest as they are, and selected', async (t) => {
  const page = await web.open(t, '/contacts')
  await selectPage(page)
  await selectAll(page).click()
  await bar(page).getByText('1,204 selected').waitFor()
  // The first request is under way until the work was stopped.
  const { promise: stopped, resolve: go } = Promise.withResolvers<void>()
  await page.route('**/api/v1/contacts/batch', async (route) => {
    await stopped
    await route.continue()
  })
  await bar(page).getByRole('button', { name: 'Add tag' }).click()
  await page.getByRole('dialog', { name: 'Add tag' }).getByLabel('Tag').fill('fair 2026')
  await page.keyboard.press('Enter')
  await page.getByText('0 of 1,204 done').waitFor()
  // The browser asks before the page is left, which would stop the work, too.
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  await (await asked).dismiss()
  await page.getByRole('button', { name: 'Stop' }).click()
  go()
  await bar(page).getByText('204 selected').waitFor()
  assert.equal(await total('tag=fair%202026'), 1000)
})

test('a tag is added to all that match in requests of 1,000, and Undo leaves it where it was before', async (t) => {
  const [first] = (await web.rapport.call('GET', '/api/v1/contacts?per_page=1')).body.data
  await web.rapport.call('PUT', `/api/v1/contacts/${first.id}`, { tags: ['partner'] })
  const page = await web.open(t, '/contacts')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname)
  })
  await selectPage(page)
  await selectAll(page).click()
  await bar(page).getByText('1,204 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Add tag' }).click()
  await page.getByRole('dialog', { name: 'Add tag' }).getByLabel('Tag').fill('partner')
  await page.keyboard.press('Enter')
  await page.getByText('Tag partner added to 1,204 contacts').waitFor()
  assert.equal(await total('tag=partner'), count)
  await page.getByRole('button', { name: 'Undo' }).click()
  await untilEqual(() => total('tag=partner'), 1)
  // On a busy machine, the service may hear of a request before the test does.
  await untilEqual(async () => sent, Array(4).fill('/api/v1/contacts/batch'))
})

test('after a change of all that match, the next change starts from the rows as they are', async (t) => {
  const page = await web.open(t, '/contacts?search=Nguy%E1%BB%85n')
  const matching = await total('search=Nguy%E1%BB%85n')
  await page.getByText(new RegExp(`of ${matching}$`)).waitFor()
  await selectPage(page)
  await bar(page)
    .getByRole('button', { name: `Select all ${matching} that match` })
    .click()
  await bar(page).getByText(`${matching} selected`).waitFor()
  const assign = async (name: string) => {
    await bar(page).getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('option', { name }).click()
  }
  await assign('Olivia Owner (you)')
  await page.getByText(`${matching} contacts assigned to Olivia Owner`).waitFor()
  await bar(page).waitFor({ state: 'detached' })
  assert.equal(await total('owner_id=null'), count - matching)

  // Back to the owner that it had when all rows were read.
  const first = page.getByRole('checkbox', { name: /^Select Ana/ }).first()
  await first.check()
  await bar(page).getByText('1 selected').waitFor()
  await assign('Nobody')
  await page.getByText(/Nguyễn assigned to nobody$/).waitFor()
  await until(
    () => total('owner_id=null'),
    (now) => now === count - matching + 1,
  )

  // A contact that came after all rows were read.
  const data = { first_name: 'Thị Minh Khai', last_name: 'Nguyễn' }
  const { body } = await web.rapport.call('POST', '/api/v1/contacts', data)
  await page.getByRole('checkbox', { name: 'Select Thị Minh Khai Nguyễn' }).check()
  await bar(page).getByText('1 selected').waitFor()
  await web.rapport.call('DELETE', `/api/v1/contacts/${body.data.id}`)
})

test('the box that selects the page says that it waits until the rows are there', async (t) => {
  const page = await web.open(t, '/companies')
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/contacts\?/, async (route) => {
    await come
    await route.continue()
  })
  await page.getByRole('link', { name: 'Contacts' }).click()
  const box = page.getByRole('checkbox', { name: 'Select all on this page' })
  await box.and(page.locator('[aria-disabled]')).waitFor()
  letCome()
  await selectPage(page)
  await bar(page).getByText('50 selected').waitFor()
})

test('a service that asks to wait is waited for while the rows are read', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 429/ })
  let refused = 0
  await page.route(/\/api\/v1\/contacts\?.*cursor=/, (route) =>
    ++refused === 3
      ? route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { success: false } })
      : route.continue(),
  )
  await selectPage(page)
  await bar(page).getByRole('button', { name: 'Select all 1,204 that match' }).click()
  await bar(page).getByText('1,204 selected').waitFor()
  await untilEqual(() => page.getByRole('alert').count(), 0)
})

test('nothing is done to the rows of a page while all that match are being selected', async (t) => {
  const page = await web.open(t, '/contacts')
  const letCome = await beginRead(page)
  assert.equal(await isOffered(page), false)
  // Another choice ends it.
  await page.locator('tbody').getByRole('checkbox').first().uncheck()
  await bar(page).getByText('49 selected').waitFor()
  await untilEqual(() => isOffered(page), true)
  letCome()
  await page.locator('tbody').getByRole('checkbox').first().check()
  await selectAll(page).click()
  await bar(page).getByText('1,204 selected').waitFor()
  assert.equal(await isOffered(page), true)
})

test('while all that match are being selected, the actions wait also if a new row comes', async (t) => {
  const page = await web.open(t, '/contacts')
  const letCome = await beginRead(page)
  const contact = await web.create('/contacts', { first_name: 'Newly', last_name: 'Met' })
  t.after(() => web.rapport.call('DELETE', `/api/v1/contacts/${contact}`))
  await page.getByRole('checkbox', { name: 'Select Newly Met' }).waitFor()
  // The last row of the page left it.
  await bar(page).getByText('49 selected').waitFor()
  assert.equal(await isOffered(page), false)
  await reads(page, '1,205')
  letCome()
  await bar(page).getByText('1,205 selected').waitFor()
  assert.equal(await isOffered(page), true)
})

test('while all that match are being selected, another page keeps the bar, which can end the reading', async (t) => {
  const page = await web.open(t, '/contacts')
  const next = page.getByRole('button', { name: 'Next page' })
  const reading = page.getByRole('region', { name: /^Reading \d+ of 1,204$/ })
  let letCome = await beginRead(page)
  await next.click()
  await page.getByText('51–100 of 1,204').waitFor()
  await reading.waitFor()
  await reading.getByRole('button', { name: 'Clear' }).click()
  await reading.waitFor({ state: 'detached' })
  letCome()
  await page.unroute(/\/api\/v1\/contacts\?.*cursor=/)
  letCome = await beginRead(page)
  await next.click()
  await page.getByText('101–150 of 1,204').waitFor()
  await reading.waitFor()
  letCome()
  await bar(page).getByText('1,204 selected').waitFor()
  await untilEqual(() => page.locator('tbody tr[data-selected]').count(), 50)
})

test('the next page that is asked for before the one before it comes is the one after it', async (t) => {
  // Without a load, the page may have the second page of the list from another test.
  const page = await web.open(t, '/contacts', { load: true })
  await page.getByText('1–50 of 1,204').waitFor()
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  const second = /\/api\/v1\/contacts\?.*page=2&/
  await page.route(second, async (route) => {
    await late
    await route.continue().catch(() => {})
  })
  const next = page.getByRole('button', { name: 'Next page' })
  const asked = page.waitForRequest(second)
  await next.click()
  await asked
  await page.getByText('1–50 of 1,204').waitFor()
  await next.click()
  come()
  await page.getByText('101–150 of 1,204').waitFor()
})

test('two presses on the next page before the first one is drawn are two pages', async (t) => {
  const page = await web.open(t, '/contacts')
  await page.getByText('1–50 of 1,204').waitFor()
  // In one task, so that nothing is drawn between them.
  await page.getByRole('button', { name: 'Next page' }).evaluate((next) => {
    for (let n = 0; n < 2; n++) next.dispatchEvent(new Event('click', { bubbles: true }))
  })
  await page.getByText('101–150 of 1,204').waitFor()
  await page.getByRole('button', { name: 'Previous page' }).evaluate((previous) => {
    for (let n = 0; n < 3; n++) previous.dispatchEvent(new Event('click', { bubbles: true }))
  })
  await page.getByText('1–50 of 1,204').waitFor()
})

test('by the keyboard, all that match are selected, then assigned, and the focus goes to the actions', async (t) => {
  const page = await web.open(t, '/contacts')
  const letCome = await beginRead(page, () => selectAll(page).press('Enter'))
  // Until all are selected, the key to assign means nothing.
  await page.keyboard.press('a')
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.waitFor()
  assert.equal(await sheet.getByText('Assign').count(), 0)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  letCome()
  await bar(page).getByText('1,204 selected').waitFor()
  const first = bar(page).getByRole('button').first()
  await untilEqual(() => first.evaluate((button) => button.matches(':focus')), true)
  await page.keyboard.press('a')
  await page.getByRole('listbox', { name: 'Assign 1,204 contacts to' }).waitFor()
  await page.keyboard.press('Escape')
})

test('work that waits for the service can be stopped, and changes nothing', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 429/ })
  await selectPage(page)
  await bar(page).getByRole('button', { name: 'Select all 1,204 that match' }).click()
  await bar(page).getByText('1,204 selected').waitFor()
  let asked = 0
  await page.route('**/api/v1/contacts/batch', (route) => {
    asked++
    return route.fulfill({ status: 429, headers: { 'retry-after': '3600' }, json: { success: false } })
  })
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByText('0 of 1,204 done').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await bar(page).getByText('1,204 selected').waitFor()
  assert.equal(asked, 1)
  assert.equal(await total(), count)

  // Requests of one record each.
  for (const subject of ['First', 'Second']) await web.create('/activities', { subject })
  await page.route('**/api/v1/activities/*/complete', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '3600' }, json: { success: false } }),
  )
  await visit(page, '/activities?show=all')
  await selectPage(page)
  await bar(page).getByRole('button', { name: 'Complete' }).click()
  await page.getByText('0 of 2 done').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await bar(page).getByText('2 selected').waitFor()
  const activities = await web.read('/activities?status=open')
  assert.equal(activities.length, 2)
})

test('all contacts that match are selected beyond their page, deleted at once, and come back at once', async (t) => {
  const page = await web.open(t, '/contacts')
  await selectPage(page)
  await bar(page).getByText('50 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Select all 1,204 that match' }).click()
  await bar(page).getByText('1,204 selected').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('51–100 of 1,204').waitFor()
  await bar(page).getByText('1,204 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1,204 contacts deleted').waitFor()
  assert.equal(await total(), 0)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname)
  })
  await page.getByRole('button', { name: 'Undo' }).click()
  await untilEqual(() => total(), count)
  // The test may hear of a request after the service.
  await untilEqual(async () => sent, Array(2).fill('/api/v1/contacts/batch'))
})
