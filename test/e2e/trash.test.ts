// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linksOf, namesOf } from '../../web/src/trash/record-links.ts'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { addFilter, checkScreen, settled, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()
let filled: Awaited<ReturnType<typeof fillWorkspace>>
before(async () => {
  filled = await fillWorkspace(web.rapport)
})

const call = (method: string, path: string, body?: object) => web.rapport.call(method, `/api/v1${path}`, body)

test('what was deleted is restored by one click, and several at once', async (t) => {
  const [, , first, second, third] = filled.contacts
  for (const id of [first, second, third]) await call('DELETE', `/contacts/${id}`)
  const page = await web.open(t, '/trash')
  await page.getByRole('button', { name: 'Restore Alan Turing' }).click()
  await page.getByText('Alan Turing restored').waitFor()
  await page.getByRole('button', { name: 'Restore Alan Turing' }).waitFor({ state: 'detached' })
  assert.equal((await call('GET', `/contacts/${first}`)).status, 200)

  await page.getByRole('checkbox', { name: 'Select Katherine Johnson' }).check()
  await page.getByRole('checkbox', { name: 'Select Linus Berg' }).check()
  await page.getByRole('region', { name: '2 selected' }).getByRole('button', { name: 'Restore' }).click()
  await page.getByText('2 records restored').waitFor()
  await page.getByText('Linus Berg', { exact: true }).waitFor({ state: 'detached' })
  for (const id of [second, third]) assert.equal((await call('GET', `/contacts/${id}`)).status, 200)
})

test('the trash shows one kind, and how many days are left', async (t) => {
  await call('DELETE', `/deals/${filled.deals[0]}`)
  const page = await web.open(t, '/trash?kind=deals')
  const rows = page.getByRole('table', { name: 'Trash' }).locator('tbody tr')
  await rows.filter({ hasText: 'Analytical Engines: first order' }).waitFor()
  await untilEqual(() => rows.count(), 1)
  assert.match(await rows.first().innerText(), /in 30 days/)
  await page.getByRole('button', { name: 'Remove the filter Kind' }).click()
  await rows.filter({ hasText: 'Nina Weber' }).waitFor()
})

test('to delete a person for good the name is typed; then the record and its data are gone', async (t) => {
  const { body } = await call('POST', '/contacts', {
    first_name: 'Vera',
    last_name: 'Vanish',
    email: 'vera@example.test',
  })
  const { id } = body.data
  await call('DELETE', `/contacts/${id}`)
  const page = await web.open(t, '/trash')
  await page.getByRole('button', { name: 'Delete Vera Vanish for good' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Vera Vanish for good?' })
  await dialog.getByText(/All notes of this contact go too/).waitFor()
  await dialog.getByRole('textbox').fill('Vera')
  await dialog.getByRole('button', { name: 'Delete for good' }).click()
  await dialog.getByText('This is not the name.').waitFor()
  await dialog.locator('input[aria-invalid=true]:focus').waitFor()
  assert.equal((await call('GET', '/trash?kind=contacts')).body.data[0].id, id)
  await checkScreen(page)
  await dialog.getByRole('textbox').fill('Vera Vanish')
  await page.keyboard.press('Enter')
  await page.getByText('Vera Vanish deleted for good').waitFor()
  await page.getByRole('button', { name: 'Delete Vera Vanish for good' }).waitFor({ state: 'detached' })
  assert.equal((await call('POST', `/contacts/${id}/restore`, {})).status, 404)
  const log = (await call('GET', `/audit-log?kind=contacts&record_id=${id}`)).body.data
  assert.equal(log[0].action, 'erased')
  assert.doesNotMatch(JSON.stringify(log), /Vanish/)
})

test('the audit log tells who changed what, from what to what, and leads to the record', async (t) => {
  const [id] = filled.contacts
  await call('POST', '/custom-fields', {
    resource: 'contacts',
    key: 'region',
    type: 'text',
    label: 'Sales region',
  })
  const custom_fields = { region: 'LATAM' }
  await call('PUT', `/contacts/${id}`, { phone: '+49 30 99', tags: ['vip'], custom_fields })
  const page = await web.open(t, `/audit-log?kind=contacts&record_id=${id}`)
  const row = page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem').first()
  await row.getByText('First key changed contact Ada Lovelace').waitFor()
  await row.getByRole('button', { name: /^Show what changed/ }).click()
  const phone_row = row.getByRole('row').filter({ hasText: 'Phone' })
  await untilEqual(() => phone_row.getByRole('cell').allInnerTexts(), ['+49 30 5550100', '+49 30 99'])
  await row.getByRole('row').filter({ hasText: 'Tags' }).getByText('vip').waitFor()
  // A custom field has a row, with its label, if it changed.
  const custom_row = row.getByRole('row').filter({ hasText: 'Sales region' })
  await untilEqual(() => custom_row.getByRole('cell').allInnerTexts(), ['APAC', 'LATAM'])
  assert.equal(await row.getByText('seats').count(), 0)
  await row.getByRole('link', { name: 'contact Ada Lovelace' }).click()
  await page.waitForURL(`**/contacts/${id}`)
})

test('an entry of the audit log leads to where its record is now', () => {
  const of = (record_id: string, action: string) => ({
    kind: 'contacts',
    record_id,
    action,
    before: null,
    after: null,
  })
  // The newest first.
  const entries = [
    of('1', 'restored'),
    of('2', 'erased'),
    of('3', 'deleted'),
    of('1', 'deleted'),
    of('2', 'updated'),
    of('3', 'updated'),
    of('4', 'updated'),
  ]
  assert.deepEqual(entries.map(linksOf(entries, { contacts: { path: '/contacts' } })), [
    { to: '/contacts/1' },
    null,
    { to: '/trash', search: { kind: 'contacts' } },
    { to: '/contacts/1' },
    null,
    { to: '/trash', search: { kind: 'contacts' } },
    { to: '/contacts/4' },
  ])
})

test('the audit log calls a contact by its name, never by its job title', () => {
  const of = (record_id: string, action: string, after: object | null) => ({
    kind: 'contacts',
    record_id,
    action,
    before: null,
    after: after as Record<string, unknown> | null,
    actor: { id: null, name: null },
  })
  const entries = [
    of('1', 'updated', { title: 'Chief Engineer' }),
    of('2', 'updated', { title: 'Head of Sales', email: 'ben@example.test' }),
    of('1', 'created', { first_name: 'Ada', last_name: 'Lovelace', title: 'Engineer' }),
    { ...of('7', 'created', { title: 'Product demo' }), kind: 'appointments' },
    { ...of('3', 'updated', { title: 'Head of Research' }), title: 'Grace Hopper' },
  ]
  const names = ['Ada Lovelace', '2', 'Ada Lovelace', 'Product demo', 'Grace Hopper']
  assert.deepEqual(entries.map(namesOf(entries)), names)
})

test('each sentence of the audit log ends: who signed in, and out', async (t) => {
  const session = await joinAs(web.rapport, 'short@example.test', 'member')
  await fetch(`${web.rapport.url}/api/v1/session`, {
    method: 'DELETE',
    headers: { cookie: session.split(';')[0] as string, 'sec-fetch-site': 'same-origin' },
  })
  const page = await web.open(t, '/audit-log?kind=sessions')
  const rows = page.locator('.audit-text')
  await rows
    .filter({ hasText: /signed out$/ })
    .first()
    .waitFor()
  await rows
    .filter({ hasText: /signed in$/ })
    .first()
    .waitFor()
})

test('the audit log is filtered by chips, and older changes come when they are asked for', async (t) => {
  for (let n = 0; n < 55; n++) await call('PUT', `/companies/${filled.companies[0]}`, { phone: `+49 ${n}` })
  const page = await web.open(t, '/audit-log?kind=companies')
  const rows = page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem')
  await rows.nth(49).waitFor()
  await untilEqual(() => rows.count(), 50)
  await page.getByRole('button', { name: 'Show older changes' }).click()
  await rows.nth(59).waitFor()
  await untilEqual(() => rows.count(), 60)
  await untilEqual(() => page.getByRole('button', { name: 'Show older changes' }).count(), 0)

  const editor = await addFilter(page, 'Action')
  await editor.getByRole('radio', { name: 'created', exact: true }).check()
  await page.waitForURL(/action=created/)
  await rows.nth(5).waitFor({ state: 'detached' })
  await untilEqual(() => rows.count(), 5)
  for (const text of await rows.allInnerTexts()) assert.match(text, /created company/)
  await visit(page, '/audit-log?to=2020-01-01')
  await page.getByText('No changes match these filters.').waitFor()
})

test('what is selected is what is seen, and the page before is shown when the last row of one is restored', async (t) => {
  for (let n = 0; n < 51; n++) {
    const { id } = (await call('POST', '/companies', { name: `Gone ${n}` })).body.data
    await call('DELETE', `/companies/${id}`)
  }
  const page = await web.open(t, '/trash?kind=companies')
  await page.getByRole('checkbox', { name: 'Select Gone 50' }).check()
  await page.getByRole('region', { name: '1 selected' }).waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByRole('button', { name: 'Restore Gone 0' }).waitFor()
  await untilEqual(() => page.getByRole('region', { name: /selected/ }).count(), 0)
  await page.getByRole('button', { name: 'Restore Gone 0' }).click()
  await page.getByRole('button', { name: 'Restore Gone 1', exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('page'), null)
})

test('a double click deletes once, and takes back once', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Twice', last_name: 'Clicked' })
  const note = await web.create(`/contacts/${id}/notes`, { body: 'Only one' })
  // A toast that goes slowly can be clicked again.
  const page = await web.open(t, `/contacts/${id}?tab=notes`, { reducedMotion: 'no-preference' })
  const undo = page.getByRole('button', { name: 'Undo' })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  await page.getByRole('button', { name: 'Delete the note' }).dblclick()
  await undo.dblclick()
  await page.getByText('Only one').waitFor()
  await undo.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete contact' }).dblclick()
  await undo.dblclick()
  await page.getByRole('link', { name: 'Twice Clicked' }).waitFor()
  await undo.waitFor({ state: 'detached' })
  assert.deepEqual(sent, [
    `DELETE /api/v1/contacts/${id}/notes/${note}`,
    `POST /api/v1/contacts/${id}/notes/${note}/restore`,
    `DELETE /api/v1/contacts/${id}`,
    `POST /api/v1/contacts/${id}/restore`,
  ])
})

test('a double click completes an activity once', async (t) => {
  const page = await web.open(t)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  const due_at = new Date(Date.now() - 3600_000).toISOString()
  const [listed, shown, home] = [
    await web.create('/activities', { subject: 'Twice in the list', due_at }),
    await web.create('/activities', { subject: 'Twice at its page', due_at }),
    await web.create('/activities', { subject: 'Twice at home', due_at }),
  ]
  await visit(page, '/activities?show=all')
  await page.getByRole('button', { name: 'Complete Twice in the list' }).dblclick()
  await page.getByText('Twice in the list completed').waitFor()
  await visit(page, `/activities/${shown}`)
  await page.getByRole('button', { name: 'Complete', exact: true }).dblclick()
  await page.getByText('Twice at its page completed').waitFor()
  await visit(page, '/')
  await page.getByRole('button', { name: 'Complete Twice at home' }).dblclick()
  await page.getByText('Twice at home completed').waitFor()
  assert.deepEqual(
    sent,
    [listed, shown, home].map((id) => `POST /api/v1/activities/${id}/complete`),
  )
})

test('the second click of a double click opens no dialog of the page that comes meanwhile', async (t) => {
  const start_at = new Date(Date.now() + 86_400_000).toISOString()
  const end_at = new Date(Date.now() + 90_000_000).toISOString()
  const id = await web.create('/appointments', { title: 'Accepted', start_at, end_at })
  const page = await web.open(t)
  for (const [path, name] of [
    ['/contacts', 'Create contact'],
    ['/deals', 'Create deal'],
    ['/activities', 'Create activity'],
    ['/calendar', 'Create appointment'],
    [`/calendar/${id}`, 'Cancel appointment'],
    ['/booking-pages', 'Create booking page'],
    ['/settings/fields', 'Create field'],
    ['/settings/webhooks', 'Create webhook'],
    ['/settings/members', 'Invite'],
  ] as const) {
    await visit(page, path)
    const button = page.getByRole('button', { name, exact: true }).first()
    const dialog = page.getByRole('dialog')
    // A dialog whose program is there opens at once.
    await button.click()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading').first().click()
    await button.hover()
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await settled(page)
    assert.equal(await dialog.count(), 0, name)
  }
})

test('a held Enter completes an activity once, and does not open it again', async (t) => {
  const id = await web.create('/activities', { subject: 'Held at its page' })
  const page = await web.open(t, `/activities/${id}`)
  const sent: string[] = []
  page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url())))
  await page.getByRole('button', { name: 'Complete', exact: true }).focus()
  await page.keyboard.down('Enter')
  await page.getByRole('button', { name: 'Reopen', exact: true }).waitFor()
  // Each further one is a repetition.
  for (let n = 0; n < 3; n++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  // So does the held key of the command.
  await page.keyboard.down('d')
  await page.getByRole('button', { name: 'Complete', exact: true }).waitFor()
  for (let n = 0; n < 3; n++) await page.keyboard.down('d')
  await page.keyboard.up('d')
  await page.getByText('Held at its page reopened').first().waitFor()
  assert.deepEqual(
    sent.map((url) => new URL(url).pathname),
    ['complete', 'reopen'].map((verb) => `/api/v1/activities/${id}/${verb}`),
  )
})

test('a double click pauses a webhook once, and deletes a field once', async (t) => {
  const url = 'https://receiver.example/hook'
  const webhook = await web.create('/webhooks', { name: 'Twice', url, events: ['deal.won'] })
  const field = { resource: 'contacts', key: 'twice', label: 'Twice', type: 'text' }
  const definition = await web.create('/custom-fields', field)
  const page = await web.open(t)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  await visit(page, `/settings/webhooks/${webhook}`)
  await page.getByRole('button', { name: 'Pause', exact: true }).dblclick()
  await page.getByRole('button', { name: 'Resume', exact: true }).waitFor()
  await visit(page, '/settings/fields')
  await page.getByRole('button', { name: 'Delete the field Twice' }).dblclick()
  await page.getByText('Field Twice deleted').waitFor()
  assert.deepEqual(sent, [
    `POST /api/v1/webhooks/${webhook}/pause`,
    `DELETE /api/v1/custom-fields/${definition}`,
  ])
})
