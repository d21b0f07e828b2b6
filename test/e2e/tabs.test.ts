// runs: once
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startWeb, type Web } from '../web.ts'

let web: Web
before(async () => {
  web = await startWeb()
})
after(() => web?.close())

const count = async (path: string) => (await web.rapport.call('GET', `/api/v1${path}`)).body.meta.total

async function fillContact(page: Page, last_name: string) {
  await page.getByRole('button', { name: 'Create contact' }).first().click()
  await page.getByRole('textbox', { name: 'First name' }).fill('Ada')
  await page.getByRole('textbox', { name: 'Last name' }).fill(last_name)
}
const submit = (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name: 'Create contact' }).click()

test('a create whose answer was lost is made once, however often it is sent again', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /ERR_FAILED/ })
  await fillContact(page, 'Once')
  let lost = 0
  await page.route('**/api/v1/contacts', async (route) => {
    if (route.request().method() !== 'POST' || lost === 2) return route.continue()
    lost++
    await route.fetch()
    await route.abort()
  })
  for (const tries of [1, 2]) {
    await submit(page)
    await page.getByText('The service cannot be reached').waitFor()
    assert.equal(lost, tries)
  }
  await submit(page)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await count('/contacts?search=once'), 1)
})

test('a part that cannot be loaded leaves the page and what is written in it', async (t) => {
  const { body } = await web.rapport.call('POST', '/api/v1/contacts', {
    first_name: 'Kept',
    last_name: 'Draft',
  })
  const page = await web.open(t, `/contacts/${body.data.id}?tab=notes`, {
    allow: /ERR_FAILED|Failed to/,
  })
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('Half a thought')
  await page.route(/\/assets\/palette-|\/healthz/, (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByText('The service cannot be reached').waitFor()
  assert.equal(await note.inputValue(), 'Half a thought')
})

test('a tab whose session went to another workspace sends nothing there, and shows where it is', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 412/ })
  await fillContact(page, 'Elsewhere')
  // It has not noticed yet.
  const { promise: knows, resolve: know } = Promise.withResolvers<void>()
  await page.route('**/api/v1/session', async (route) => {
    await knows
    await route.continue()
  })
  // Another tab of the same browser makes a workspace, and is in it from then on.
  const other = await page.context().newPage()
  await other.goto(`${web.rapport.url}/trash`)
  const made = await other.evaluate(async () => {
    const body = JSON.stringify({ name: 'Second' })
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/v1/workspaces', { method: 'POST', headers, body })).status
  })
  assert.equal(made, 201)
  const asked = page.waitForResponse((response) => response.status() === 412)
  await submit(page)
  await asked
  know()
  await page.getByRole('button', { name: 'Workspace: Second' }).waitFor()
  assert.equal(await count('/contacts?search=elsewhere'), 0)
  await page.goto(`${web.rapport.url}/contacts`)
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  await page.getByText('Contacts are the people you sell to').waitFor()
})
