// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { joinAs } from '../web/people.ts'
import { addFilter, checkScreen, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const made = async (path: string, body: object): Promise<number> =>
  dataOf(await web.rapport.call('POST', `/api/v1/${path}`, body), 201).id
const stored = async (path: string) => (await web.rapport.call('GET', `/api/v1/${path}`)).body.data
/** The changes that the page sends from now on. */
function changes(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent.push(request.postData() ?? '')
  })
  return sent
}
async function typeOver(page: Page, text: string) {
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

test('a date that is typed is stored as the day it says, once, and only when it is written to its end', async (t) => {
  const id = await made('deals', { name: 'Engine', expected_close_date: '2026-12-01' })
  const page = await web.open(t, `/deals/${id}`)
  const sent = changes(page)
  const field = page.getByRole('textbox', { name: 'Close date' })
  const open = () => page.getByRole('button', { name: /^Close date/ }).click()
  await open()
  await untilEqual(() => field.inputValue(), '01/12/2026')
  await typeOver(page, '2027-01-15')
  assert.deepEqual(sent, [])
  await untilEqual(() => field.inputValue(), '2027-01-15')
  await field.press('Enter')
  await page.getByLabel('Saved').waitFor()
  assert.equal((await stored(`deals/${id}`)).expected_close_date, '2027-01-15')

  // As the locale writes it; leaving the field saves.
  await open()
  await typeOver(page, '3.2.2027')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: /^Close date.*3 Feb 2027/ }).waitFor()

  await open()
  await typeOver(page, '31/02/2027')
  await field.press('Enter')
  await page.getByText('Enter a complete, valid date').waitFor()
  await checkScreen(page)
  await page.getByRole('heading', { level: 1 }).click()
  await page.getByText('Enter a complete, valid date').waitFor()
  await field.press('Escape')
  await page.getByRole('button', { name: /^Close date.*3 Feb 2027/ }).waitFor()

  // The browser's calendar fills the field in; nothing is stored before it is left.
  await open()
  await page.locator('.written-picker').fill('2027-03-04', { force: true })
  await untilEqual(() => field.inputValue(), '04/03/2027')
  assert.equal(sent.length, 2)
  await field.focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  await field.press('Enter')
  await page.getByLabel('Saved').waitFor()
  assert.deepEqual(
    sent.map((text) => JSON.parse(text).expected_close_date),
    ['2027-01-15', '2027-02-03', null],
  )
})

test('Enter in an unchanged number, date or time field closes it for good, and stores nothing', async (t) => {
  const deal = await made('deals', {
    name: 'Untouched',
    value: 753505.2402,
    expected_close_date: '2026-12-01',
  })
  const activity = await made('activities', {
    type: 'call',
    subject: 'Untouched',
    due_at: '2026-12-01T09:00:00.000Z',
  })
  const page = await web.open(t, `/deals/${deal}`)
  const sent = changes(page)
  const leaves = async (name: string) => {
    const button = page.getByRole('button', { name: new RegExp(`^${name}`) })
    await button.click()
    const field = page.getByRole('textbox', { name, exact: true })
    await field.press('Enter')
    // The button has the focus, and the same key press has not opened the field once more.
    await until(() => page.locator(':focus').getAttribute('class'), 'field-button')
    await untilEqual(() => field.count(), 0, name)
    return button
  }
  const value = await leaves('Value')
  assert.match(await value.innerText(), /€753,505\.24$/)
  await leaves('Close date')
  await visit(page, `/activities/${activity}`)
  await leaves('Due')
  assert.deepEqual(sent, [])
})

test('the filter of a list takes the day that was typed', async (t) => {
  const page = await web.open(t, '/deals?view=table', { locale: 'de-DE' })
  await addFilter(page, 'Created')
  const filter = page.getByRole('textbox', { name: 'Created from' })
  await filter.pressSequentially('15.01.')
  await filter.press('Enter')
  await page.getByText('Enter a complete, valid date').waitFor()
  assert.doesNotMatch(page.url(), /created_from/)
  await filter.pressSequentially('2027')
  assert.doesNotMatch(page.url(), /created_from/)
  await filter.press('Enter')
  await page.waitForURL(/created_from=2027-01-15/)
  await page.getByRole('button', { name: 'Remove the filter Created' }).click()
  await page.waitForURL((url) => !url.search.includes('created_from'))
})

test('a contact is called and written to by one click from the record', async (t) => {
  const id = await made('contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    email: 'ana.ruiz@acme.example',
    phone: '+34 910 55-01 (42)',
    mobile: 'ask the office',
  })
  const page = await web.open(t, `/contacts/${id}`)
  const hrefOf = (name: string) => page.getByRole('link', { name }).first().getAttribute('href')
  assert.equal(await hrefOf('Call Ana Ruiz'), 'tel:+34910550142')
  assert.equal(await hrefOf('Write an e-mail to Ana Ruiz'), 'mailto:ana.ruiz@acme.example')
})

test('the contact of a deal is called and written to by one click, or one of the contacts of its company', async (t) => {
  const company_id = await made('companies', { name: 'Harbour Logistics AG' })
  const contact_id = await made('contacts', {
    first_name: 'Ana',
    last_name: 'Oyelaran',
    email: 'ana@harbour.example',
    company_id,
    phone: '+34 910 55 01 40',
    mobile: '+34 610 55-01 (42)',
  })
  await made('contacts', {
    first_name: 'Tomás',
    last_name: 'Ferreira',
    email: 'tomas@harbour.example',
    company_id,
  })
  const with_contact = await made('deals', { name: 'Crane 7', contact_id, company_id })
  const without = await made('deals', { name: 'Crane 8', company_id })
  const page = await web.open(t, `/deals/${with_contact}`)
  const hrefOf = (link: Locator) => link.getAttribute('href')
  const header = page.locator('.record-line')
  assert.equal(await hrefOf(header.getByRole('link', { name: 'Call Ana Oyelaran' })), 'tel:+34610550142')
  const written = header.getByRole('link', { name: 'Write an e-mail to Ana Oyelaran' })
  assert.equal(await hrefOf(written), 'mailto:ana@harbour.example')
  await visit(page, `/deals/${without}`)
  assert.equal(await hrefOf(header.getByRole('link', { name: 'Call Ana Oyelaran' })), 'tel:+34910550140')
  await header.getByRole('button', { name: 'Write an e-mail to a contact of the company' }).click()
  const choice = page.getByRole('menuitem', { name: 'Write an e-mail to Tomás Ferreira' })
  assert.equal(await hrefOf(choice), 'mailto:tomas@harbour.example')
  await checkScreen(page)
})

test('a new deal has what its dialog shows: the day, the amount and the company that were typed', async (t) => {
  const company_id = await made('companies', { name: 'Acme Rail' })
  const page = await web.open(t, '/deals?view=table')
  await page.getByRole('heading', { level: 1 }).waitFor()
  // The dialog has the letters from the key on that opens it.
  await page.keyboard.type('cTyped')
  const dialog = page.getByRole('dialog', { name: 'Create deal' })
  await untilEqual(() => dialog.getByLabel('Name').inputValue(), 'Typed')
  const day = dialog.getByRole('textbox', { name: 'Close date' })
  await day.pressSequentially('2027-02-30')
  await dialog.getByRole('button', { name: 'Create deal' }).click()
  await dialog.getByText('Enter a complete, valid date').waitFor()
  assert.equal((await stored('deals?search=Typed')).length, 0)
  await day.fill('28/2/2027')
  await dialog.getByLabel('Value').fill('12,500')
  await dialog.getByLabel('Stage').click()
  await page.getByRole('option', { name: 'Verbal commitment' }).waitFor()
  // A lost deal needs a reason, and this field cannot ask for one.
  await untilEqual(() => page.getByRole('option', { name: 'Lost' }).count(), 0)
  await page.keyboard.press('Escape')

  const company = dialog.getByRole('combobox', { name: 'Company' })
  await company.fill('Nobody')
  await dialog.getByRole('button', { name: 'Create deal' }).click()
  await dialog.getByText('Choose one from the list.').waitFor()
  await company.fill('acme')
  await page.getByRole('option', { name: 'Acme Rail' }).waitFor()
  await company.press('Enter')
  await untilEqual(() => company.inputValue(), 'Acme Rail')
  await company.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const [deal] = await stored('deals?search=Typed')
  assert.deepEqual(
    [deal.expected_close_date, deal.value, deal.company_id],
    ['2027-02-28', 12_500, company_id],
  )
})

test('Enter takes the first match of a field, also when its list was closed before the answer came', async (t) => {
  await made('companies', { name: 'Late Harbour Supply' })
  const page = await web.open(t, '/deals?view=table')
  await page.getByRole('button', { name: 'Create deal' }).click()
  const company = page.getByRole('dialog', { name: 'Create deal' }).getByRole('combobox', { name: 'Company' })
  const answer = Promise.withResolvers<void>()
  await page.route(/search=late/, async (route) => {
    await answer.promise
    await route.continue()
  })
  const asked = page.waitForRequest(/search=late/)
  await company.fill('late')
  await asked
  await company.press('Escape')
  const answered = page.waitForResponse(/search=late/)
  answer.resolve()
  await answered
  await untilEqual(async () => {
    await company.press('Enter')
    return company.inputValue()
  }, 'Late Harbour Supply')
})

test('the end of an appointment follows its start, however that is typed', async (t) => {
  const page = await web.open(t, '/calendar')
  await page.getByRole('button', { name: 'Create appointment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create appointment' })
  await dialog.getByLabel('Title').fill('Typed')
  const start = dialog.getByRole('textbox', { name: 'Start' })
  await start.fill('')
  await start.pressSequentially('5/12/2026 10')
  await page.keyboard.press('Tab')
  await untilEqual(() => start.inputValue(), '05/12/2026 10:00')
  await dialog.getByRole('textbox', { name: 'End' }).fill('2026-12-05 11:30')
  await start.fill('2026-12-06 2:30 pm')
  await start.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const [{ start_at, end_at }] = await stored('appointments?sort=-id')
  assert.deepEqual([start_at, end_at], ['2026-12-06T13:30:00.000Z', '2026-12-06T15:00:00.000Z'])
})

test('an amount that cannot be read clears nothing, and what is typed while one is stored is stored next', async (t) => {
  const id = await made('deals', { name: 'Rails', value: 500 })
  const page = await web.open(t, `/deals/${id}`)
  const sent = changes(page)
  await page.getByRole('button', { name: /^Value/ }).click()
  const field = page.getByRole('textbox', { name: 'Value' })
  await typeOver(page, '-')
  await field.press('Enter')
  await page.getByText('Enter a number such as 1,234.5.').waitFor()
  assert.deepEqual(sent, [])

  let answer = () => {}
  const asked = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route(`**/api/v1/deals/${id}`, async (route) => {
    if (route.request().method() === 'PUT') await asked
    await route.continue()
  })
  await typeOver(page, '12,500')
  await field.press('Enter')
  await typeOver(page, '13,000.5')
  answer()
  await page.getByLabel('Saved').waitFor()
  await untilEqual(() => field.inputValue(), '13,000.5')
  await field.press('Enter')
  await page.getByRole('button', { name: /^Value.*13,000\.50/ }).waitFor()
  assert.deepEqual(
    sent.map((text) => JSON.parse(text).value),
    [12_500, 13_000.5],
  )
})

test('a choice that cannot be stored stays in its field with the reason, and is stored by another try', async (t) => {
  const id = await made('activities', { subject: 'Visit', type: 'call' })
  const page = await web.open(t, `/activities/${id}`, { allow: /status of 500/ })
  await page.route(`**/api/v1/activities/${id}`, (route) =>
    route.request().method() === 'PUT' ? route.fulfill({ status: 500, body: '{}' }) : route.continue(),
  )
  await page.getByRole('button', { name: /^Type/ }).click()
  await page.getByRole('option', { name: 'Meeting' }).click()
  const problem = page.getByText('Something went wrong in the service.')
  await problem.waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  await problem.waitFor()
  const field = page.getByRole('combobox', { name: 'Type' })
  await untilEqual(() => field.inputValue(), 'Meeting')
  await page.unroute(`**/api/v1/activities/${id}`)
  await field.focus()
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: /^Type.*Meeting/ }).waitFor()
  assert.equal((await stored(`activities/${id}`)).type, 'meeting')
})

test('a refused value stays while its record is shown, and is reported when the record is closed', async (t) => {
  await made('contacts', { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.test' })
  await made('contacts', { first_name: 'Grace', last_name: 'Hopper' })
  const page = await web.open(t, '/contacts', { allow: /status of 422/ })
  const row = (name: string) =>
    page
      .getByRole('row', { name: new RegExp(name) })
      .locator('td')
      .nth(2)
  await row('Ada').click()
  await page.getByRole('button', { name: /^E-mail/ }).click()
  await typeOver(page, 'not-an-email')
  await page.getByRole('heading', { name: 'Custom fields' }).click()
  await page.getByText('Write an e-mail address such as ana.ruiz@example.com.').waitFor()
  const field = page.getByRole('textbox', { name: 'E-mail' })
  await untilEqual(() => field.inputValue(), 'not-an-email')
  await row('Grace').click()
  const told = page.getByText('E-mail was not saved (not-an-email): Write an e-mail address such')
  await told.waitFor()
  await checkScreen(page)

  // The same when the answer comes only after the record has gone.
  await page.reload()
  await row('Ada').click()
  // A refused text is a draft, until it is discarded.
  await page.getByText('Draft restored').waitFor()
  await untilEqual(() => field.inputValue(), 'not-an-email')
  await page.getByRole('button', { name: 'Discard draft' }).click()
  await page.getByRole('button', { name: /^E-mail/ }).click()
  await typeOver(page, 'not-an-email')
  await page.getByRole('link', { name: 'Companies' }).first().click()
  await page.waitForURL(/\/companies/)
  await told.waitFor()
  assert.equal((await stored('contacts?search=Lovelace'))[0].email, 'ada@example.test')

  // Also a text that was not saved yet.
  await page.goBack()
  await page.getByRole('button', { name: /^Title/ }).click()
  await page.keyboard.type('Countess')
  await page.goBack()
  await page.getByText('Title was not saved (Countess): The field went away before that.').waitFor()
})

test('an e-mail of another contact is named with a link, and a name with an override reorders nothing', async (t) => {
  const email = 'shared@example.test'
  const first = await made('contacts', { first_name: 'Eve\u202e', last_name: 'Moor', email })
  const page = await web.open(t, '/contacts?create=1')
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.getByLabel('First name').fill('Adam')
  await dialog.getByLabel('Last name').fill('Moor')
  await dialog.getByLabel('E-mail').fill('SHARED@example.test')
  const other = { name: 'Eve[U+202E] Moor' }
  await dialog.getByText('Another contact has this e-mail:').waitFor()
  await untilEqual(() => dialog.getByRole('link', other).getAttribute('href'), `/contacts/${first}`)
  const bottomOf = async (one: Locator) =>
    (await one.boundingBox().then((box) => box && box.y + box.height)) ?? 0
  const said = await dialog.getByText('Another contact has this e-mail:').boundingBox()
  const below = said!.y - (await bottomOf(dialog.getByLabel('E-mail')))
  assert.ok(below >= 0 && below < 8, `The warning stands ${below} px below the field.`)
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Create contact' }).click()
  await dialog.waitFor({ state: 'detached' })
  const [adam] = await stored('contacts?search=Adam Moor')
  await visit(page, `/contacts/${adam.id}`)
  const warning = page.getByText('Another contact has this e-mail:')
  await warning.waitFor()
  await page.getByRole('button', { name: /^E-mail/ }).click()
  await typeOver(page, 'adam@example.test')
  await warning.waitFor({ state: 'detached' })
  await typeOver(page, email)
  await warning.waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', other).click()
  await page.getByRole('heading', { level: 1, name: other.name }).waitFor()
})

test('an override in a tag, a note, a stage or the name of a member or a view shows as a mark', async (t) => {
  const id = await made('contacts', {
    first_name: 'Ruth',
    last_name: 'Gallagher',
    tags: ['vip\u202eoge'],
    stage: 'cold\u202e',
  })
  await made(`contacts/${id}/notes`, { body: 'Sent invoice\u202efdp.exe\nCalled back' })
  await joinAs(web.rapport, 'mallory@example.test', 'member', { name: 'Mal\u202eyrol Price' })
  const page = await web.open(t, `/contacts/${id}`)
  await page.getByRole('group', { name: 'Tags' }).getByText('vip[U+202E]oge').waitFor()
  await page.getByRole('button', { name: 'Remove the tag vip[U+202E]oge' }).waitFor()
  const written = 'Sent invoice[U+202E]fdp.exe\nCalled back'
  await until(
    () => page.locator('.timeline-note').innerText(),
    (text) => text === written,
  )
  await page.getByRole('tab', { name: 'Notes' }).click()
  await until(
    () => page.locator('.note-text').innerText(),
    (text) => text === written,
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Owner/ }).click()
  await page.getByRole('option', { name: 'Mal[U+202E]yrol Price' }).click()
  await page
    .getByRole('button', { name: /^Owner/ })
    .getByText('Mal[U+202E]yrol Price')
    .waitFor()

  await made('views', { list: 'contacts', name: 'Best\u202e', query: 'group=stage' })
  await page.goto(`${web.rapport.url}/contacts?stage=cold\u202e`)
  await page.locator('tr[data-row-id]').getByText('cold[U+202E]').waitFor()
  await page.getByRole('link', { name: 'Best[U+202E]' }).click()
  await page.getByRole('button', { name: /^cold\[U\+202E\]/ }).waitFor()
})
