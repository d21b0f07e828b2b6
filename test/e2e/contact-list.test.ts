// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { addFilter, heading, keepToasts, phone, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
let reader: string
before(async () => {
  await fillWorkspace(web.rapport)
  reader = await joinAs(web.rapport, 'rita@example.test', 'read_only', { language: 'en' })
})

const contact = (first_name: string, last_name: string, more = {}) =>
  web.create('/contacts', { first_name, last_name, ...more })

const rows = (page: Page, name: string) => page.getByRole('table', { name }).locator('tbody tr[data-row-id]')
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' }).click()

test('a selected row under the pointer looks selected', async (t) => {
  for (const name of ['Chosen', 'Passed']) await contact(name, 'Hoverson')
  const page = await web.open(t, '/contacts?search=Hoverson')
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  const looks = async (name: string) => {
    await row(name).hover()
    return row(name)
      .locator('td')
      .nth(1)
      .evaluate((cell) => cell.ownerDocument.defaultView?.getComputedStyle(cell).backgroundImage)
  }
  const before = await looks('Chosen')
  await row('Chosen').getByRole('checkbox').check()
  assert.notEqual(await looks('Chosen'), before)
  assert.equal(await looks('Passed'), before)
})

test('deleting asks nothing and can be undone, one contact or many', async (t) => {
  const ids = await Promise.all(['One', 'Two', 'Three'].map((name) => contact(name, 'Bulkson')))
  const page = await web.open(t, `/contacts/${ids[0]}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete contact' }).click()
  await heading(page, 'Contacts')
  await untilEqual(async () => (await web.read('/contacts?search=bulkson')).length, 2)
  await undo(page)
  await untilEqual(async () => (await web.read('/contacts?search=bulkson')).length, 3)
  // The button has gone with its toast: the focus is in the page.
  await untilEqual(
    () => page.locator('#content').evaluate((one) => one === one.ownerDocument.activeElement),
    true,
  )

  await visit(page, '/contacts?search=bulkson')
  await untilEqual(() => rows(page, 'Contacts').count(), 3)
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  const bar = page.getByRole('region', { name: '2 selected' })
  await bar.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 contacts deleted').waitFor()
  await untilEqual(() => rows(page, 'Contacts').count(), 1)
  // The key of the newest Undo is gone with its toast.
  await page.keyboard.press('z')
  await untilEqual(() => rows(page, 'Contacts').count(), 3)
  await page.getByText('2 contacts deleted').waitFor({ state: 'detached' })

  // The page reports contacts that were deleted meanwhile, and changes the others.
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  const batches: number[][] = []
  await page.route('**/api/v1/contacts/batch', async (route) => {
    const { items, ...body } = route.request().postDataJSON()
    batches.push(items.map(({ id }: { id: number }) => id).sort())
    // The service does not have a record of this id.
    const sent = items.map((item: { id: number }) => (item.id === ids[1] ? { ...item, id: 999_999 } : item))
    await route.fulfill({ response: await route.fetch({ postData: { ...body, items: sent } }) })
  })
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Not done: Two Bulkson. This is gone. Somebody may have deleted it.').waitFor()
  assert.deepEqual(batches, [[...ids].sort()])
  await page.getByRole('region', { name: '1 selected' }).waitFor()
  await untilEqual(() => page.getByRole('checkbox', { name: 'Select Two Bulkson' }).isChecked(), true)
  await untilEqual(async () => (await web.read('/contacts?search=bulkson')).length, 1)
})

test('a stage and a tag are given to many at once, and taken back by one Undo', async (t) => {
  const ids = [
    await contact('Ann', 'Manyson', { stage: 'lead', tags: ['old'] }),
    await contact('Bea', 'Manyson', { tags: ['vip'] }),
  ]
  const stages = () => Promise.all(ids.map(async (id) => (await web.read(`/contacts/${id}`)).stage))
  const tags = () => Promise.all(ids.map(async (id) => (await web.read(`/contacts/${id}`)).tags))
  const page = await web.open(t, '/contacts?search=manyson', { reusable: false })
  const kept = await keepToasts(page)
  await untilEqual(() => rows(page, 'Contacts').count(), 2)
  const all = page.getByRole('checkbox', { name: 'Select all on this page' })
  await all.check()
  await page.getByRole('button', { name: 'Set stage' }).click()
  await page
    .getByRole('dialog', { name: 'Set stage' })
    .getByRole('combobox', { name: 'Stage' })
    .fill('customer')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Stage customer set for 2 contacts').waitFor()
  await until(kept, (toasts) => toasts > 0)
  assert.deepEqual(await stages(), ['customer', 'customer'])
  await undo(page)
  await untilEqual(stages, ['lead', null] as never)

  await all.check()
  await page.getByRole('button', { name: 'Add tag' }).click()
  await page.getByRole('dialog', { name: 'Add tag' }).getByLabel('Tag').fill('vip')
  await page.keyboard.press('Enter')
  await page.getByText('Tag vip added to 2 contacts').waitFor()
  assert.deepEqual(await tags(), [['old', 'vip'], ['vip']])
  await undo(page)
  await untilEqual(tags, [['old'], ['vip']])

  // Later changes stay.
  for (const tag of ['first', 'second']) {
    await all.check()
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByRole('dialog', { name: 'Add tag' }).getByLabel('Tag').fill(tag)
    await page.keyboard.press('Enter')
    await page.getByText(`Tag ${tag} added to 2 contacts`).waitFor()
  }
  const first = page.getByRole('alert').filter({ hasText: 'Tag first' })
  await first.getByRole('button', { name: 'Undo' }).click()
  await untilEqual(tags, [
    ['old', 'second'],
    ['vip', 'second'],
  ])
})

test('the address holds the whole view: search, filters, order, page and columns survive loading it again', async (t) => {
  const company_id = await web.create('/companies', { name: 'Sixty Inc.' })
  for (let n = 0; n < 60; n++)
    await contact('Page', `Number${String(n).padStart(2, '0')}`, {
      company_id,
      custom_fields: { batch: 'sixty' },
    })
  const page = await web.open(t, '/contacts?search=page')
  await untilEqual(() => rows(page, 'Contacts').count(), 50)
  await addFilter(page, 'Company')
  await page.getByRole('combobox', { name: 'Company', exact: true }).fill('sixty')
  await page.getByRole('option', { name: /Sixty/ }).click()
  await page.getByRole('button', { name: 'Company is Sixty Inc.' }).waitFor()
  await page.keyboard.press('Escape')
  // A custom field without a definition is named by its key.
  await page.keyboard.press('f')
  await page.keyboard.type('batch')
  await page.getByRole('option', { name: 'Custom field “batch”' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'value' }).fill('sixty')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await rows(page, 'Contacts').first().getByText('Page Number00').waitFor()
  // Another page begins at its top, and the button that has nowhere to go keeps the focus.
  await page.locator('.table-scroll').evaluate((one) => one.scrollTo(0, 9999))
  const next = page.getByRole('button', { name: 'Next page' })
  await next.press('Enter')
  await untilEqual(() => rows(page, 'Contacts').count(), 10)
  assert.equal(await page.locator('.table-scroll').evaluate(({ scrollTop }) => scrollTop), 0)
  await untilEqual(() => next.isDisabled(), true)
  await untilEqual(() => next.evaluate((one) => one === one.ownerDocument.activeElement), true)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Phone' }).uncheck()
  await page.getByRole('columnheader', { name: 'Phone' }).waitFor({ state: 'detached' })

  const kept = Object.fromEntries(new URL(page.url()).searchParams)
  assert.deepEqual(
    { ...kept, columns: kept.columns?.includes('phone') },
    {
      search: 'page',
      company_id: String(company_id),
      'custom_fields[batch]': 'sixty',
      sort: 'last_name',
      page: '2',
      columns: false,
    },
  )
  await page.reload()
  await untilEqual(() => rows(page, 'Contacts').count(), 10)
  await rows(page, 'Contacts').first().getByText('Page Number50').waitFor()
  await page.getByText('51–60 of 60').waitFor()
  await page.getByText('Sixty Inc.').first().waitFor()
  await untilEqual(() => page.getByRole('columnheader', { name: 'Phone' }).count(), 0)

  // A saved view opens that address for all members.
  await page.getByRole('button', { name: 'Save as new view' }).click()
  await page.getByRole('radio', { name: 'Everybody' }).check()
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('The sixty')
  await page.keyboard.press('Enter')
  await page.getByText('View The sixty saved').waitFor()
  const other = await web.open(t, '/contacts', { session: reader })
  await other.getByRole('link', { name: 'The sixty' }).click()
  await other.getByText('1–50 of 60').waitFor()
  await untilEqual(() => other.getByRole('columnheader', { name: 'Phone' }).count(), 0)
  await page.getByRole('button', { name: 'Actions on the view The sixty' }).click()
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  await page.getByText('View The sixty deleted').waitFor()
  assert.deepEqual(await web.read('/views?list=contacts'), [])
})

test('beside the list, the panel follows the arrows and holds the same record', async (t) => {
  const page = await web.open(t, '/contacts?sort=last_name')
  const first = rows(page, 'Contacts').nth(0)
  await first.waitFor()
  const names = await rows(page, 'Contacts').locator('[data-row-link]').allInnerTexts()
  const nameOf = (index: number) => (names[index] ?? '').split('\n').at(-1) ?? ''
  await first.locator('td').nth(4).click()
  const panel = (index: number) => page.getByRole('complementary', { name: nameOf(index) })
  await panel(0)
    .getByRole('heading', { name: nameOf(0) })
    .waitFor()
  await page.keyboard.press('ArrowDown')
  await panel(1)
    .getByRole('heading', { name: nameOf(1) })
    .waitFor()
  await page.keyboard.press('k')
  await panel(0)
    .getByRole('heading', { name: nameOf(0) })
    .waitFor()
  await panel(0).getByRole('tab', { name: 'Notes' }).click()
  assert.equal(new URL(page.url()).searchParams.get('tab'), null)
  // Escape leaves a field first, then the panel.
  await panel(0).getByRole('button', { name: 'Title: Edit' }).click()
  await page.keyboard.press('Escape')
  await untilEqual(() => panel(0).count(), 1)
  await page.keyboard.press('Escape')
  await panel(0).waitFor({ state: 'detached' })
})

test('the rows that fit the window are drawn before the others of the page', async (t) => {
  for (let n = 0; n < 50; n++) await contact(`First${n}`, 'Drawnson')
  const page = await web.open(t, null, { reusable: false })
  await page.addInitScript(`
    numbers = []
    new MutationObserver(() => numbers.push(document.querySelectorAll('tbody tr[data-row-id]').length))
      .observe(document, { childList: true, subtree: true })`)
  await page.goto(`${web.rapport.url}/contacts?search=Drawnson`)
  await untilEqual(() => rows(page, 'Contacts').count(), 50)
  const numbers = await page.evaluate<number[]>('numbers')
  const first = numbers.find((number) => number > 0) ?? 0
  // Rows have 36 px, and the window of these tests 800. Page line and table head need 84 of them.
  assert.equal(first, Math.ceil((800 - 84) / 36))
})

test('a name from right to left that has no room keeps its beginning beside its initials', async (t) => {
  const company_id = await web.create('/companies', {
    name: 'شركة الأفق للتجارة والمقاولات المحدودة'.repeat(3),
  })
  const name = { first_name: 'عبد الرحمن بن محمد', last_name: 'الخوارزمي البغدادي الأندلسي' }
  const id = await web.create('/contacts', { ...name, company_id })
  const page = await web.open(t, '/contacts', phone)
  const row = page.locator(`tbody tr[data-row-id="${id}"]`)
  await row.waitFor()
  const cells = await row.evaluate((row) =>
    [...row.querySelectorAll('td[data-phone]')].map((cell) => {
      const text = row.ownerDocument.createTreeWalker(cell, 4).nextNode()
      const first = row.ownerDocument.createRange()
      first.setStart(text!, 0)
      first.setEnd(text!, 1)
      const initials = cell.querySelector('.initials')
      const { left, right } = cell.getBoundingClientRect()
      const from = initials?.getBoundingClientRect().right ?? left
      const { left: start, right: end } = first.getBoundingClientRect()
      return start >= from && end <= right
    }),
  )
  assert.deepEqual(cells, [true, true])
})

test('under the pointer, the name of a row is underlined, and its initials are not', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Una', last_name: 'Line' })
  const page = await web.open(t, '/contacts')
  const link = page.locator(`tbody tr[data-row-id="${id}"] [data-row-link]`)
  await link.hover()
  const lines = await link.evaluate((link) =>
    [link, ...link.children].map((part) => {
      const { getComputedStyle } = link.ownerDocument.defaultView!
      return getComputedStyle(part).textDecorationLine
    }),
  )
  assert.deepEqual(lines, ['none', 'none', 'underline'])
})
