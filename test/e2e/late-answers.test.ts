// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { fillWorkspace } from '../web/records.ts'
import { untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()
let ids: Awaited<ReturnType<typeof fillWorkspace>>
before(async () => {
  ids = await fillWorkspace(web.rapport)
})

const search = (page: Page) => new URL(page.url()).search

/** Holds each request to a path until the test releases it. */
async function hold(page: Page, path: string, method = 'POST'): Promise<() => void> {
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() === method) await held
    await route.continue()
  })
  return go
}

for (const [noun, path, labels, other] of [
  ['contact', '/contacts', ['First name', 'Last name'], 'Companies'],
  ['company', '/companies', ['Name'], 'Contacts'],
  ['deal', '/deals?view=table', ['Name'], 'Contacts'],
] as const)
  test(`an answer that comes after the ${noun}'s dialog is closed changes no address and no other dialog`, async (t) => {
    const page = await web.open(t, path)
    const [list = ''] = path.split('?')
    await page.getByRole('table').locator('tbody a').first().waitFor()
    const go = await hold(page, list)
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    const dialog = page.getByRole('dialog', { name: `Create ${noun}` })
    await page.keyboard.press('c')
    for (const name of labels) await dialog.getByRole('textbox', { name }).fill('Late')
    await page.keyboard.press('Enter')
    await posted
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('navigation').getByRole('link', { name: other, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: other }).waitFor()
    await page.keyboard.press('c')
    const next = page.getByRole('dialog')
    await next.getByRole('textbox').first().fill('Next')
    go()
    await answered
    await page.getByText(/Late created/).waitFor()
    assert.equal(search(page), '?create=1')
    await untilEqual(() => next.getByRole('textbox').first().inputValue(), 'Next')
  })

test('an answer that comes after its dialog was opened anew leaves what is typed there', async (t) => {
  const page = await web.open(t, '/companies')
  await page.getByRole('table').locator('tbody a').first().waitFor()
  const go = await hold(page, '/companies')
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
  await page.keyboard.press('c')
  await name.fill('First')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await name.waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  await name.fill('Second')
  go()
  await page.getByText('First created').waitFor()
  assert.equal(search(page), '?create=1')
  await untilEqual(() => name.inputValue(), 'Second')
})

test('a note that is not saved is still there after another tab, another page and a reload, for its contact alone', async (t) => {
  const [one, two] = ids.contacts
  const page = await web.open(t, `/contacts/${one}?tab=notes`)
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('Half a thought')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await note.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Notes' }).click()
  await untilEqual(() => note.inputValue(), 'Half a thought')
  await visit(page, `/contacts/${two}?tab=notes`)
  await note.waitFor()
  await untilEqual(() => note.inputValue(), '')
  await visit(page, `/contacts/${one}?tab=notes`)
  await note.waitFor()
  await untilEqual(() => note.inputValue(), 'Half a thought')
  await page.getByRole('button', { name: 'Save note' }).click()
  await page.getByRole('listitem').getByText('Half a thought').waitFor()
  await page.reload()
  await note.waitFor()
  await untilEqual(() => note.inputValue(), '')
})

test('what is changed and typed while tags and notes are being stored is stored, too', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Quick', last_name: 'Hand', tags: ['a', 'b', 'c'] })
  const page = await web.open(t, `/contacts/${id}?tab=notes`)
  const putNow = await hold(page, `/contacts/${id}`, 'PUT')
  for (const tag of ['a', 'b']) await page.getByRole('button', { name: `Remove the tag ${tag}` }).click()
  await page.getByRole('textbox', { name: 'Add tag' }).focus()
  await page.keyboard.type('vip')
  await page.keyboard.press('Enter')
  await page.keyboard.type('hot')
  await page.keyboard.press('Enter')
  const last = page.waitForResponse(
    async (one) => one.request().method() === 'PUT' && (await one.text()).includes('"hot"'),
  )
  putNow()
  assert.deepEqual((await (await last).json()).data.tags, ['c', 'vip', 'hot'])

  const postNow = await hold(page, `/contacts/${id}/notes`)
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('The first')
  await page.keyboard.press('Control+Enter')
  await page.keyboard.type('The second')
  // It stays in the form, so that it is a draft, until the first one is stored.
  await page.keyboard.press('Control+Enter')
  assert.equal(await note.inputValue(), 'The second')
  const listNow = await hold(page, `/contacts/${id}/notes`, 'GET')
  postNow()
  await page.locator('button[type=submit][data-loading]').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save note' }).click()
  await untilEqual(() => note.inputValue(), '')
  const bodies = async () =>
    (await web.read(`/contacts/${id}/notes`)).map(({ body }: { body: string }) => body)
  await untilEqual(bodies, ['The second', 'The first'])
  listNow()
  await page.getByRole('listitem').getByText('The second').waitFor()
  await untilEqual(() => note.inputValue(), '')
})

test('a form is sent once, however long its keys are held', async (t) => {
  const page = await web.open(t, '/contacts?create=1', { allow: /status of 422/ })
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.getByRole('textbox', { name: 'First name' }).fill('Held')
  await dialog.getByRole('textbox', { name: 'Last name' }).fill('Long')
  const email = dialog.getByRole('textbox', { name: 'E-mail' })
  await email.fill('nowhere')
  const go = await hold(page, '/contacts')
  let sent = 0
  page.on('request', (request) => void (request.method() === 'POST' && sent++))
  await page.keyboard.down('Control')
  // Each further one is a repetition.
  for (let n = 0; n < 3; n++) await page.keyboard.down('Enter')
  // A refusal leaves the dialog open.
  go()
  await dialog.locator('input[type=email][aria-invalid=true]').waitFor()
  for (let n = 0; n < 3; n++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await page.keyboard.up('Control')
  assert.equal(sent, 1)
  await email.fill('held@example.test')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Held Long created').waitFor()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(sent, 2)
})

test('a held Enter completes one task, and leaves the field for its outcome open', async (t) => {
  const due_at = new Date(Date.now() - 144 * 3600_000).toISOString()
  await web.create('/activities', { subject: 'Send the papers', due_at })
  await web.create('/activities', { subject: 'Read the papers', due_at })
  const page = await web.open(t, null, { reusable: false })
  const completed: string[] = []
  page.on('request', (one) => void (one.url().endsWith('/complete') && completed.push(one.url())))
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(/\/assets\/outcome-.*js/, async (route) => {
    await late
    await route.continue()
  })
  const asked = page.waitForRequest(/\/assets\/outcome-.*js/)
  await page.goto(web.rapport.url)
  await page.getByRole('button', { name: 'Complete Send the papers' }).focus()
  const outcome = page.getByRole('textbox', { name: 'What came of Send the papers?' })
  // Each further one is a repetition.
  for (let n = 0; n < 3; n++) await page.keyboard.down('Enter')
  await asked
  come()
  await outcome.waitFor()
  for (let n = 0; n < 3; n++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await page.keyboard.type('Sent')
  await untilEqual(() => outcome.inputValue(), 'Sent')
  assert.equal(completed.length, 1)
})

test('rows that no longer fit the filter are marked as busy, and cannot be selected', async (t) => {
  const page = await web.open(t, '/contacts')
  await page.locator('tbody tr[data-row-id]').first().waitFor()
  const go = await hold(page, '/contacts?**search=quick**', 'GET')
  await page.getByRole('searchbox', { name: 'Search' }).fill('quick')
  const busy = page.locator('table[aria-busy=true]')
  await busy.waitFor()
  const all = page.getByRole('checkbox', { name: 'Select all on this page' })
  assert.ok(await all.isDisabled())
  await all.click({ force: true })
  await page.keyboard.press('Escape')
  await untilEqual(() => all.isChecked(), false)
  go()
  await busy.waitFor({ state: 'detached' })
  await page.getByRole('status').filter({ hasText: '1 found' }).waitFor({ state: 'attached' })
  await untilEqual(() => page.getByRole('region', { name: /selected/ }).count(), 0)
})
