// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { choicesOf, idsIn, unitedTags } from '../../web/src/merges/choices.ts'
import { dataOf } from '../envelope.ts'
import { checkScreen, heading, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

const call = (method: string, path: string, body?: object) => web.rapport.call(method, `/api/v1${path}`, body)
const create = async (path: string, body: object): Promise<number> =>
  dataOf(await call('POST', path, body), 201).id
const read = async (path: string) => (await call('GET', path)).body.data

/** Two contacts with the same e-mail; the second one has a deal and a note. */
async function makeTwins(last_name: string) {
  const email = `${last_name.toLowerCase()}@example.test`
  const first = await create('/contacts', {
    first_name: 'Ana',
    last_name,
    email,
    phone: '+34 910 1',
    tags: ['fair'],
    custom_fields: { region: 'EMEA', renewal_date: 'Q3', born: '1980-05-02' },
  })
  const second = await create('/contacts', {
    first_name: 'Anita',
    last_name,
    email,
    phone: '+34 910 2',
    title: 'CTO',
    tags: ['vip'],
    custom_fields: { region: 'APAC' },
  })
  const deal = await create('/deals', { name: `${last_name} renewal`, contact_id: second })
  await create(`/contacts/${second}/notes`, { body: 'Met at the fair' })
  return { first, second, deal }
}

test('duplicates are compared side by side, merged by mouse field by field, and the merge is undone from the toast', async (t) => {
  await create('/custom-fields', { resource: 'contacts', key: 'born', type: 'date', label: 'Born on' })
  const { first, second, deal } = await makeTwins('Ruiz')
  const page = await web.open(t, '/contacts', { allow: /status of 404/ })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Find duplicate contacts' }).click()
  await heading(page, 'Duplicate contacts')
  const group = page.getByRole('listitem').filter({ hasText: 'Anita Ruiz' })
  await group.getByText('Same e-mail').waitFor()
  await group.getByText('+34 910 1').waitFor()
  await checkScreen(page)
  await group.getByRole('link', { name: 'Compare and merge Ana Ruiz, Anita Ruiz' }).click()
  await heading(page, 'Merge contacts')
  assert.equal(new URL(page.url()).pathname, `/contacts/${first}/merge`)

  // The values of the one that stays are chosen; the other's where it has none.
  const radio = (name: string) => page.getByRole('radio', { name })
  await untilEqual(() => radio('Phone: +34 910 1, of Ana Ruiz').isChecked(), true)
  await page.getByRole('group', { name: 'Title' }).getByText('CTO').waitFor()
  await page.getByRole('group', { name: 'Born on' }).getByText('2 May 1980').waitFor()
  await page.getByRole('group', { name: 'renewal_date' }).getByText('Q3').waitFor()
  await radio('Phone: +34 910 2, of Anita Ruiz').check()
  await radio('region: APAC, of Anita Ruiz').check()
  await page.getByText(/moves to Ana Ruiz: 1 note, 1 deal\./).waitFor()
  await page.getByRole('button', { name: 'Merge 2 contacts' }).click()
  await heading(page, 'Ana Ruiz')
  const merged = await read(`/contacts/${first}`)
  assert.deepEqual(
    [merged.first_name, merged.phone, merged.title, merged.tags, merged.custom_fields],
    [
      ...['Ana', '+34 910 2', 'CTO', ['fair', 'vip']],
      { region: 'APAC', renewal_date: 'Q3', born: '1980-05-02' },
    ],
  )
  assert.equal((await read(`/deals/${deal}`)).contact_id, first)
  assert.equal((await call('GET', `/contacts/${second}`)).status, 404)

  await page.getByText('2 contacts merged').locator('..').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The merge is undone.').waitFor()
  assert.equal((await read(`/contacts/${first}`)).phone, '+34 910 1')
  assert.equal((await read(`/deals/${deal}`)).contact_id, second)
})

test('duplicates that are not the same leave the list of everybody, and Undo brings them back', async (t) => {
  await makeTwins('Vidal')
  const page = await web.open(t, '/contacts/duplicates')
  const other = await web.open(t, '/contacts/duplicates')
  // Other twins have their telephone numbers, too.
  const group = (of: Page) => of.locator('.duplicate').filter({ hasText: /Same e-mail.*Anita Vidal/s })
  await group(other).waitFor()
  await group(page).getByRole('button', { name: 'Not the same: Ana Vidal, Anita Vidal' }).click()
  await group(page).waitFor({ state: 'detached' })
  await group(other).waitFor({ state: 'detached' })
  const told = page.getByText('Ana Vidal, Anita Vidal are no longer listed as duplicates.')
  await told.locator('..').getByRole('button', { name: 'Undo' }).click()
  await group(page).waitFor()
  await group(other).waitFor()
  await page.getByText('They are listed as duplicates again.').waitFor()
})

test('after duplicates are dismissed by keyboard, the focus is in the group that follows', async (t) => {
  for (const name of ['Xenia', 'Yara', 'Zita']) await makeTwins(name)
  const page = await web.open(t, '/contacts/duplicates')
  const groups = page.locator('.duplicate')
  const dismiss = groups.getByRole('button', { name: 'Not the same: Ana Yara, Anita Yara' })
  await dismiss.focus()
  const next = groups.filter({ has: page.locator(':focus') }).locator('+ .duplicate')
  const name = await next.getByRole('button').getAttribute('aria-label')
  await page.keyboard.press('Enter')
  await dismiss.waitFor({ state: 'detached' })
  const focused = groups.filter({ has: page.locator(':focus') })
  await untilEqual(() => focused.getByRole('button').getAttribute('aria-label'), name)
})

test('a record is merged with another one by keyboard alone; the old address leads on, and the record has the undo', async (t) => {
  const { first, second } = await makeTwins('Silva')
  const page = await web.open(t, `/contacts/${second}`, { allow: /status of 404/ })
  await heading(page, 'Anita Silva')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('merge with')
  await page.getByRole('option', { name: 'Merge with…' }).waitFor()
  await page.keyboard.press('Enter')
  const search = page.getByRole('combobox', { name: 'Merge with…' })
  await search.waitFor()
  await page.keyboard.type('ana silva')
  await page.getByRole('option', { name: /Ana Silva/ }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Merge contacts')
  await page.getByRole('radio', { name: 'Anita Silva stays' }).waitFor()

  // The arrow keys choose within a field, Tab goes to the next one.
  await page.getByRole('radio', { name: 'Anita Silva stays' }).focus()
  await page.keyboard.press('ArrowRight')
  await untilEqual(() => page.getByRole('radio', { name: 'Ana Silva stays' }).isChecked(), true)
  await untilEqual(() => page.getByRole('radio', { name: 'First name: Ana, of Ana Silva' }).isChecked(), true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowLeft')
  await untilEqual(
    () => page.getByRole('radio', { name: 'First name: Anita, of Anita Silva' }).isChecked(),
    true,
  )
  const button = page.getByRole('button', { name: 'Merge 2 contacts' })
  for (let tabs = 0; tabs < 20; tabs++) {
    if (await button.evaluate((one) => one === one.ownerDocument.activeElement)) break
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await heading(page, 'Anita Silva')
  await page.waitForURL(`**/contacts/${first}`)
  assert.equal((await read(`/contacts/${first}`)).title, 'CTO')

  await visit(page, `/contacts/${second}?tab=notes`)
  await page.waitForURL(`**/contacts/${first}`)
  await page.getByText('This contact was merged. Here is the one that stayed.').waitFor()
  await visit(page, `/contacts?open=${second}`)
  await page.getByRole('complementary').getByRole('heading', { name: 'Anita Silva' }).waitFor()

  await visit(page, `/contacts/${first}`)
  const merges = page.getByRole('region', { name: 'Merged' })
  await merges.getByText(/^1 contact merged into this one/).waitFor()
  await checkScreen(page)
  // A record that was changed since stays as it is, which the message says.
  await call('PUT', `/contacts/${first}`, { title: 'CEO' })
  await merges.getByRole('button', { name: 'Undo the merge' }).press('Enter')
  await page.getByText(/^The merge is undone\./).waitFor()
  await merges.waitFor({ state: 'detached' })
  assert.equal((await read(`/contacts/${second}`)).first_name, 'Anita')
  assert.equal((await read(`/contacts/${first}`)).title, 'CEO')
})

test('selected companies are merged, and a gone one is left out', async (t) => {
  for (const name of ['Twin One', 'Twin Two']) await create('/companies', { name, industry: name })
  const page = await web.open(t, '/companies?search=twin', { allow: /status of 404/ })
  await page.getByRole('checkbox', { name: 'Select Twin One' }).check()
  const bar = page.getByRole('region', { name: /selected/ })
  await untilEqual(() => bar.getByRole('link', { name: 'Merge' }).count(), 0)
  await page.getByRole('checkbox', { name: 'Select Twin Two' }).check()
  await bar.getByRole('link', { name: 'Merge' }).click()
  await page.getByText('Nothing belongs to the others, so nothing moves.').waitFor()
  const [, first] = /companies\/(\d+)\/merge/.exec(page.url()) ?? []
  await visit(page, `/companies/${first}/merge?with=999999`)
  await page.getByText('To merge, choose two records that still exist.').waitFor()
  await page.getByRole('button', { name: 'Back to the companies' }).click()
  await heading(page, 'Companies')
  await visit(page, '/companies/duplicates')
  await page.getByText('No companies look alike.').waitFor()
})

test('the value of the one that stays is chosen, else the first one that there is', () => {
  const of = (id: number, more: object) => ({
    id,
    name: 'Acme',
    phone: null,
    open_deals_value: null,
    next_activity_at: null,
    tags: [],
    custom_fields: {},
    ...more,
  })
  const records = [
    of(2, { created_at: 'x', tags: ['a', 'b'], company: { id: 1 }, created_by: { kind: 'key' } }),
    of(5, { phone: '1', custom_fields: { seats: 3, region: 'EMEA' }, tags: ['b', 'c'], company: null }),
    // Facts that follow from activities and deals are not chosen.
    of(7, {
      phone: '2',
      custom_fields: { seats: 0 },
      company: null,
      open_deals_value: 9,
      next_activity_at: 'x',
    }),
  ]
  assert.deepEqual(
    choicesOf(records).map(({ field, usual, differs }) => [field, usual, differs]),
    [
      ['name', 2, false],
      ['phone', 5, true],
      ['custom_fields.region', 5, false],
      ['custom_fields.seats', 5, true],
    ],
  )
  assert.deepEqual(unitedTags(records), ['a', 'b', 'c'])
})

test('the ids in the address are distinct, and at most ten', () => {
  assert.deepEqual(idsIn('7,7,x,-1,2,1.5,9', 2), [7, 9])
  assert.equal(idsIn(Array.from({ length: 30 }, (_, n) => n + 1).join(), 5).length, 10)
})
