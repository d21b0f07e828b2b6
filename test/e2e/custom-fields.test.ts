// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { checkScreen, phone, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const made = async (path: string, body: object): Promise<number> =>
  dataOf(await web.rapport.call('POST', `/api/v1/${path}`, body), 201).id
const stored = async (path: string) => (await web.rapport.call('GET', `/api/v1/${path}`)).body.data
const define = (resource: string, key: string, type: string, more: object = {}) =>
  made('custom-fields', { resource, key, type, ...more })
const labels = (page: Page) => page.locator('.definitions .settings-row > :first-child').allInnerTexts()
const order = (page: Page, wanted: string[]) =>
  until(
    () => labels(page),
    (found) => JSON.stringify(found.map((one) => one.trim())) === JSON.stringify(wanted),
  )

test('fields are created, renamed, ordered by the keyboard and deleted; their values stay', async (t) => {
  const contact = await made('contacts', {
    first_name: 'Ada',
    last_name: 'Lovelace',
    custom_fields: { tier: 'gold', seats: 'many' },
  })
  const page = await web.open(t, '/settings/fields', { allow: /status of 4(09|22)/ })
  await page.getByText('No fields yet.').waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create field' })
  await dialog.getByLabel('Key').fill('tier')
  await dialog.getByLabel('Label').fill('Customer tier')
  await dialog.getByRole('combobox', { name: 'Type' }).click()
  await page.getByRole('option', { name: 'Choice' }).click()
  await dialog.getByLabel('Options').fill('gold\nsilver')
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Create field' }).click()
  await order(page, ['Customer tier tier'])

  // A value of a contact is not a number.
  await page.getByRole('button', { name: 'Create field' }).click()
  await dialog.getByLabel('Key').fill('seats')
  await dialog.getByRole('combobox', { name: 'Type' }).click()
  await page.getByRole('option', { name: 'Number' }).click()
  await dialog.getByRole('button', { name: 'Create field' }).click()
  await dialog.getByText('1 existing value breaks this.').waitFor()
  await checkScreen(page)
  await dialog.getByLabel('Apply to new values only').check()
  await dialog.getByRole('button', { name: 'Create field' }).click()
  await order(page, ['Customer tier tier', 'seats'])
  assert.equal((await stored(`contacts/${contact}`)).custom_fields.seats, 'many')

  await page.getByRole('button', { name: 'Move seats up' }).focus()
  await page.keyboard.press('Enter')
  await order(page, ['seats', 'Customer tier tier'])
  await page.getByText('seats is now 1 of 2').waitFor()
  await until(
    () => stored('custom-fields?resource=contacts'),
    (found) => found[0].key === 'seats',
  )
  await checkScreen(page)

  await page.getByRole('button', { name: 'Edit the field seats' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit the field seats' })
  await edit.getByLabel('Label').fill('Seats')
  await edit.getByRole('button', { name: 'Save field' }).click()
  await order(page, ['Seats seats', 'Customer tier tier'])

  await page.getByRole('button', { name: 'Delete the field Seats' }).click()
  await page.getByText('Field Seats deleted. Its values stay in the records.').waitFor()
  await order(page, ['Customer tier tier'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await order(page, ['Seats seats', 'Customer tier tier'])
})

test('a record edits defined fields by their types, in their order, and shows what the service refuses', async (t) => {
  await define('companies', 'customer_no', 'text', { label: 'Customer no.', required: true, unique: true })
  await define('companies', 'vip', 'boolean', { label: 'Key account' })
  await define('companies', 'since', 'date', { label: 'Customer since' })
  await define('companies', 'size', 'select', { label: 'Size', options: ['small', 'large'] })
  await define('companies', 'portal', 'url', { label: 'Portal' })
  await made('companies', { name: 'Taken', custom_fields: { customer_no: 'C-1' } })
  const id = await made('companies', {
    name: 'Acme',
    website: 'acme.example',
    custom_fields: { customer_no: 'C-2', aside: 'kept', portal: 'https://portal.example/acme' },
  })
  const page = await web.open(t, null, { allow: /status of 422/ })
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(/\/custom-fields\?/, async (route) => {
    await promise
    await route.continue()
  })
  await page.goto(`${web.rapport.url}/companies/${id}`)
  const part = page.getByRole('region', { name: 'Custom fields' })
  // No field is shown by its key while the definitions are read.
  await part.waitFor()
  assert.deepEqual(await part.locator('.field-label').allInnerTexts(), [])
  resolve()
  await part.getByText('Customer since', { exact: true }).waitFor()
  const shown = await part.locator('.field-label').allInnerTexts()
  assert.deepEqual(shown, ['Customer no.', 'Key account', 'Customer since', 'Size', 'Portal', 'aside'])
  await checkScreen(page)

  await part.getByLabel('Key account').check()
  await until(
    () => stored(`companies/${id}`),
    (found) => found.custom_fields.vip === true,
  )
  await part.getByRole('button', { name: /^Customer since/ }).click()
  await page.keyboard.type('15.1.2026')
  await page.keyboard.press('Enter')
  await part.getByRole('button', { name: 'Customer since: Edit 15 Jan 2026' }).waitFor()
  await page.getByRole('list', { name: 'Timeline' }).getByText('Customer since set to 15 Jan 2026').waitFor()
  const target = (name: string) => page.getByRole('link', { name }).getAttribute('href')
  assert.equal(await target('Open Portal'), 'https://portal.example/acme')
  assert.equal(await target('Open Website'), 'https://acme.example/')
  await part.getByRole('button', { name: /^Size/ }).click()
  await page.getByRole('option', { name: 'large' }).click()
  await until(
    () => stored(`companies/${id}`),
    (found) => found.custom_fields.since === '2026-01-15' && found.custom_fields.size === 'large',
  )
  await part.getByRole('button', { name: /^Customer no/ }).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('C-1')
  await page.keyboard.press('Enter')
  await part.getByText('This is in use already.').waitFor()
  await page.keyboard.press('Escape')
})

test('the dialog of a new record has the defined fields, and errors at them', async (t) => {
  await define('deals', 'contract', 'url', { label: 'Contract', required: true })
  await define('deals', 'licences', 'number', { label: 'Licences' })
  await define('deals', 'renews', 'boolean', { label: 'Renews' })
  const page = await web.open(t, '/deals?view=table&create=1', { allow: /status of 422/ })
  const dialog = page.getByRole('dialog', { name: 'Create deal' })
  await dialog.getByLabel('Name').fill('Typed fields')
  await dialog.getByLabel('Licences').fill('1,250')
  await dialog.getByRole('button', { name: 'Create deal' }).click()
  await dialog.getByText('Fill this in.').waitFor()
  await checkScreen(page)
  await dialog.getByLabel('Contract').fill('https://example.test/c')
  await dialog.getByLabel('Renews').check()
  await dialog.getByRole('button', { name: 'Create deal' }).click()
  await dialog.waitFor({ state: 'detached' })
  const [deal] = await stored('deals?search=Typed&details=true')
  assert.deepEqual(deal.custom_fields, { contract: 'https://example.test/c', licences: 1250, renews: true })
})

test('in the dialog of a new record with many fields, the button stays in sight, and hides no field in focus', async (t) => {
  const ids: number[] = []
  for (let n = 1; n <= 12; n++) ids.push(await define('companies', `field_${n}`, 'text'))
  t.after(async () => {
    for (const id of ids) await web.rapport.call('DELETE', `/api/v1/custom-fields/${id}`)
  })
  const page = await web.open(t, '/companies', phone)
  await page.getByRole('button', { name: 'Create company' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create company' })
  const button = dialog.getByRole('button', { name: 'Create company' })
  const topOf = async (one: Locator) => (await one.boundingBox())?.y ?? Number.NaN
  await button.waitFor()
  assert.ok((await topOf(button)) < phone.viewport.height)
  for (let n = 1; n <= 12; n++) {
    const field = dialog.getByLabel(`field_${n}`, { exact: true })
    await field.focus()
    assert.ok((await topOf(field)) + 20 < (await topOf(button)), `field_${n}`)
  }
  // On the way back, the title hides neither the field nor its label.
  const title = await dialog.locator('.mantine-Modal-header').boundingBox()
  for (let n = 12; n >= 1; n--) {
    await dialog.getByLabel(`field_${n}`, { exact: true }).focus()
    const label = dialog.getByText(`field_${n}`, { exact: true })
    assert.ok((await topOf(label)) >= (title ? title.y + title.height : Number.NaN), `field_${n}`)
  }
  await checkScreen(page)
})

test('on a phone the fields fit', async (t) => {
  const page = await web.open(t, '/settings/fields?kind=companies', { ...phone, locale: 'de-DE' })
  await page.locator('.definitions .settings-row').first().waitFor()
  await checkScreen(page)
})
