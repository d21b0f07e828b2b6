// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { checkScreen, untilEqual, useWeb, visit, type Web } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(async () => {
  const deal = { name: 'Lenses', value: 1200, stage: 'demo' }
  assert.equal((await web.rapport.call('POST', '/api/v1/deals', deal)).status, 201)
})

/** Holds back the program of a page. Returns what lets it come. */
async function holdBack(page: Page, name: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(name, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** A page that loads nothing ahead, and shows the contacts. */
async function openContacts(t: Parameters<Web['open']>[0], allow?: RegExp): Promise<Page> {
  const page = await web.open(t, null, { reusable: false, ...(allow && { allow }) })
  await page.addInitScript('window.requestIdleCallback = () => 0')
  await page.goto(`${web.rapport.url}/contacts`)
  await page.getByRole('button', { name: 'Create contact' }).first().waitFor()
  return page
}

test('a key that is pressed before the board is there runs when it is, and not on the page before it', async (t) => {
  const page = await openContacts(t)
  const letCome = await holdBack(page, /\/board-page-.*\.js$/)
  await page.getByRole('link', { name: 'Deals', exact: true }).click()
  await page.locator('#content').getByLabel('Loading').waitFor()
  await page.keyboard.press('c')
  letCome()
  await page.getByRole('dialog', { name: 'Create deal' }).waitFor()
})

test('a key that is pressed while the next page loads does nothing on the page that is still shown', async (t) => {
  const page = await openContacts(t)
  const letCome = await holdBack(page, /\/companies-page-.*\.js$/)
  // The page of contacts is shown until the other one comes, or for 300 ms.
  await page.evaluate(`(() => {
    __TSR_ROUTER__.history.push('/companies')
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }))
  })()`)
  letCome()
  await page.getByRole('dialog', { name: 'Create company' }).waitFor()
})

test('l that is pressed before a record is there logs about the record', async (t) => {
  const contact = { first_name: 'Grace', last_name: 'Hopper' }
  const { id } = (await web.rapport.call('POST', '/api/v1/contacts', contact)).body.data
  const page = await web.open(t, null, { reusable: false })
  const letCome = await holdBack(page, new RegExp(`/api/v1/contacts/${id}$`))
  await page.goto(`${web.rapport.url}/contacts/${id}`)
  await page.locator('#content [aria-busy=true]').waitFor()
  await page.keyboard.press('l')
  letCome()
  await page.getByRole('dialog', { name: 'Log a call or meeting: Grace Hopper' }).waitFor()
})

test('another key takes the place of one that waits, and a click drops it', async (t) => {
  const page = await openContacts(t)
  const letCome = await holdBack(page, /\/board-page-.*\.js$/)
  await page.getByRole('link', { name: 'Deals', exact: true }).click()
  await page.locator('#content').getByLabel('Loading').waitFor()
  await page.keyboard.press('c')
  await page.keyboard.press('?')
  letCome()
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Create deal' }).first().waitFor()
  await untilEqual(() => page.getByRole('dialog', { name: 'Create deal' }).count(), 0)
})

test('the name of a button with an icon only is shown while the keyboard focus is on it', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  const columns = page.getByRole('button', { name: 'Columns' })
  await columns.waitFor()
  const tip = page.locator('.focus-tip')
  // Its program comes when the page is idle.
  await until(
    () =>
      page.evaluate<boolean>(
        `performance.getEntriesByType('resource').some(({ name, responseEnd }) => /focus-tip-.*js/.test(name) && responseEnd)`,
      ),
    (has_come) => has_come,
  )
  await page.getByRole('button', { name: 'Filter', exact: true }).focus()
  while (!(await columns.evaluate((one) => one.matches(':focus')))) await page.keyboard.press('Tab')
  await tip.waitFor()
  await untilEqual(() => tip.innerText(), 'Columns')
  const [box, button] = [await tip.boundingBox(), await columns.boundingBox()]
  assert.ok(box && button && box.y >= button.y + button.height && box.x + box.width <= 1280)
  await checkScreen(page)
  await page.keyboard.press('Escape')
  await tip.waitFor({ state: 'hidden' })
  // A pointer has the title.
  await page.keyboard.press('Escape')
  await columns.click()
  await untilEqual(() => tip.isVisible(), false)
})

test('e on a row or a card opens its record and edits its first fact, with what is typed at once', async (t) => {
  const { create, read } = web
  const id = await create('/contacts', { first_name: 'Ida', last_name: 'Edits' })
  const page = await openContacts(t)
  await page.getByRole('link', { name: 'Ida Edits' }).focus()
  const letCome = await holdBack(page, /\/(contact-record|field-editor)-.*\.js$/)
  await page.keyboard.press('e')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Edith')
  await page.keyboard.press('Enter')
  letCome()
  await until(async () => (await read(`/contacts/${id}`)).first_name, 'Edith')
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'First name: Edit' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Edith Edits' }).and(page.locator(':focus')).waitFor()

  await create('/activities', { type: 'call', subject: 'Ring back', due_at: new Date().toISOString() })
  await visit(page, '/activities')
  await page.getByRole('link', { name: 'Ring back' }).focus()
  await page.keyboard.press('e')
  await panel
    .locator(':focus')
    .and(page.getByRole('textbox', { name: 'Subject' }))
    .waitFor()

  await visit(page, '/deals')
  await page.getByRole('link', { name: /Lenses/ }).focus()
  await page.keyboard.press('e')
  await panel
    .locator(':focus')
    .and(page.getByRole('textbox', { name: 'Name' }))
    .waitFor()
})

test('a record that is clicked after e on another one does not begin with an edit', async (t) => {
  await web.create('/contacts', { first_name: 'Ann', last_name: 'Asked' })
  await web.create('/contacts', { first_name: 'Bea', last_name: 'Clicked' })
  const page = await openContacts(t)
  await page.getByRole('link', { name: 'Ann Asked' }).focus()
  const letCome = await holdBack(page, /\/contact-record-.*\.js$/)
  await page.keyboard.press('e')
  await page
    .getByRole('row', { name: /Bea Clicked/ })
    .locator('td')
    .nth(4)
    .click()
  letCome()
  const panel = page.getByRole('complementary')
  await panel.getByRole('heading', { name: 'Bea Clicked' }).waitFor()
  await panel.getByRole('button', { name: 'First name: Edit' }).waitFor()
  await untilEqual(() => panel.getByRole('textbox', { name: 'First name' }).count(), 0)
})

test('keys run commands again when the record that e opens cannot be read', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Cora', last_name: 'Gone' })
  const page = await openContacts(t, /status of 404/)
  await page.route(`**/api/v1/contacts/${id}`, (route) =>
    route.fulfill({ status: 404, json: { success: false, error: { code: 'not_found', message: '' } } }),
  )
  await page.getByRole('link', { name: 'Cora Gone' }).focus()
  await page.keyboard.press('e')
  await page.getByRole('complementary').getByRole('heading', { name: 'There is nothing here' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
})
