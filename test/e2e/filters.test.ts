// runs: once, long
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, startWeb, type Web } from '../web.ts'
import { until } from '../webhooks.ts'

let web: Web
before(async () => {
  web = await startWeb()
})
after(() => web?.close())

async function made(path: string, body: object): Promise<void> {
  const answer = await web.rapport.call('POST', `/api/v1/${path}`, body)
  assert.equal(answer.status, 201, answer.text)
}
const names = async (page: Page, wanted: string[]) =>
  until(
    async () => (await page.locator('tbody [data-row-link]').allInnerTexts()).sort().join(),
    (found) => found === wanted.join(),
  )
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

test('a filter takes several values, and an empty list offers to remove each filter', async (t) => {
  await made('custom-fields', { resource: 'contacts', key: 'tier', type: 'select', options: ['gold', 'tin'] })
  const contact = (last_name: string, stage: string | null, tier?: string) =>
    made('contacts', { first_name: 'Ana', last_name, stage, ...(tier && { custom_fields: { tier } }) })
  await contact('Lead', 'lead', 'gold')
  await contact('Won', 'won', 'tin')
  await contact('None', null)
  const page = await web.open(t, '/contacts')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Stage' }).click()
  await page.getByRole('textbox', { name: 'Stage' }).fill('lead,won')
  await page.keyboard.press('Enter')
  await names(page, ['Ana Lead', 'Ana Won'])
  assert.equal(parameter(page, 'stage'), 'lead,won')
  await page.goto(`${web.rapport.url}/contacts?custom_fields%5Btier%5D=gold&stage=won`)
  await page.getByText('No contacts match. Remove').waitFor()
  await checkScreen(page, async (scheme) => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/none-${scheme}.png` })
  })
  await page.locator('.no-matches').getByRole('button', { name: 'Stage is won' }).click()
  await names(page, ['Ana Lead'])
})

test('the lowest amount is a filter, and the address has it', async (t) => {
  await made('deals', { name: 'Small', value: 500 })
  await made('deals', { name: 'Large', value: 20_000 })
  const page = await web.open(t, '/deals?view=table')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Value at least' }).click()
  await page.getByRole('textbox', { name: 'Value at least' }).fill('10,000')
  await page.keyboard.press('Enter')
  await until(
    () => page.locator('tbody tr[data-row-id]').count(),
    (rows) => rows === 1,
  )
  assert.equal(parameter(page, 'value_from'), '10000')
})
