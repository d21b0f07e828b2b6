// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { holdDragging } from '../web/board.ts'
import { joinAs } from '../web/people.ts'
import { addFilter, checkScreen, owner, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()
let reader: string
let olivia: string
let bob: string
before(async () => {
  await joinAs(web.rapport, 'bob@example.test', 'member', { name: 'Bob Marchetti' })
  reader = await joinAs(web.rapport, 'rita@example.test', 'read_only', {
    name: 'Rita Reader',
    language: 'en',
  })
  ;[olivia, bob] = await Promise.all([idOf(owner.email), idOf('bob@example.test')])
})

const idOf = async (email: string): Promise<string> =>
  (await web.read('/members')).find((one: { email: string }) => one.email === email).id
const ownersOf = (path: string, ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await web.read(`${path}/${id}`)).owner_id))
const owners = (path: string, ids: readonly number[], wanted: (string | null)[]) =>
  untilEqual(() => ownersOf(path, ids), wanted)
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

test('a focused row gets an owner by a, a part of the name and Enter, and Undo takes it back', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Grace', last_name: 'Rowson' })
  const page = await web.open(t, '/contacts?search=rowson')
  await row(page, 'Grace Rowson').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('a')
  const dialog = page.getByRole('listbox', { name: 'Assign Grace Rowson to' })
  await dialog.getByRole('option', { name: `${owner.name} (you)` }).waitFor()
  await checkScreen(page)
  await page.keyboard.type('march')
  await dialog.getByRole('option').nth(1).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByText('Grace Rowson assigned to Bob Marchetti').waitFor()
  await row(page, 'Bob Marchetti').waitFor()
  assert.deepEqual(await ownersOf('/contacts', [id]), [bob])
  const focused = row(page, 'Grace Rowson').getByRole('link').first()
  await untilEqual(() => focused.evaluate((one) => one === one.ownerDocument.activeElement), true)
  await page.keyboard.press('z')
  await owners('/contacts', [id], [null])
})

test('many rows get an owner at once, also nobody, and a from the palette means the selection', async (t) => {
  const ids = [
    await web.create('/companies', { name: 'Manyworks One', owner_id: bob }),
    await web.create('/companies', { name: 'Manyworks Two', owner_id: olivia }),
    await web.create('/companies', { name: 'Manyworks Three' }),
  ]
  const page = await web.open(t, '/companies?search=manyworks')
  await row(page, 'Manyworks Three').waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('region', { name: '3 selected' }).getByRole('button', { name: 'Assign' }).click()
  await page.getByRole('listbox', { name: 'Assign 3 companies to' }).waitFor()
  await page.keyboard.type('nobody')
  await page.keyboard.press('Enter')
  // The third has no owner already.
  await page.getByText('2 companies assigned to nobody').waitFor()
  await owners('/companies', ids, [null, null, null])
  await page.getByRole('button', { name: 'Undo' }).click()
  await owners('/companies', ids, [bob, olivia, null])

  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('assign')
  await page.getByRole('option', { name: 'Assign' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('listbox', { name: 'Assign 3 companies to' }).getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await owners('/companies', ids, [olivia, olivia, olivia])
})

test('the choice of an owner keeps its text when the program for dragging comes', async (t) => {
  const id = await web.create('/deals', { name: 'Early bird' })
  const page = await web.open(t, null, { reusable: false })
  const letCome = await holdDragging(page)
  await page.goto(`${web.rapport.url}/deals`)
  const card = page.locator(`[data-deal="${id}"]`)
  await card.getByRole('link').focus()
  await page.keyboard.press('a')
  const choice = page.getByRole('dialog').getByRole('combobox')
  await choice.fill('bob')
  await page.getByRole('option', { name: 'Bob Marchetti' }).waitFor()
  letCome()
  await page.locator(`[data-rfd-draggable-id="${id}"]`).waitFor()
  await untilEqual(() => choice.inputValue(), 'bob')
  await page.keyboard.press('Enter')
  await card.locator('.card-link:focus').waitFor()
  await owners('/deals', [id], [bob])
})

test('a card shows its owner, and gets another one by a or from its menu', async (t) => {
  const id = await web.create('/deals', { name: 'Cardful', owner_id: bob, tags: ['q3'] })
  const page = await web.open(t, '/deals')
  const card = page.locator(`[data-deal="${id}"]`)
  await card.getByRole('img', { name: 'Owner: Bob Marchetti' }).waitFor()
  await card.getByRole('link').focus()
  await page.keyboard.press('a')
  await page.getByRole('listbox', { name: 'Assign Cardful to' }).getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await card.getByRole('img', { name: `Owner: ${owner.name}` }).waitFor()
  await card.getByRole('link').focus()
  await page.keyboard.press('m')
  await page.getByRole('menuitem', { name: 'Assign' }).click()
  await page.getByRole('option', { name: 'Nobody' }).click()
  await card.getByRole('img').waitFor({ state: 'detached' })
  await owners('/deals', [id], [null])
})

test('a record shows owner, tags, custom fields and who wrote it; the owner is chosen by typing', async (t) => {
  const id = await web.create('/activities', { subject: 'Prepare the fair', owner_id: bob, tags: ['fair'] })
  const page = await web.open(t, `/activities/${id}`)
  await page.getByText(/^Added by First key/).waitFor()
  await page.getByRole('button', { name: 'Remove the tag fair' }).waitFor()
  await page.getByRole('button', { name: 'Add a field' }).waitFor()
  await page.getByRole('button', { name: 'Assignee: Edit Bob Marchetti' }).click()
  await page.getByRole('combobox', { name: 'Assignee' }).fill('rita')
  await page.getByRole('option', { name: 'Rita Reader' }).click()
  await page.getByRole('button', { name: 'Assignee: Edit Rita Reader' }).waitFor()
  await page.getByText(/changed by you/).waitFor()
  await page.locator('main').focus()
  await page.keyboard.press('a')
  await page
    .getByRole('option', { name: /Rita Reader/ })
    .getByLabel('At present')
    .waitFor()
  await page.keyboard.press('Enter')
  await owners('/activities', [id], [olivia])
})

test('a new record belongs to the person, or to the member who is chosen', async (t) => {
  const page = await web.open(t, '/deals?create=1')
  const dialog = page.getByRole('dialog', { name: 'Create deal' })
  await dialog.getByLabel('Name').fill('Chosen')
  const field = dialog.getByRole('combobox', { name: 'Owner' })
  await untilEqual(() => field.inputValue(), `${owner.name} (you)`)
  await field.fill('bob')
  await page.getByRole('option', { name: 'Bob Marchetti' }).click()
  // The button that clears the owner does not cover a long name.
  const covered = await field.evaluate((input) => {
    const button = input.parentElement?.querySelector('button')?.getBoundingClientRect()
    const { paddingRight } = input.ownerDocument.defaultView.getComputedStyle(input)
    return button ? input.getBoundingClientRect().right - Number.parseFloat(paddingRight) - button.left : null
  })
  assert.ok(covered !== null && covered <= 0, `${covered} px`)
  await dialog.getByRole('combobox', { name: 'Tags' }).fill('vip')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Create deal' }).click()
  await dialog.waitFor({ state: 'detached' })
  const [stored] = await web.read('/deals?search=chosen&details=true')
  assert.deepEqual([stored.owner_id, stored.tags], [bob, ['vip']])
})

test('lists show what is mine, of another member, or of nobody; Mine is a view, and a command', async (t) => {
  const contact = (last_name: string, owner_id: string | null) =>
    web.create('/contacts', { first_name: 'Filter', last_name, owner_id })
  await Promise.all([contact('Mineson', olivia), contact('Bobson', bob), contact('Noneson', null)])
  const page = await web.open(t, '/contacts?search=filter')
  const names = async () =>
    (await page.getByRole('table').locator('tbody [data-row-link]').allInnerTexts()).sort()
  const editor = await addFilter(page, 'Owner')
  const choose = (choice: string) => editor.getByRole('checkbox', { name: choice, exact: true }).click()
  const condition = editor.getByRole('combobox', { name: 'Owner: condition' })
  await choose('Me')
  await untilEqual(names, ['Filter Mineson'])
  assert.equal(new URL(page.url()).searchParams.get('owner_id'), 'me')
  await choose('Bob Marchetti')
  await untilEqual(names, ['Filter Bobson', 'Filter Mineson'])
  await condition.selectOption('is not')
  await untilEqual(names, ['Filter Noneson'])
  await condition.selectOption('is empty')
  await untilEqual(names, ['Filter Noneson'])
  assert.equal(new URL(page.url()).searchParams.get('owner_id'), 'null')
  await condition.selectOption('is')
  await choose('Me')
  await untilEqual(names, ['Filter Bobson'])
  await checkScreen(page)
  await page.keyboard.press('Escape')
  await page.locator('main').focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('only mine')
  await page.getByRole('option', { name: 'Show only mine' }).waitFor()
  await page.keyboard.press('Enter')
  await untilEqual(names, ['Filter Mineson'])

  await web.create('/deals', { name: 'Mine alone', owner_id: olivia })
  await web.create('/deals', { name: 'Of Bob', owner_id: bob })
  await visit(page, '/deals?view=table')
  await page.getByRole('link', { name: 'Mine', exact: true }).click()
  const mine = (await web.read(`/deals?owner_id=${olivia}`)).length
  assert.ok(mine < (await web.read('/deals')).length)
  await untilEqual(async () => (await names()).length, mine)
  await page.getByText('Board', { exact: true }).click()
  await page.locator('.card').first().waitFor()
  await untilEqual(() => page.locator('.page-title .numbers').innerText(), String(mine))
  await untilEqual(() => page.locator('.card[data-deal]').count(), mine)
})

test('who may only read sees owners and cannot assign', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Only', last_name: 'Reading', owner_id: bob })
  const page = await web.open(t, `/contacts/${id}`, { session: reader })
  await page.getByRole('region', { name: 'Facts' }).getByText('Bob Marchetti').waitFor()
  await untilEqual(() => page.getByRole('button', { name: /Owner/ }).count(), 0)
  await page.keyboard.press('a')
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.waitFor()
  await untilEqual(() => sheet.getByText('Assign').count(), 0)
})

test('the records of a member who is removed go to the member who is chosen', async (t) => {
  await joinAs(web.rapport, 'leaver@example.test', 'member', { name: 'Lea Leaver' })
  const lea = await idOf('leaver@example.test')
  const contact = await web.create('/contacts', { first_name: 'Handed', last_name: 'Over', owner_id: lea })
  const deal = await web.create('/deals', { name: 'Handed over', owner_id: lea })
  const page = await web.open(t, '/settings/members')
  await page.getByRole('button', { name: 'Remove Lea Leaver' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove Lea Leaver from this workspace?' })
  const heir = dialog.getByRole('combobox', { name: 'Who gets their records' })
  await untilEqual(() => heir.inputValue(), 'They stay with Lea Leaver')
  await checkScreen(page)
  await heir.fill('bob')
  await page.getByRole('option', { name: 'Bob Marchetti' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('2 records of Lea Leaver went to Bob Marchetti').waitFor()
  await owners('/contacts', [contact], [bob])
  await owners('/deals', [deal], [bob])
  await row(page, 'Lea Leaver').waitFor({ state: 'detached' })
})
