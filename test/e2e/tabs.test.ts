// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { checkScreen, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

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
  // An idle page loads the part before it is used.
  await page.route(/\/assets\/palette-|\/healthz/, (route) => route.abort())
  await page.reload()
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('Half a thought')
  await page.keyboard.press('Control+k')
  await page.getByText('The service cannot be reached').waitFor()
  await untilEqual(() => note.inputValue(), 'Half a thought')
})

async function makeContact(last_name: string) {
  const body = { first_name: 'Grace', last_name, phone: '+49 30 1', title: 'Engineer' }
  const made = await web.rapport.call('POST', '/api/v1/contacts', body)
  const path = `/api/v1/contacts/${made.body.data.id}`
  return {
    id: made.body.data.id as number,
    change: (changes: object) => web.rapport.call('PUT', path, changes),
    stored: async () => (await web.rapport.call('GET', path)).body.data,
  }
}

/** Opens a field and types over it, without saving. */
async function typeIn(page: Page, label: string, text: string) {
  await page.getByRole('button', { name: new RegExp(`^${label}`) }).click()
  await page.getByRole('textbox', { name: label }).fill(text)
}

test('of two people who change one field, the second sees who it was and chooses whose value stays', async (t) => {
  const contact = await makeContact('Clash')
  const page = await web.open(t, `/contacts/${contact.id}`, { allow: /status of 412/ })
  const dialog = page.getByRole('dialog', { name: 'Grace Clash was changed meanwhile' })

  await typeIn(page, 'Phone', '+49 30 3')
  const sessions: string[] = []
  page.on('request', (request) => request.url().endsWith('/session') && sessions.push(request.url()))
  await contact.change({ phone: '+49 30 2' })
  await page.getByRole('textbox', { name: 'Phone' }).press('Enter')
  await dialog.getByText(/^First key changed this .* while you were editing it/).waitFor()
  await untilEqual(() => dialog.getByRole('cell').allInnerTexts(), ['+49 30 2', '+49 30 3'])
  // A changed record is not a session that has moved.
  assert.deepEqual(sessions, [])
  assert.equal((await contact.stored()).phone, '+49 30 2')
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Keep theirs' }).click()
  await page.getByRole('button', { name: /^Phone.*\+49 30 2/ }).waitFor()
  assert.equal((await contact.stored()).phone, '+49 30 2')

  await typeIn(page, 'Phone', '+49 30 5')
  await contact.change({ phone: '+49 30 4' })
  await page.getByRole('textbox', { name: 'Phone' }).press('Enter')
  await dialog.getByRole('button', { name: 'Use mine' }).click()
  await page.getByRole('button', { name: /^Phone.*\+49 30 5/ }).waitFor()
  assert.equal((await contact.stored()).phone, '+49 30 5')
})

test('a choice between two values that is left open stores nothing and keeps what was typed', async (t) => {
  const contact = await makeContact('Open')
  const page = await web.open(t, `/contacts/${contact.id}`, { allow: /status of 412/ })
  await typeIn(page, 'Phone', '+49 30 3')
  await contact.change({ phone: '+49 30 2' })
  const field = page.getByRole('textbox', { name: 'Phone' })
  await field.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep theirs' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Somebody changed this meanwhile').waitFor()
  await untilEqual(() => field.inputValue(), '+49 30 3')
  assert.equal((await contact.stored()).phone, '+49 30 2')
})

test('two people who change two fields of one record are asked nothing, and both changes stay', async (t) => {
  const contact = await makeContact('Both')
  const page = await web.open(t, `/contacts/${contact.id}`, { allow: /status of 412/ })
  await typeIn(page, 'Phone', '+49 30 3')
  await contact.change({ title: 'Admiral' })
  await page.getByRole('textbox', { name: 'Phone' }).press('Enter')
  await page.getByLabel('Saved').waitFor()
  const { phone, title } = await contact.stored()
  assert.deepEqual([phone, title], ['+49 30 3', 'Admiral'])
})

test('what is written in a dialog survives Escape and a reload, is said to be restored, and can be discarded', async (t) => {
  const page = await web.open(t, '/companies')
  const dialog = page.getByRole('dialog')
  const name = dialog.getByRole('textbox', { name: 'Name' })
  const open = () => page.keyboard.press('c')
  await page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor()
  await open()
  await name.fill('Half a company')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await open()
  await dialog.getByText('Draft restored').waitFor()
  await untilEqual(() => name.inputValue(), 'Half a company')
  await checkScreen(page)
  await page.reload()
  await dialog.getByText('Draft restored').waitFor()
  await untilEqual(() => name.inputValue(), 'Half a company')
  await dialog.getByRole('button', { name: 'Discard draft' }).click()
  await untilEqual(() => name.inputValue(), '')

  // A stored text and a cancelled one leave no draft.
  await name.fill('Whole company')
  await dialog.getByRole('button', { name: 'Create company' }).click()
  await page.getByText('Whole company created').waitFor()
  await page.goto(`${web.rapport.url}/companies?create=1`)
  await untilEqual(() => name.inputValue(), '')
  await name.fill('Not this one')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${web.rapport.url}/companies?create=1`)
  await untilEqual(() => name.inputValue(), '')
  await untilEqual(() => dialog.getByText('Draft restored').count(), 0)
})

test('an edit in place survives a reload, also of a half-typed date, beside what is stored now, and Escape discards it', async (t) => {
  const contact = await makeContact('Reloaded')
  const page = await web.open(t, `/contacts/${contact.id}`)
  const phone = page.getByRole('textbox', { name: 'Phone' })
  await typeIn(page, 'Phone', '+49 30 77')
  await page.reload()
  await page.getByText('Draft restored').waitFor()
  await untilEqual(() => phone.inputValue(), '+49 30 77')
  assert.equal((await contact.stored()).phone, '+49 30 1')
  await checkScreen(page)
  await phone.press('Escape')
  await page.getByRole('button', { name: /^Phone.*\+49 30 1/ }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /^Phone.*\+49 30 1/ }).waitFor()

  await typeIn(page, 'Phone', '+49 30 88')
  await page.reload()
  await phone.press('Enter')
  await page.getByRole('button', { name: /^Phone.*\+49 30 88/ }).waitFor()
  assert.equal((await contact.stored()).phone, '+49 30 88')

  const made = await web.rapport.call('POST', '/api/v1/deals', { name: 'Dated' })
  await page.goto(`${web.rapport.url}/deals/${made.body.data.id}`)
  await typeIn(page, 'Close date', '15/0')
  const changes = { expected_close_date: '2031-10-11' }
  await web.rapport.call('PUT', `/api/v1/deals/${made.body.data.id}`, changes)
  await page.reload()
  await page.getByText('Draft restored').waitFor()
  await page.getByText('now: 11 Oct 2031').waitFor()
  await untilEqual(() => page.getByRole('textbox', { name: 'Close date' }).inputValue(), '15/0')
})

test('drafts are gone after sign-out, those of other tabs too', async (t) => {
  const contact = await makeContact('Private')
  const session = await joinAs(web.rapport, 'leaving@example.test', 'member')
  const page = await web.open(t, `/contacts/${contact.id}`, { session, allow: /status of 40[13]/ })
  await typeIn(page, 'Phone', '+49 30 secret')
  const other = await page.context().newPage()
  await other.goto(`${web.rapport.url}/contacts?create=1`)
  await other.getByRole('textbox', { name: 'First name' }).fill('Secretly')
  await other.getByRole('dialog').press('Escape')
  await other.getByRole('dialog').waitFor({ state: 'detached' })
  const drafts = (tab: Page) =>
    tab.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('rapport-draft-')).length`)
  assert.notEqual(await drafts(page), 0)
  assert.notEqual(await drafts(other), 0)
  await other.getByRole('button', { name: /Gerda Meier/ }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.waitForURL('**/sign-in*')
  assert.equal(await drafts(other), 0)
  await until(() => drafts(page), 0)
})

// The last one: it leaves the session in another workspace.
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
