// runs: once, long
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, startWeb, visit, type Web } from '../web.ts'
import { joinAs } from '../web-people.ts'
import { fillWorkspace } from '../web-records.ts'

let web: Web
let reader: string
before(async () => {
  web = await startWeb()
  await fillWorkspace(web.rapport)
  reader = await joinAs(web.rapport, 'rita@example.test', 'read_only', { language: 'en' })
})
after(() => web?.close())

async function create(path: string, body: object): Promise<number> {
  const made = await web.rapport.call('POST', `/api/v1${path}`, body)
  assert.equal(made.status, 201, made.text)
  return made.body.data.id
}
const read = async (path: string) => (await web.rapport.call('GET', `/api/v1${path}`)).body.data
const contact = (first_name: string, last_name: string, more = {}) =>
  create('/contacts', { first_name, last_name, ...more })

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const rows = (page: Page, name: string) => page.getByRole('table', { name }).locator('tbody tr[data-row-id]')
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' }).click()

/** Waits until something is so; the last answer is the error. A busy machine may take long. */
async function until<T>(ask: () => Promise<T>, wanted: T) {
  for (let tries = 0; tries < 300; tries++) {
    const got = await ask()
    if (JSON.stringify(got) === JSON.stringify(wanted)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.deepEqual(await ask(), wanted)
}

test('a contact is created and found by keyboard, and every row can be reached by j and opened by Enter', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 422/ })
  await heading(page, 'Contacts')
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.waitFor()
  await page.keyboard.type('Barbara')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Liskov')
  await page.keyboard.press('Tab')
  await page.keyboard.type('not an address')
  await page.keyboard.press('Enter')
  // The service refuses. The field shows the error, and the text stays.
  const email = dialog.getByRole('textbox', { name: 'E-mail' })
  await dialog.locator('input[type=email][aria-invalid=true]').waitFor()
  await email.fill('barbara@example.test')
  await dialog.getByRole('combobox', { name: 'Company' }).fill('lumen')
  // The first match is marked by itself. Below it, a new company is offered when the service has answered.
  await page.getByRole('option', { name: /Lumen Optics/ }).waitFor()
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Tags').fill('logic')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Create contact' }).press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('complementary', { name: 'Barbara Liskov' }).waitFor()

  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('lisk')
  await until(() => rows(page, 'Contacts').count(), 1)
  await page.keyboard.press('Tab')
  await page.locator('main').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await heading(page, 'Barbara Liskov')
  const [stored] = await read('/contacts?search=liskov')
  assert.equal(stored.company.name, 'Lumen Optics')
  assert.deepEqual((await read(`/contacts/${stored.id}`)).tags, ['logic'])
})

test('a fact is edited in place: Enter stores that field alone, Escape reverts, the service is heard at the field', async (t) => {
  const id = await contact('Edsger', 'Dijkstra', { phone: '1', email: 'edsger@example.test' })
  const page = await web.open(t, `/contacts/${id}`, { allow: /status of 422/ })
  await heading(page, 'Edsger Dijkstra')
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent.push(request.postDataJSON())
  })
  const phone_button = page.getByRole('button', { name: 'Phone: Edit' })
  await phone_button.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('+31 20 1')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Saved' }).or(page.getByLabel('Saved')).first().waitFor()
  assert.deepEqual(sent, [{ phone: '+31 20 1' }])
  await until(() => phone_button.evaluate((one) => one === one.ownerDocument.activeElement), true)

  await page.keyboard.press('Enter')
  await page.keyboard.type('999')
  await page.keyboard.press('Escape')
  await phone_button.getByText('+31 20 1', { exact: true }).waitFor()
  assert.equal(sent.length, 1)

  // e begins with the first fact.
  await page.keyboard.press('e')
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Enter')
  await page.locator('.mantine-InputWrapper-error, .mantine-TextInput-error').first().waitFor()
  await page.keyboard.press('Escape')
  await heading(page, 'Edsger Dijkstra')

  await page.getByRole('button', { name: 'Company: Edit' }).click()
  await page.getByRole('combobox', { name: 'Company' }).fill('harbour')
  await page.getByRole('option', { name: /Harbour Logistics/ }).click()
  await page.getByRole('link', { name: 'Harbour Logistics' }).first().waitFor()
  const stored = await read(`/contacts/${id}`)
  assert.equal(stored.company.name, 'Harbour Logistics')
  assert.equal(stored.first_name, 'Edsger')
})

test('tags and custom fields keep their kind, and what is removed can come back', async (t) => {
  const id = await contact('Donald', 'Knuth', { tags: ['author'], custom_fields: { volumes: 4 } })
  const page = await web.open(t, `/contacts/${id}`)
  await page.getByRole('textbox', { name: 'Add tag' }).fill('organ')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove the tag organ' }).waitFor()
  await page.getByRole('button', { name: 'Remove the tag author' }).click()
  await until(async () => (await read(`/contacts/${id}`)).tags, ['organ'])

  await page.getByRole('button', { name: 'volumes: Edit' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await until(async () => (await read(`/contacts/${id}`)).custom_fields, { volumes: 5 })
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByLabel('Name', { exact: true }).fill('region')
  await page.getByLabel('Value').fill('EMEA')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'region: Edit' }).waitFor()
  await page.getByRole('button', { name: 'Remove the field volumes' }).click()
  await until(async () => (await read(`/contacts/${id}`)).custom_fields, { region: 'EMEA' })
  await undo(page)
  await until(async () => (await read(`/contacts/${id}`)).custom_fields.volumes, 5)
})

test('a note takes one keystroke, can be changed, and comes back after it was deleted', async (t) => {
  const id = await contact('Tony', 'Hoare')
  const page = await web.open(t, `/contacts/${id}`)
  await heading(page, 'Tony Hoare')
  await page.keyboard.press('n')
  await page.keyboard.type('The first note')
  await page.keyboard.press('Control+Enter')
  const notes = page.getByRole('list', { name: 'Notes' })
  await notes.getByText('The first note').waitFor()
  await notes.getByText(/ago by you$|now by you$/).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tab'), 'notes')

  await page.getByRole('button', { name: 'Edit the note' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('The better note')
  await page.keyboard.press('Control+Enter')
  await notes.getByText('The better note').waitFor()
  await notes.getByText(/· edited .+ by you$/).waitFor()
  await page.getByRole('button', { name: 'Delete the note' }).click()
  await notes.getByText('The better note').waitFor({ state: 'detached' })
  await undo(page)
  await notes.getByText('The better note').waitFor()
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('list', { name: 'Timeline' }).getByText('The better note').waitFor()
})

test('of notes that the service answers in parts, the older ones come when they are asked for', async (t) => {
  const id = await contact('Donald', 'Knuth')
  // More than the 7 MiB of one answer. A control character is six bytes of JSON.
  const filling = '\u0001'.repeat(65_000)
  for (let n = 0; n < 24; n++) await create(`/contacts/${id}/notes`, { body: `Note ${n} ${filling}` })
  const page = await web.open(t, `/contacts/${id}?tab=notes`)
  const notes = page.getByRole('list', { name: 'Notes' })
  await notes.getByText('Note 23').waitFor()
  assert.equal(await notes.getByText('Note 0 ').count(), 0)
  await page.getByRole('button', { name: 'Show more' }).click()
  await notes.getByText('Note 0 ').waitFor()
  assert.equal(await notes.getByRole('listitem').count(), 24)
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
})

test('a timeline tells who changed what, and older entries page by page', async (t) => {
  const id = await contact('Leslie', 'Lamport', { stage: 'lead' })
  for (let n = 0; n < 30; n++) await create(`/contacts/${id}/notes`, { body: `Note ${n}` })
  await web.rapport.call('PUT', `/api/v1/contacts/${id}`, { stage: 'customer', custom_fields: { seats: 3 } })
  const page = await web.open(t, `/contacts/${id}`)
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText('from lead to customer').waitFor()
  await timeline.getByText('seats set to 3').waitFor()
  assert.equal(await timeline.getByText('Note 0', { exact: true }).count(), 0)
  await page.getByRole('button', { name: 'Show older entries' }).click()
  await timeline.getByText('Note 0', { exact: true }).waitFor()
  await timeline.getByText(/created this/).waitFor()
})

test('a link to a related record shows a card of it, under the mouse and with the focus', async (t) => {
  const company_id = await create('/companies', { name: 'Carded Works', industry: 'Letterpress' })
  const id = await create('/contacts', { first_name: 'Carda', last_name: 'Reader', company_id })
  const page = await web.open(t, `/contacts/${id}`)
  const link = page.getByRole('region', { name: 'Facts' }).getByRole('link', { name: 'Carded Works' })
  const card = page.getByRole('tooltip')
  await link.hover()
  await card.getByText('Letterpress').waitFor()
  await checkScreen(page)
  await page.mouse.move(0, 0)
  await card.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /Title/ }).focus()
  await page.keyboard.press('Tab')
  assert.ok(await link.evaluate((one) => one === one.ownerDocument.activeElement))
  await card.getByText('Letterpress').waitFor()
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'detached' })
})

test('a company is created, gets a contact and a deal, and comes back after it was deleted', async (t) => {
  const page = await web.open(t, '/companies')
  await heading(page, 'Companies')
  await page.keyboard.press('c')
  await page.getByRole('dialog', { name: 'Create company' }).waitFor()
  await page.keyboard.type('Difference Works')
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'Difference Works' })
  await panel.getByRole('link', { name: 'Open the whole page' }).click()
  await heading(page, 'Difference Works')
  await page.getByRole('button', { name: 'Website: Edit' }).click()
  await page.keyboard.type('difference.example')
  await page.keyboard.press('Enter')
  const site = page.getByRole('link', { name: 'Open the website of Difference Works' })
  assert.equal(await site.getAttribute('href'), 'https://difference.example/')

  await page.getByRole('tab', { name: 'Contacts' }).click()
  await page.getByRole('button', { name: 'Create contact' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.getByLabel('First name').fill('Charles')
  await dialog.getByLabel('Last name').fill('Babbage')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Charles Babbage' }).waitFor()
  await page.getByRole('tab', { name: 'Deals' }).click()
  await page.getByRole('button', { name: 'Create deal' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('An engine')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Value' }).fill('500')
  await page.keyboard.press('Enter')
  await page.getByRole('tabpanel').getByRole('link', { name: 'An engine' }).waitFor()
  await page.getByText('€500 open').waitFor()

  await page.getByRole('button', { name: 'Delete company' }).click()
  await heading(page, 'Companies')
  await undo(page)
  await page.getByRole('link', { name: 'Difference Works' }).waitFor()
})

test('text of records is only text, and a website that is a program is no link', async (t) => {
  const evil = '<img src=x onerror=alert(1)>'
  const company_id = await create('/companies', { name: evil, website: 'javascript:alert(1)' })
  const id = await contact(evil, evil, { company_id, tags: [evil], custom_fields: { [evil]: evil } })
  await create(`/contacts/${id}/notes`, { body: evil })
  const page = await web.open(t, `/contacts/${id}`)
  await page.getByRole('list', { name: 'Timeline' }).getByText(evil).first().waitFor()
  assert.equal(await page.locator('img').count(), 0)
  await visit(page, `/companies/${company_id}`)
  await heading(page, evil)
  assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
  await visit(page, '/companies')
  await page.getByRole('link', { name: evil }).waitFor()
  assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
})

test('who may only read sees no control that changes something', async (t) => {
  const page = await web.open(t, '/contacts?search=lovelace', { session: reader })
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  assert.equal(await page.getByRole('checkbox').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Create contact' }).count(), 0)
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await heading(page, 'Ada Lovelace')
  const changing = page.getByRole('button', { name: /Edit|Delete|Remove|Add|Create|Save/ })
  assert.equal(await changing.count(), 0)
  await page.keyboard.press('n')
  for (const tab of ['Notes', 'Deals', 'Activities', 'Appointments']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
    assert.equal(await changing.count(), 0, tab)
    assert.equal(await page.getByRole('tabpanel').getByRole('textbox').count(), 0, tab)
  }
})
