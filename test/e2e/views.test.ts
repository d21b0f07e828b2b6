// runs: once
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, fits, phone, startWeb, type Web } from '../web.ts'
import { joinAs } from '../web-people.ts'
import { until } from '../webhooks.ts'

let web: Web
before(async () => {
  web = await startWeb()
})
after(() => web?.close())

const call = async (method: string, path: string, body?: object) => {
  const reply = await web.rapport.call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body.data
}
const save = (list: string, name: string, query: string) => call('POST', '/views', { list, name, query })
const saved = async (id: string) => (await call('GET', `/views/${id}`)).query
const strip = (page: Page) => page.getByRole('navigation', { name: /Views|Ansichten/ })
const tab = (page: Page, name: string) => strip(page).getByRole('link', { name, exact: true })
const current = (page: Page) => strip(page).locator('[aria-current]').allInnerTexts()
const isCurrent = (page: Page, name: string) =>
  until(
    () => current(page),
    (names) => names.join() === name,
  )
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

test('a saved view is a tab that opens its filters, and All and Mine stand before it', async (t) => {
  await call('POST', '/companies', { name: 'Lumen Optics', industry: 'Optics' })
  await call('POST', '/companies', { name: 'Harbor Foods', industry: 'Food' })
  await save('companies', 'Optics', 'industry=Optics')
  await save('companies', 'By name', 'sort=-name')
  const page = await web.open(t, '/companies')
  await tab(page, 'Optics').waitFor()
  assert.deepEqual(await strip(page).getByRole('link').allInnerTexts(), ['All', 'Mine', 'Optics', 'By name'])
  assert.deepEqual(await current(page), ['All'])
  assert.equal(await button(page, 'Save as new view').count(), 0)
  await tab(page, 'Optics').focus()
  await page.keyboard.press('Enter')
  await isCurrent(page, 'Optics')
  await page.getByText('Harbor Foods').waitFor({ state: 'detached' })
  assert.equal(parameter(page, 'industry'), 'Optics')
  await checkScreen(page)
  await tab(page, 'All').click()
  await page.getByText('Harbor Foods').waitFor()
  assert.equal(parameter(page, 'industry'), null)
})

test('what differs from a tab can be saved in it, taken back, or saved as a new tab', async (t) => {
  const { id } = await save('contacts', 'Leads', 'stage=lead')
  const page = await web.open(t, '/contacts')
  await tab(page, 'Leads').click()
  await isCurrent(page, 'Leads')
  assert.equal(await button(page, 'Save').count(), 0)
  await page.goto(`${page.url()}&sort=last_name`)
  await button(page, 'Save').waitFor()
  assert.deepEqual(await current(page), ['Leads'])
  await button(page, 'Save').click()
  await page.getByText('View Leads saved').waitFor()
  assert.equal(await saved(id), 'sort=last_name&stage=lead')
  await button(page, 'Save').waitFor({ state: 'detached' })
  await button(page, 'Undo').click()
  await button(page, 'Save').waitFor()
  assert.equal(await saved(id), 'stage=lead')

  await button(page, 'Save as new view').click()
  const dialog = page.getByRole('dialog', { name: 'Save as new view' })
  await dialog.getByRole('textbox', { name: 'Name of the view' }).fill('Leads by name')
  await page.keyboard.press('Enter')
  await isCurrent(page, 'Leads by name')
  assert.deepEqual(await strip(page).getByRole('link').allInnerTexts(), [
    ...['All', 'Mine', 'Leads', 'Leads by name'],
  ])
  assert.equal(await button(page, 'Save').count(), 0)
})

test('a view is renamed and deleted in the menu of its tab, and Undo puts it back', async (t) => {
  await save('activities', 'Calls', 'show=all&type=call')
  const page = await web.open(t, '/activities')
  await tab(page, 'Calls').click()
  await button(page, 'Actions on the view Calls').click()
  await page.getByRole('menuitem', { name: 'Rename view' }).click()
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name of the view' })
  assert.equal(await name.inputValue(), 'Calls')
  await name.fill('All calls')
  await page.keyboard.press('Enter')
  await tab(page, 'All calls').waitFor()
  await button(page, 'Actions on the view All calls').click()
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  await tab(page, 'All calls').waitFor({ state: 'detached' })
  assert.deepEqual(await current(page), ['All'])
  assert.equal(parameter(page, 'type'), null)
  await button(page, 'Undo').click()
  await tab(page, 'All calls').waitFor()
})

test('who may only read opens the tabs and cannot change them', async (t) => {
  await call('POST', '/deals', { name: 'Lenses for 2027', stage: 'demo' })
  await save('deals', 'Demos', 'stage=demo&view=table')
  const session = await joinAs(web.rapport, 'rita@example.test', 'read_only', { language: 'en' })
  const page = await web.open(t, '/deals', { session })
  await tab(page, 'Demos').click()
  await page.getByRole('table', { name: 'Deals' }).waitFor()
  await page.goto(`${page.url()}&sort=name`)
  await isCurrent(page, 'Demos')
  assert.equal(await button(page, 'Save as new view').count(), 0)
  assert.equal(await button(page, 'Actions on the view Demos').count(), 0)
})

test('on a phone, a menu lists the tabs that have no room, and the current one is in sight', async (t) => {
  const session = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
  for (const city of ['Berlin', 'Hamburg', 'München', 'Köln', 'Leipzig', 'Stuttgart'])
    await save('companies', `Firmen in ${city}`, `search=${encodeURIComponent(city)}`)
  const page = await web.open(t, '/companies', { ...phone, session, locale: 'de-DE' })
  await button(page, 'Ansichten').click()
  await page.getByRole('menuitem', { name: 'Firmen in Stuttgart' }).click()
  const opened = tab(page, 'Firmen in Stuttgart')
  await isCurrent(page, 'Firmen in Stuttgart')
  await until(
    () => Promise.all([opened.boundingBox(), strip(page).boundingBox()]),
    ([inside, around]) =>
      Boolean(inside && around) &&
      inside!.x >= around!.x - 1 &&
      inside!.x + inside!.width <= around!.x + around!.width + 1,
  )
  await fits(page)
  await checkScreen(page, async (scheme) => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/views-390-${scheme}.png` })
  })
})
