// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heading, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

const kinds = ['companies', 'contacts', 'deals', 'activities']
const numbers = () => Promise.all(kinds.map(async (kind) => (await web.read(`/${kind}?per_page=100`)).length))

test('sample data is filled in from the first steps, and taken away again, without the own records', async (t) => {
  const page = await web.open(t, '/')
  await page.getByRole('link', { name: 'Sample data' }).click()
  await heading(page, 'General')
  await page.getByRole('button', { name: 'Fill in sample data' }).click()
  await page.getByText('Sample data filled in').waitFor()
  assert.deepEqual(await numbers(), [4, 8, 8, 4])
  const [deal] = await web.read('/deals?sort=id&details=true')
  assert.ok(deal.company && deal.contact && deal.owner_id)
  const own = await web.create('/contacts', { first_name: 'Own', last_name: 'Contact' })
  await visit(page, '/')
  await page.getByText('Open pipeline').waitFor()
  await visit(page, '/settings/workspace')
  await page.getByRole('button', { name: 'Remove sample data' }).click()
  await page.getByText('Sample data moved to the trash').waitFor()
  assert.deepEqual(await numbers(), [0, 1, 0, 0])
  assert.equal((await web.read('/contacts'))[0].id, own)
})

test('sample data that is taken away comes back by Undo, with the own records that have its tag', async (t) => {
  const before = await numbers()
  const page = await web.open(t, '/settings/workspace')
  await page.getByRole('button', { name: 'Fill in sample data' }).click()
  await page.getByText('Sample data filled in').waitFor()
  const own = await web.create('/contacts', { first_name: 'Bought', last_name: 'One', tags: ['sample'] })
  const filled = await numbers()
  const deals = await web.read('/deals?sort=id&details=true')
  await page.getByRole('button', { name: 'Remove sample data' }).click()
  const told = page.getByText('Sample data moved to the trash')
  await told.waitFor()
  assert.deepEqual(await numbers(), before)
  await told.locator('..').getByRole('button', { name: 'Undo' }).click()
  await untilEqual(numbers, filled)
  assert.equal((await web.read(`/contacts/${own}`)).last_name, 'One')
  const linksOf = (all: typeof deals) =>
    all.map(({ id, company_id, contact_id }: Record<string, number>) => [id, company_id, contact_id])
  assert.deepEqual(linksOf(await web.read('/deals?sort=id&details=true')), linksOf(deals))
  await page.getByRole('button', { name: 'Remove sample data' }).click()
  await untilEqual(numbers, before)
})

test('sample data that cannot be taken away whole stays whole', async (t) => {
  const before = await numbers()
  const page = await web.open(t, '/settings/workspace', { allow: /status of 422/, reusable: false })
  await page.getByRole('button', { name: 'Fill in sample data' }).click()
  await page.getByText('Sample data filled in').waitFor()
  const filled = await numbers()
  const body = { success: false, error: { code: 'validation_failed', message: 'No.' } }
  await page.route('**/api/v1/companies/batch', (route) => route.fulfill({ status: 422, json: body }))
  const removes = page.getByRole('button', { name: 'Remove sample data' })
  await removes.click()
  await page.getByText('Some fields are not valid.').waitFor()
  assert.deepEqual(await numbers(), filled)
  await page.unroute('**/api/v1/companies/batch')
  await removes.click()
  await page.getByRole('button', { name: 'Fill in sample data' }).waitFor()
  assert.deepEqual(await numbers(), before)
})

test('sample data that is refused names the field and says why, and leaves nothing', async (t) => {
  const before = await numbers()
  const field = { resource: 'contacts', key: 'region', label: 'Region', type: 'text', required: true }
  await web.create('/custom-fields', field)
  const page = await web.open(t, '/settings/workspace', { allow: /status of 422/ })
  await page.getByRole('button', { name: 'Fill in sample data' }).click()
  await page.getByRole('alert').getByText('Region: Fill this in.').waitFor()
  assert.equal(await page.getByText('Sample data filled in').count(), 0)
  await untilEqual(numbers, before)
})
