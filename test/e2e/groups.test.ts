// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, fits, phone, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(async () => {
  const data = Array.from({ length: 70 }, (_, n) => ({
    name: `Deal ${n}`,
    value: 1000,
    stage: n < 3 ? 'demo' : n < 7 ? 'proposal' : 'won',
    ...(n % 2 && { expected_close_date: n < 5 ? '2026-11-30' : '2026-12-01' }),
  }))
  const items = data.map((data) => ({ op: 'create', data }))
  assert.equal((await web.rapport.call('POST', '/api/v1/deals/batch', { items })).status, 200)
})

const head = (page: Page, name: string | RegExp) => page.locator('.table-group').getByRole('button', { name })
const heads = async (page: Page) =>
  (await page.locator('.group-button').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
const areHeads = (page: Page, ...names: string[]) =>
  until(
    () => heads(page),
    (found) => found.join('|') === names.join('|'),
  )
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const rows = (page: Page) => page.locator('tr[data-row-id]').count()
const areRows = (page: Page, n: number) =>
  until(
    () => rows(page),
    (found) => found === n,
  )
const focused = (page: Page) => page.evaluate('document.activeElement.textContent') as Promise<string>
const isFocused = (page: Page, text: RegExp) =>
  until(
    () => focused(page),
    (found) => text.test(found),
  )
const bar = (page: Page) => page.getByRole('region', { name: / selected$/ })
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

test('the menu of the list groups it: each group has its count and sum, and a view keeps it', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await areRows(page, 50)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitemradio', { name: 'Stage' }).click()
  await areHeads(page, 'Demo 3 €3,000', 'Proposal 4 €4,000', 'Won 63 €63,000')
  assert.equal(parameter(page, 'group'), 'stage')
  // The first groups are open while their rows fit on a page.
  await areRows(page, 7)
  await untilEqual(() => head(page, 'Won').getAttribute('aria-expanded'), 'false')
  await checkScreen(page)
  await page.getByRole('button', { name: 'Save as new view' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('By stage')
  await page.keyboard.press('Enter')
  const tabs = page.getByRole('navigation', { name: 'Views' })
  await tabs.getByRole('link', { name: 'By stage' }).waitFor()
  await tabs.getByRole('link', { name: 'All' }).click()
  await areHeads(page)
  await tabs.getByRole('link', { name: 'By stage' }).click()
  await head(page, 'Won').waitFor()
})

test('a click opens and closes a group, its further rows come page by page, and filters limit all groups', async (t) => {
  const page = await web.open(t, '/deals?view=table&group=stage')
  await head(page, 'Won').click()
  await areRows(page, 57)
  await page.getByRole('button', { name: 'Show more, 13 left' }).click()
  await areRows(page, 70)
  await head(page, 'Won').click()
  await areRows(page, 7)
  await page.getByRole('searchbox').fill('deal 6')
  await areHeads(page, 'Proposal 1 €1,000', 'Won 15 €15,000')
  await areRows(page, 16)
})

test('the keyboard goes through groups and rows, opens groups, and selects across them', async (t) => {
  const page = await web.open(t, '/deals?view=table&group=stage&sort=name')
  await areRows(page, 7)
  await page.keyboard.press('j')
  await isFocused(page, /^Demo/)
  await page.keyboard.press('ArrowLeft')
  await areRows(page, 4)
  await page.keyboard.press('Enter')
  await areRows(page, 7)
  await page.keyboard.press('j')
  await isFocused(page, /Deal 0$/)
  await page.keyboard.press('x')
  await bar(page).getByText('1 selected').waitFor()
  // From the first group into the second.
  await row(page, 'Deal 4')
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await bar(page).getByText('5 selected').waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await bar(page).getByRole('button', { name: 'Select all 70 that match' }).click()
  await bar(page).getByText('70 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Clear' }).click()

  // The side panel follows the focus, past the header between two groups.
  await row(page, 'Deal 2').locator('td').nth(3).click()
  await until(
    async () => parameter(page, 'open'),
    (open) => open !== null,
  )
  const opened = parameter(page, 'open')
  await row(page, 'Deal 2').getByRole('link').first().focus()
  await page.keyboard.press('j')
  await isFocused(page, /^Proposal/)
  assert.equal(parameter(page, 'open'), opened)
  await page.keyboard.press('j')
  await isFocused(page, /Deal 3$/)
  await until(
    async () => parameter(page, 'open'),
    (open) => open !== opened,
  )
})

test('a deal that moves to another stage moves to its group', async (t) => {
  const page = await web.open(t, '/deals?view=table&group=stage&sort=name')
  await row(page, 'Deal 1').getByRole('checkbox').check()
  await bar(page).getByRole('button', { name: 'Change stage' }).click()
  await page.getByRole('menuitem', { name: 'Negotiation' }).click()
  await areHeads(page, 'Demo 2 €2,000', 'Proposal 4 €4,000', 'Negotiation 1 €1,000', 'Won 63 €63,000')
  await page.getByRole('button', { name: 'Undo' }).click()
  await areHeads(page, 'Demo 3 €3,000', 'Proposal 4 €4,000', 'Won 63 €63,000')
})

test('on a phone, the groups by month fit in German, with the deals without a date last', async (t) => {
  const session = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
  const given = { ...phone, session, locale: 'de-DE' }
  const page = await web.open(t, '/deals?view=table&group=expected_close_date', given)
  const names = async () => (await heads(page)).map((text) => text.replace(/ [\d.]+ [\d.]+\s?€$/, ''))
  await until(names, (found) => found.join() === 'November 2026,Dezember 2026,Ohne Abschlussdatum')
  await fits(page)
})
