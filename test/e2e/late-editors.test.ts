// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { drawLate, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const made = async (path: string, body: object): Promise<number> =>
  dataOf(await web.rapport.call('POST', `/api/v1/${path}`, body), 201).id
const stored = async (path: string) => (await web.rapport.call('GET', `/api/v1/${path}`)).body.data

async function typeOver(page: Page, text: string) {
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

/** Opens a record while a part of the program does not load; `come` lets it load. */
async function openWithout(page: Page, part: string, heading: string | RegExp) {
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(new RegExp(`/assets/${part}-.*js`), async (route) => {
    await late
    await route.continue()
  })
  // An idle page has loaded the part already.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  return come
}

test('keys that come before the editor of a field replace its value, and Escape reverts', async (t) => {
  const id = await made('contacts', {
    first_name: 'Donald',
    last_name: 'Knuth',
    custom_fields: { volumes: 4 },
  })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'field-editor', 'Donald Knuth')
  const edit = page.getByRole('button', { name: 'volumes: Edit' })
  await edit.click()
  await typeOver(page, '7')
  await page.keyboard.press('Escape')
  await edit.click()
  await typeOver(page, '5')
  await page.keyboard.press('Enter')
  come()
  await until(async () => (await stored(`contacts/${id}`)).custom_fields.volumes, 5)
  await edit.waitFor()
})

test('Escape before the form of a new field is there takes it back', async (t) => {
  const id = await made('contacts', { first_name: 'Barbara', last_name: 'Liskov' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'new-field', 'Barbara Liskov')
  const add = page.getByRole('button', { name: 'Add a field' })
  await add.press('Enter')
  await page.keyboard.press('Escape')
  const loaded = page.waitForResponse(/\/assets\/new-field-/)
  come()
  await loaded
  await add.press('Enter')
  await page.getByLabel('Name', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await add.waitFor()
})

test('a fact that is clicked while the service is lost, before its editor has loaded, says so', async (t) => {
  const id = await made('contacts', { first_name: 'Grace', last_name: 'Hopper', phone: '+1 202 1' })
  const page = await web.open(t, `/contacts/${id}`, { allow: /Failed to load|Failed to fetch/ })
  const parts = /\/assets\/(field-editor|toast-list)-.*js|\/healthz/
  await page.route(parts, (route) => route.abort())
  await page.reload()
  const edit = page.getByRole('button', { name: 'Phone: Edit' })
  await edit.click()
  const lost = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' })
  await lost.waitFor()
  await lost.getByRole('button', { name: 'Close' }).click()
  await lost.waitFor({ state: 'detached' })

  await page.unroute(parts)
  await edit.click()
  await page.getByRole('textbox', { name: 'Phone' }).waitFor()
})

test('a toast that is shown before its program keeps the focus when that comes, and closes by itself', async (t) => {
  const id = await made('contacts', { first_name: 'Annie', last_name: 'Easley', phone: '+1 202 2' })
  const allow = /Failed to load|Failed to fetch/
  const page = await web.open(t, `/contacts/${id}`, { allow, reusable: false })
  await page.clock.install()
  const parts = /\/assets\/(field-editor|toast-list)-.*js|\/healthz/
  await page.route(parts, (route) => route.abort())
  await page.reload()
  await page.getByRole('button', { name: 'Phone: Edit' }).click()
  const lost = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' })
  const close = lost.getByRole('button', { name: 'Close' })
  await close.focus()
  const loaded = page.waitForResponse(/\/assets\/toast-list-/)
  await page.unroute(parts)
  await page.clock.fastForward(2000)
  await (await loaded).finished()
  await close.and(page.locator(':focus')).waitFor()
  await page.clock.fastForward(8000)
  await lost.waitFor({ state: 'detached' })
})

test('keys that follow the click of an extension, before the editor of a field, go into it', async (t) => {
  const id = await made('contacts', { first_name: 'Mary', last_name: 'Jackson' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'field-editor', 'Mary Jackson')
  const edit = page.getByRole('button', { name: 'Phone: Edit' })
  await edit.evaluate((button) => (button as unknown as { click(): void }).click())
  await page.keyboard.type('555 0100')
  await page.keyboard.press('Enter')
  come()
  await until(async () => (await stored(`contacts/${id}`)).phone, '555 0100')
})

test('keys for a field that does not open do not go into another one that is clicked, or the palette', async (t) => {
  const id = await made('contacts', { first_name: 'Dorothy', last_name: 'Vaughan' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'field-editor', 'Dorothy Vaughan')
  const edit = page.getByRole('button', { name: 'Phone: Edit' })
  await edit.click()
  await page.keyboard.type('555')
  const tag = page.getByRole('textbox', { name: 'Add tag' })
  await tag.click()
  await page.keyboard.type('math')
  assert.equal(await tag.inputValue(), 'math')

  await edit.click()
  await page.keyboard.type('555')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('combobox', { name: 'Search or go to' })
  await palette.and(page.locator(':focus')).waitFor()
  assert.equal(await palette.inputValue(), '')
  come()
})

test('a fact shows that its editor is loading', async (t) => {
  const id = await made('contacts', { first_name: 'Radia', last_name: 'Perlman' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'field-editor', 'Radia Perlman')
  await page.getByRole('button', { name: 'Phone: Edit' }).click()
  const waits = page.getByRole('img', { name: 'Loading' })
  await waits.waitFor()
  come()
  await page.getByRole('textbox', { name: 'Phone' }).waitFor()
  await waits.waitFor({ state: 'detached' })
})

test('a dialog shows that it is loading', async (t) => {
  const id = await made('contacts', { first_name: 'Frances', last_name: 'Allen' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'palette', 'Frances Allen')
  await page.keyboard.press('Control+k')
  const waits = page.getByRole('status').getByRole('img', { name: 'Loading' })
  await waits.waitFor()
  come()
  await page.getByRole('dialog').waitFor()
  await waits.waitFor({ state: 'detached' })
})

test('a dialog that is left before it has loaded no longer shows that it is loading', async (t) => {
  await made('contacts', { first_name: 'Jean', last_name: 'Bartik' })
  const page = await web.open(t, '/contacts')
  const come = await openWithout(page, 'create-contact', 'Contacts')
  await page
    .getByRole('row', { name: /Jean Bartik/ })
    .locator('td')
    .nth(4)
    .click()
  await page.getByRole('complementary').getByRole('heading', { name: 'Jean Bartik' }).waitFor()
  await page.keyboard.press('c')
  const waits = page.getByRole('status').getByRole('img', { name: 'Loading' })
  await waits.waitFor()
  await page.goBack()
  await waits.waitFor({ state: 'detached' })
  come()
})

test('keys that follow the choice of a filter, before its editor, go into it and run no command', async (t) => {
  await made('companies', { name: 'Early Keys GmbH', industry: 'cranes' })
  const page = await web.open(t, '/companies', { reusable: false })
  const come = await openWithout(page, 'filter-editor', 'Companies')
  await drawLate(page)
  await page.keyboard.press('f')
  const fields = page.getByRole('combobox', { name: 'Add a filter' })
  await fields.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('industry')
  await page.getByRole('option', { selected: true, name: 'Industry' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('cranes\n')
  come()
  const chip = page.locator('.chips').getByRole('button', { name: 'Industry is cranes' })
  await chip.waitFor()
  // The same of a chip that is there.
  await page.keyboard.press('Escape')
  await chip.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('docks\n')
  await page.locator('.chips').getByRole('button', { name: 'Industry is cranes or docks' }).waitFor()
})

test('keys that follow a choice of boxes do not wait for another field', async (t) => {
  const page = await web.open(t, '/deals?view=table', { reusable: false })
  const come = await openWithout(page, 'filter-editor', 'Deals')
  await page.keyboard.press('f')
  const fields = page.getByRole('combobox', { name: 'Add a filter' })
  await fields.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('stage')
  await page.getByRole('option', { selected: true, name: 'Stage' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('c')
  come()
  await page.getByRole('dialog', { name: 'Filter by Stage' }).locator(':focus').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Filter by Stage' }).waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.getByRole('searchbox', { name: 'Search' }).and(page.locator(':focus')).waitFor()
  assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), '')
})

test('keys that follow "Create contact" of the palette, before its form, go into it', async (t) => {
  const page = await web.open(t, '/')
  const come = await openWithout(page, 'create-contact', /./)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('combobox', { name: 'Search or go to' })
  await palette.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('create contact')
  await page.getByRole('option', { selected: true, name: 'Create contact' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Gladys')
  come()
  const first = page.getByRole('dialog', { name: 'Create contact' }).getByLabel('First name')
  await first.waitFor()
  await untilEqual(() => first.inputValue(), 'Gladys')
})
