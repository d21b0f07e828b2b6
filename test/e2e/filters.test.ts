// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { joinAs } from '../web/people.ts'
import { addFilter, checkScreen, fits, phone, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const made = async (path: string, body: object): Promise<number> =>
  dataOf(await web.rapport.call('POST', `/api/v1/${path}`, body), 201).id
const names = async (page: Page, wanted: string[]) =>
  until(
    async () => (await page.locator('tbody [data-row-link]').allInnerTexts()).sort().join(),
    (found) => found === wanted.join(),
  )
const parameters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const chip = (page: Page, name: string) => page.locator('.chips').getByRole('button', { name, exact: true })

test('a filter takes several values, "not" and none, and an empty list offers to remove each filter', async (t) => {
  await made('custom-fields', { resource: 'contacts', key: 'tier', type: 'select', options: ['gold', 'tin'] })
  const contact = (last_name: string, stage: string | null, tier?: string) =>
    made('contacts', { first_name: 'Ana', last_name, stage, ...(tier && { custom_fields: { tier } }) })
  await contact('Lead', 'lead', 'gold')
  await contact('Won', 'won, at last!', 'tin')
  await contact('None', null)
  const page = await web.open(t, '/contacts?search=ana')
  const editor = await addFilter(page, 'Stage')
  await page.keyboard.type('lead\nwon, at last!\n')
  await names(page, ['Ana Lead', 'Ana Won'])
  await chip(page, 'Stage is lead or won, at last!').waitFor()
  assert.equal(parameters(page).stage, 'lead,won\\, at last!')
  const condition = editor.getByRole('combobox', { name: 'Stage: condition' })
  await condition.selectOption('is not')
  await names(page, ['Ana None'])
  await editor.getByRole('button', { name: 'Remove the value' }).first().click()
  await names(page, ['Ana Lead', 'Ana None'])
  await condition.selectOption('is not empty')
  await names(page, ['Ana Lead', 'Ana Won'])
  await chip(page, 'Stage is not empty').waitFor()
  await page.keyboard.press('Escape')
  assert.equal(parameters(page).stage, '!null')
  // Back leaves the filter at once, not each step of its editing.
  await page.goBack()
  await names(page, ['Ana Lead', 'Ana None', 'Ana Won'])
  assert.deepEqual(parameters(page), { search: 'ana' })

  await visit(page, '/contacts?custom_fields%5Btier%5D=gold&stage=won')
  await page.getByText('No contacts match. Remove').waitFor()
  await checkScreen(page)
  await page.locator('.no-matches').getByRole('button', { name: 'Stage is won' }).click()
  await names(page, ['Ana Lead'])
})

// Days of a year that is not the running one: those of the running year are shown without it.
test('deals are filtered by stages, amounts, days, companies and owners in one sentence', async (t) => {
  const company_id = await made('companies', { name: 'Harbour AG' })
  const deal = (name: string, more: object) => made('deals', { name, ...more })
  await deal('Small', { value: 500, company_id, expected_close_date: '2097-11-30' })
  await deal('Large', { value: 20_000, company_id, expected_close_date: '2097-11-30', stage: 'demo' })
  await deal('Late', { value: 20_000, company_id, expected_close_date: '2097-12-01' })
  await deal('Other', { value: 50_000, expected_close_date: '2097-11-30', stage: 'demo' })
  const page = await web.open(t, '/deals?view=table')

  const stages = await addFilter(page, 'Stage')
  await stages.getByRole('checkbox', { name: 'New lead' }).check()
  await stages.getByRole('checkbox', { name: 'Demo' }).check()
  await chip(page, 'Stage is New lead or Demo').waitFor()
  await page.keyboard.press('Enter')

  await addFilter(page, 'Value')
  await page.keyboard.type('10,000')
  await page.keyboard.press('Tab')
  await page.keyboard.type('50,000')
  await page.keyboard.press('Enter')
  await chip(page, 'Value from €10,000 to €50,000').waitFor()
  await names(page, ['Large', 'Late', 'Other'])

  const close = await addFilter(page, 'Close date')
  await close.getByRole('combobox', { name: 'Close date: condition' }).selectOption('before')
  await page.getByRole('textbox', { name: 'Close date before' }).fill('1/12/2097')
  // A click elsewhere keeps what was typed.
  await page.getByRole('heading', { level: 1 }).click()
  await chip(page, 'Close date before 1 Dec 2097').waitFor()
  await names(page, ['Large', 'Other'])

  await addFilter(page, 'Company')
  await page.keyboard.type('harb')
  await page.getByRole('option', { name: 'Harbour AG' }).waitFor()
  await page.keyboard.press('Enter')
  await chip(page, 'Company is Harbour AG').waitFor()
  await page.keyboard.press('Escape')
  await names(page, ['Large'])

  const owners = await addFilter(page, 'Owner')
  await owners.getByRole('combobox', { name: 'Owner: condition' }).selectOption('is not')
  await owners.getByRole('checkbox', { name: 'Me', exact: true }).check()
  await chip(page, 'Owner is not Me').waitFor()
  await page.keyboard.press('Escape')
  assert.deepEqual(parameters(page), {
    view: 'table',
    stage: 'new_lead,demo',
    value_from: '10000',
    value_to: '50000',
    expected_close_to: '2097-11-30',
    company_id: String(company_id),
    owner_id: '!me',
  })
  // The link says the same.
  const other = await web.open(t, page.url().slice(web.rapport.url.length), phone)
  await chip(other, 'Close date before 1 Dec 2097').waitFor()
  await until(() => other.locator('tbody [data-row-link]').count(), 1)
})

test('by keyboard alone: f adds a filter, Enter edits a chip, and Backspace removes it', async (t) => {
  await made('companies', { name: 'Keys GmbH', industry: 'Keys' })
  const page = await web.open(t, '/companies')
  await page.locator('tbody [data-row-link]').first().waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('indus')
  await page.keyboard.press('Enter')
  const value = page.locator('input:focus').and(page.getByRole('textbox', { name: 'Industry: value' }))
  await value.waitFor()
  await page.keyboard.type('Keys')
  await page.keyboard.press('Enter')
  await names(page, ['Keys GmbH'])
  await page.keyboard.press('Escape')
  const focused = () => page.evaluate('document.activeElement.textContent')
  await until(focused, 'Industry is Keys')
  await page.keyboard.press('Enter')
  await value.waitFor()
  // The keys of the page do nothing in the editor, and an empty field removes the last value.
  await page.keyboard.press('Backspace')
  await page.waitForURL((url) => !url.search.includes('industry'))
  await page.keyboard.type('Locks\n')
  await page.getByText('No companies match.').waitFor()
  await page.keyboard.press('Escape')
  await until(focused, 'Industry is Locks')
  await page.keyboard.press('Backspace')
  await page.locator('.chip').waitFor({ state: 'detached' })
  await page.locator('tbody [data-row-link]').getByText('Keys GmbH').waitFor()
  assert.deepEqual(parameters(page), {})
  // A filter without a value is none, and the focus goes back to the button.
  await page.keyboard.press('f')
  await page.keyboard.type('phone')
  await page.keyboard.press('Enter')
  await page
    .locator('input:focus')
    .and(page.getByRole('textbox', { name: 'Phone: value' }))
    .waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.chip').waitFor({ state: 'detached' })
  await until(focused, 'Filter')
})

test('defined fields are filters by their type, and columns that sort', async (t) => {
  const define = (key: string, type: string, more: object = {}) =>
    made('custom-fields', { resource: 'companies', key, type, ...more })
  // A key that would end a parameter if it was not encoded.
  const seats = 'seats & #1, "ä"'
  await define(seats, 'number', { label: 'Seats' })
  await define('renewal', 'date', { label: 'Renewal' })
  await define('partner', 'boolean', { label: 'Partner' })
  await define('plan', 'select', { label: 'Plan', options: ['free', 'team, large'] })
  const company = (name: string, custom_fields: object) => made('companies', { name, custom_fields })
  await company('F One', { [seats]: 5, renewal: '2097-01-31', partner: true, plan: 'free' })
  await company('F Two', { [seats]: 1200.5, renewal: '2097-02-01', partner: false, plan: 'team, large' })
  await company('F Three', { renewal: '2097-03-01', partner: true, plan: 'team, large' })
  const page = await web.open(t, '/companies?search=f')

  await addFilter(page, 'Seats')
  await page.keyboard.type('6')
  await page.keyboard.press('Enter')
  await chip(page, 'Seats at least 6').waitFor()
  await names(page, ['F Two'])
  assert.equal(parameters(page)[`custom_fields[${seats}]_from`], '6')
  await page.reload()
  await names(page, ['F Two'])
  await page.getByRole('button', { name: 'Remove the filter Seats' }).click()

  const partner = await addFilter(page, 'Partner')
  await partner.getByRole('checkbox', { name: 'Yes' }).check()
  await page.keyboard.press('Enter')
  const plan = await addFilter(page, 'Plan')
  await plan.getByRole('checkbox', { name: 'team, large' }).check()
  await page.keyboard.press('Enter')
  await names(page, ['F Three'])
  await chip(page, 'Plan is team, large').waitFor()
  assert.equal(parameters(page)['custom_fields[plan]'], 'team\\, large')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await visit(page, '/companies?search=f')

  const renewal = await addFilter(page, 'Renewal')
  await renewal.getByRole('combobox', { name: 'Renewal: condition' }).selectOption('before')
  await page.getByRole('textbox', { name: 'Renewal before' }).fill('2097-03-01')
  await page.keyboard.press('Enter')
  await names(page, ['F One', 'F Two'])

  await page.getByRole('button', { name: 'Columns' }).click()
  for (const name of ['Seats', 'Renewal', 'Partner', 'Plan'])
    await page.getByRole('checkbox', { name, exact: true }).check()
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: '1,200.5' }).waitFor()
  await page.getByRole('cell', { name: '31 Jan 2097' }).waitFor()
  await page.getByRole('button', { name: 'Seats', exact: true }).click()
  await page.locator('th[aria-sort=ascending]', { hasText: 'Seats' }).waitFor()
  const order = () => page.locator('tbody [data-row-link]').allInnerTexts()
  await until(order, (found) => found.join() === 'F One,F Two')
  await page.getByRole('button', { name: 'Seats', exact: true }).click()
  await until(order, (found) => found.join() === 'F Two,F One')
  assert.equal(parameters(page).sort, `-custom_fields.${seats}`)
  await page.reload()
  await until(order, (found) => found.join() === 'F Two,F One')
  await checkScreen(page, async (scheme) => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/custom-${scheme}.png` })
  })
})

test('a filter of an old link by one custom field still holds, and is written in the new form', async (t) => {
  await made('contacts', { first_name: 'Old', last_name: 'Link', custom_fields: { batch: 'a=b' } })
  const page = await web.open(t, '/contacts?custom_field=batch%3Da%3Db')
  await names(page, ['Old Link'])
  await chip(page, 'batch is a=b').click()
  await page.getByRole('textbox', { name: 'batch: value' }).fill('c')
  await page.keyboard.press('Enter')
  await until(
    async () => parameters(page),
    (found) => found['custom_fields[batch]'] === 'a=b,c' && !('custom_field' in found),
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Remove the filter batch' }).click()
  await page.locator('.chip').waitFor({ state: 'detached' })
})

test('the board, the activities and the calendar say which filter hides everything', async (t) => {
  const company_id = await made('companies', { name: 'Nothing here' })
  const page = await web.open(t, `/deals?company_id=${company_id}`)
  await page.getByText('No deals match. Remove').waitFor()
  await page.locator('.no-matches').getByRole('button', { name: 'Company is Nothing here' }).click()
  await page.locator('.board').waitFor()

  await made('activities', { type: 'call', subject: 'Ring', due_at: '2097-06-01T10:00:00Z' })
  await visit(page, '/activities?show=all&type=meeting')
  await page.getByText('No activities match. Remove').waitFor()
  await page.locator('.no-matches').getByRole('button', { name: 'Type is Meeting' }).click()
  await names(page, ['Ring'])
  const due = await addFilter(page, 'Due')
  await due.getByRole('combobox', { name: 'Due: condition' }).selectOption('before')
  await page.getByRole('textbox', { name: 'Due before' }).fill('2097-06-01')
  await page.keyboard.press('Enter')
  await page.getByText('No activities match. Remove').waitFor()
  await page.locator('.no-matches').getByRole('button', { name: 'Due before 1 Jun 2097' }).click()
  await names(page, ['Ring'])

  await visit(page, '/calendar?status=declined')
  await page.getByText('No appointments match. Remove').waitFor()
  await checkScreen(page)
  await page.locator('.no-matches').getByRole('button', { name: 'Status is Declined' }).click()
  await page.getByText('No appointments match.').waitFor({ state: 'detached' })
})

test('activities and the calendar have saved views, and a block of the calendar shows its host', async (t) => {
  // The day of the person: at night, that of UTC is the one before, which may be in another week.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date())
  const at = (hours: number) => `${today}T${10 + hours}:00:00.000Z`
  const { body } = await web.rapport.call('GET', '/api/v1/members')
  await made('appointments', {
    title: 'With a host',
    start_at: at(0),
    end_at: at(1),
    owner_id: body.data[0].id,
  })
  const page = await web.open(t, '/calendar')
  const block = page.locator('.calendar-block', { hasText: 'With a host' })
  await block.getByRole('img', { name: 'Host: Olivia Owner' }).waitFor()
  for (const [path, address] of [
    ['/calendar', 'status=scheduled&show=day'],
    ['/activities', 'type=call&show=all'],
  ] as const) {
    await visit(page, `${path}?${address}`)
    await page.getByRole('button', { name: 'Save as new view' }).click()
    await page.getByRole('textbox', { name: 'Name of the view' }).fill('Mine to see')
    await page.keyboard.press('Enter')
    await page.getByText('View Mine to see saved').waitFor()
    await page.goto(`${web.rapport.url}${path}`)
    await page.getByRole('link', { name: 'Mine to see' }).click()
    await page.locator('.chip').waitFor()
    const found = parameters(page)
    for (const [name, value] of new URLSearchParams(address)) assert.equal(found[name], value)
  }
})

test('a person who reads German has filters in German, with room on a phone', async (t) => {
  const session = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
  const query =
    'view=table&stage=demo,won&value_from=10000&expected_close_to=2097-11-30&owner_id=!me&source=null&tag=!null'
  const page = await web.open(t, `/deals?${query}`, { ...phone, session, locale: 'de-DE' })
  for (const name of [
    'Phase ist Demo oder Gewonnen',
    'Wert mindestens 10.000 €',
    'Zuständig ist nicht Ich',
    'Quelle ist leer',
    'Schlagwort ist nicht leer',
    'Abschluss vor 01.12.2097',
  ])
    await page.locator('.chips').getByRole('button', { name, exact: true }).waitFor()
  await fits(page)
  await page.locator('.chips').getByRole('button', { name: /^Wert/ }).click()
  await page.getByRole('dialog', { name: 'Nach Wert filtern' }).waitFor()
  await fits(page)
})

test('a value of a filter is read in words, as in a date field: 24 Dec 2027, morgen, 12k', async (t) => {
  await made('deals', { name: 'Harbour crane', value: 12_000, expected_close_date: '2027-12-24' })
  const page = await web.open(t, '/deals?view=table')
  const days = await addFilter(page, 'Close date')
  await days.getByRole('combobox', { name: 'Close date: condition' }).selectOption('is')
  await days.getByRole('textbox').fill('24 Dec 2027')
  await page.keyboard.press('Enter')
  await names(page, ['Harbour crane'])
  assert.equal(parameters(page).expected_close_date, '2027-12-24')
  await days.getByRole('textbox').fill('morgen')
  await page.keyboard.press('Enter')
  await until(
    async () => parameters(page).expected_close_date,
    (found) => /^2027-12-24,\d{4}-\d\d-\d\d$/.test(found ?? ''),
  )
  await days.getByRole('textbox').fill('someday')
  await page.keyboard.press('Enter')
  await days.getByText('You can also write 24 Dec, tomorrow').waitFor()
  await visit(page, '/deals?view=table')
  const amounts = await addFilter(page, 'Value')
  await amounts.getByRole('combobox', { name: 'Value: condition' }).selectOption('is')
  await amounts.getByRole('textbox').fill('12k')
  await page.keyboard.press('Enter')
  await names(page, ['Harbour crane'])
  assert.equal(parameters(page).value, '12000')
})
