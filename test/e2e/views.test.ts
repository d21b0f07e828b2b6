// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, drawLate, fits, phone, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const call = async (method: string, path: string, body?: object) =>
  dataOf(await web.rapport.call(method, `/api/v1${path}`, body))
const save = (list: string, name: string, query: string) => call('POST', '/views', { list, name, query })
/** Calls the API in the page, as the person who is signed in. */
const asPerson = (page: Page, method: string, path: string, body?: object) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(`/api/v1${path}`, { method, ...(body && { headers, body }) })
      return ((await reply.json()) as { data: { id: string; tabs: string[] } }).data
    },
    [method, path, body && JSON.stringify(body)] as [string, string, string | undefined],
  )
const saved = async (id: string) => (await call('GET', `/views/${id}`)).query
const strip = (page: Page) => page.getByRole('navigation', { name: /Views|Ansichten/ })
const tab = (page: Page, name: string) => strip(page).getByRole('link', { name, exact: true })
const current = (page: Page) => strip(page).locator('[aria-current]').allInnerTexts()
const isCurrent = (page: Page, name: string) =>
  until(
    () => current(page),
    (names) => names.join() === name,
  )
const names = (page: Page) => strip(page).getByRole('link').allInnerTexts()
const areTabs = (page: Page, ...wanted: string[]) =>
  until(
    () => names(page),
    (shown) => shown.join() === ['All', 'Mine', ...wanted].join(),
  )
/** Opens the menu of the current tab, and reads what it offers. */
async function menu(page: Page, name: string) {
  await button(page, `Actions on the view ${name}`).click()
  await page.getByRole('menu').waitFor()
  return page.getByRole('menuitem').allInnerTexts()
}
const choose = async (page: Page, name: string, action: string) => {
  await menu(page, name)
  await page.getByRole('menuitem', { name: action }).click()
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

test('a saved view is a tab that opens its filters, and All and Mine stand before it', async (t) => {
  await call('POST', '/companies', { name: 'Lumen Optics', industry: 'Optics' })
  await call('POST', '/companies', { name: 'Harbor Foods', industry: 'Food' })
  await save('companies', 'Optics', 'industry=Optics')
  await save('companies', 'By name', 'sort=-name')
  const page = await web.open(t, '/companies')
  await tab(page, 'Optics').waitFor()
  assert.deepEqual(await strip(page).getByRole('link').allInnerTexts(), ['All', 'Mine', 'Optics', 'By name'])
  assert.deepEqual(await current(page), ['All'])
  await untilEqual(() => button(page, 'Save as new view').count(), 0)
  await tab(page, 'Optics').focus()
  await page.keyboard.press('Enter')
  await isCurrent(page, 'Optics')
  await page.getByText('Harbor Foods').waitFor({ state: 'detached' })
  assert.equal(parameter(page, 'industry'), 'Optics')
  await tab(page, 'All').click()
  await page.getByText('Harbor Foods').waitFor()
  assert.equal(parameter(page, 'industry'), null)
})

test('what differs from a tab can be saved in it, taken back, or saved as a new tab', async (t) => {
  const { id } = await save('contacts', 'Leads', 'stage=lead')
  const page = await web.open(t, '/contacts')
  await tab(page, 'Leads').click()
  await isCurrent(page, 'Leads')
  await untilEqual(() => button(page, 'Save').count(), 0)
  await page.goto(`${page.url()}&sort=last_name`)
  await button(page, 'Save').waitFor()
  assert.deepEqual(await current(page), ['Leads'])
  await button(page, 'Save').click()
  await page.getByText('View Leads saved').waitFor()
  assert.equal(await saved(id), 'sort=last_name&stage=lead')
  await button(page, 'Save').waitFor({ state: 'detached' })
  await button(page, 'Undo').click()
  await button(page, 'Save').waitFor()
  assert.equal(await saved(id), 'stage=lead')

  await button(page, 'Save as new view').click()
  const dialog = page.getByRole('dialog', { name: 'Save as new view' })
  await dialog.getByRole('textbox', { name: 'Name of the view' }).fill('Leads by name')
  await untilEqual(() => dialog.getByRole('radio', { name: 'Only me' }).isChecked(), true)
  await page.keyboard.press('Enter')
  await isCurrent(page, 'Leads by name')
  const of_all = await call('GET', '/views?list=contacts')
  assert.deepEqual(
    of_all.map(({ name }: { name: string }) => name),
    ['Leads'],
  )
  assert.deepEqual(await strip(page).getByRole('link').allInnerTexts(), [
    'All',
    'Mine',
    'Leads',
    'Leads by name',
  ])
  await untilEqual(() => button(page, 'Save').count(), 0)
})

test('a view is renamed and deleted in the menu of its tab, Undo puts it back, and one that somebody else deletes takes no name', async (t) => {
  await save('activities', 'Calls', 'show=all&type=call')
  const page = await web.open(t, '/activities', { allow: /status of 404/ })
  await tab(page, 'Calls').click()
  await button(page, 'Actions on the view Calls').click()
  await page.getByRole('menuitem', { name: 'Rename view' }).click()
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name of the view' })
  await untilEqual(() => name.inputValue(), 'Calls')
  await name.fill('All calls')
  await page.keyboard.press('Enter')
  await tab(page, 'All calls').waitFor()
  await button(page, 'Actions on the view All calls').click()
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  await tab(page, 'All calls').waitFor({ state: 'detached' })
  assert.deepEqual(await current(page), ['All'])
  assert.equal(parameter(page, 'type'), null)
  await button(page, 'Undo').click()
  await tab(page, 'All calls').click()
  await isCurrent(page, 'All calls')

  await choose(page, 'All calls', 'Rename view')
  await name.fill('Our calls')
  const views: { id: string; name: string }[] = await call('GET', '/views')
  await call('DELETE', `/views/${views.find((view) => view.name === 'All calls')?.id}`)
  await tab(page, 'All calls').waitFor({ state: 'detached' })
  await name.press('Enter')
  await page.getByRole('dialog').getByText('This is gone. Somebody may have deleted it.').waitFor()
  assert.ok(!(await names(page)).includes('Our calls'))
})

test('who may only read opens the tabs and cannot change them', async (t) => {
  await call('POST', '/deals', { name: 'Lenses for 2027', stage: 'demo' })
  await save('deals', 'Demos', 'stage=demo&view=table')
  const session = await joinAs(web.rapport, 'rita@example.test', 'read_only', { language: 'en' })
  const page = await web.open(t, '/deals', { session })
  await tab(page, 'Demos').click()
  await page.getByRole('table', { name: 'Deals' }).waitFor()
  await page.goto(`${page.url()}&sort=name`)
  await isCurrent(page, 'Demos')
  await untilEqual(() => button(page, 'Save as new view').count(), 0)
  assert.deepEqual(await menu(page, 'Demos'), ['Make default'])
})

test('a save over a change of somebody else says who it was, and the next one overwrites it', async (t) => {
  const { id } = await save('companies', 'Shipping', 'industry=Shipping')
  const page = await web.open(t, '/companies', { allow: /status of 412/ })
  await tab(page, 'Shipping').click()
  await isCurrent(page, 'Shipping')
  await page.goto(`${page.url()}&sort=name`)
  // Somebody is faster, once.
  let overtaken = false
  await page.route(`**/api/v1/views/${id}`, async (route) => {
    if (route.request().method() === 'PATCH' && !overtaken) {
      overtaken = true
      await call('PUT', `/views/${id}`, { query: 'industry=Ports' })
    }
    await route.continue()
  })
  await button(page, 'Save').click()
  await page.getByText(/^First key changed this view .* Save again to overwrite that change\.$/).waitFor()
  assert.equal(await saved(id), 'industry=Ports')
  await button(page, 'Save').click()
  await page.getByText('View Shipping saved').waitFor()
  assert.equal(await saved(id), 'industry=Shipping&sort=name')
  await call('DELETE', `/views/${id}`)
})

test('tabs move by drag and by keyboard, for this person alone, and stay there', async (t) => {
  const session = await joinAs(web.rapport, 'mover@example.test', 'member', { language: 'en' })
  for (const name of ['One', 'Two', 'Three']) await save('activities', name, `search=${name}`)
  const page = await web.open(t, '/activities', { session })
  await tab(page, 'Three').waitFor()
  const before = await names(page)
  await areTabs(page, ...before.slice(2))
  const others = before.slice(2, -3)
  await tab(page, 'Three').dragTo(tab(page, 'One'), { targetPosition: { x: 2, y: 8 } })
  await areTabs(page, ...others, 'Three', 'One', 'Two')

  await tab(page, 'One').focus()
  await page.keyboard.press('Enter')
  await isCurrent(page, 'One')
  const actions = button(page, 'Actions on the view One')
  await actions.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Move right' }).press('Enter')
  await areTabs(page, ...others, 'Three', 'Two', 'One')
  await page
    .getByRole('status')
    .getByText(`One is view ${others.length + 3} of ${others.length + 3}`)
    .waitFor()
  assert.deepEqual(await menu(page, 'One'), ['Rename view', 'Move left', 'Make default', 'Delete view'])
  await checkScreen(page)
  await page.getByRole('menuitem', { name: 'Move left' }).click()
  await areTabs(page, ...others, 'Three', 'One', 'Two')
  // The stored tabs, after the last answer.
  await until(
    async () => (await asPerson(page, 'GET', '/view-tabs/activities')).tabs.length,
    (count) => count === others.length + 3,
  )
  await page.reload()
  await areTabs(page, ...others, 'Three', 'One', 'Two')
  const owner = await web.open(t, '/activities')
  await areTabs(owner, ...others, 'One', 'Two', 'Three')
})

test('a list without a query opens with the default of the person, and All shows every record', async (t) => {
  const session = await joinAs(web.rapport, 'default@example.test', 'member', { language: 'en' })
  await call('POST', '/companies', { name: 'Default Dairy', industry: 'Dairy' })
  await call('POST', '/companies', { name: 'Default Steel', industry: 'Steel' })
  await save('companies', 'Dairies', 'industry=Dairy&search=default')
  const page = await web.open(t, '/companies', { session })
  await tab(page, 'Dairies').click()
  await isCurrent(page, 'Dairies')
  await choose(page, 'Dairies', 'Make default')
  await page.getByText('The list opens with Dairies').waitFor()
  assert.ok(!(await menu(page, 'Dairies')).includes('Make default'))
  await page.keyboard.press('Escape')
  const rail = page.getByRole('navigation', { name: 'Main' }).first()
  await rail.getByRole('link', { name: 'Contacts', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  const reads: string[] = []
  page.on('request', (request) => /\/api\/v1\/view/.test(request.url()) && reads.push(request.url()))
  await rail.getByRole('link', { name: 'Companies', exact: true }).click()
  await page.getByText('Default Dairy').waitFor()
  assert.equal(parameter(page, 'industry'), 'Dairy')
  assert.deepEqual(await current(page), ['Dairies'])
  assert.deepEqual(reads, [])
  await page.goto(`${web.rapport.url}/companies`)
  await isCurrent(page, 'Dairies')
  await tab(page, 'All').click()
  await page.getByText('Default Steel').waitFor()
  await isCurrent(page, 'All')
  await page.reload()
  await page.getByText('Default Steel').waitFor()
  // The link of a filter is not the default.
  await page.goto(`${web.rapport.url}/companies?industry=Steel`)
  await page.getByText('Default Steel').waitFor()
  assert.deepEqual(await current(page), ['All'])
  await choose(page, 'All', 'Make default')
  await page.getByText('The list opens with All').waitFor()
  await page.goto(`${web.rapport.url}/companies`)
  await isCurrent(page, 'All')
})

test('a view is shared with everybody and taken back by its maker alone', async (t) => {
  const session = await joinAs(web.rapport, 'sharer@example.test', 'member', { language: 'en' })
  const page = await web.open(t, '/contacts', { session })
  const body = { list: 'contacts', name: 'Of the maker', query: 'search=maker', visibility: 'private' }
  await tab(page, 'All').waitFor()
  const { id } = await asPerson(page, 'POST', '/views', body)
  // The change stream shows it.
  await tab(page, 'Of the maker').click()
  await isCurrent(page, 'Of the maker')
  await choose(page, 'Of the maker', 'Share with everybody')
  await page.getByText('Everybody sees the view Of the maker').waitFor()
  assert.equal((await call('GET', `/views/${id}`)).visibility, 'shared')

  const mate = await joinAs(web.rapport, 'mate@example.test', 'member', { language: 'en' })
  const other = await web.open(t, `/contacts?saved=${id}&search=maker`, { session: mate })
  await isCurrent(other, 'Of the maker')
  const offered = await menu(other, 'Of the maker')
  for (const action of ['Rename view', 'Show only to me', 'Delete view']) assert.ok(!offered.includes(action))
  await other.keyboard.press('Escape')
  await choose(page, 'Of the maker', 'Show only to me')
  await tab(other, 'Of the maker').waitFor({ state: 'detached' })
  assert.equal((await web.rapport.call('GET', `/api/v1/views/${id}`)).status, 404)
})

test('on a phone, a menu lists the tabs that have no room, and the current one is in sight', async (t) => {
  const session = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
  for (const city of ['Berlin', 'Hamburg', 'München', 'Köln', 'Leipzig', 'Stuttgart'])
    await save('companies', `Firmen in ${city}`, `search=${encodeURIComponent(city)}`)
  const page = await web.open(t, '/companies', { ...phone, session, locale: 'de-DE' })
  await button(page, 'Ansichten').click()
  await page.getByRole('menuitem', { name: 'Firmen in Stuttgart' }).click()
  const opened = tab(page, 'Firmen in Stuttgart')
  await isCurrent(page, 'Firmen in Stuttgart')
  await until(
    () => Promise.all([opened.boundingBox(), strip(page).boundingBox()]),
    ([inside, around]) =>
      Boolean(inside && around) &&
      inside!.x >= around!.x - 1 &&
      inside!.x + inside!.width <= around!.x + around!.width + 1,
  )
  await fits(page)
  await checkScreen(page, async (scheme) => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/views-390-${scheme}.png` })
  })
})

test('on a phone, the menu of a view with a long name stands beside its tab', async (t) => {
  const { id } = await save(
    'contacts',
    'Renewals in the north that nobody has called since the fair',
    'stage=north',
  )
  const page = await web.open(t, `/contacts?saved=${id}&stage=north`, phone)
  const menu = page.getByRole('button', { name: /^Actions on the view Renewals/ })
  const middleOf = async (one: Locator) =>
    (await one.boundingBox().then((box) => box && box.y + box.height / 2)) ?? 0
  await menu.waitFor()
  await until(
    async () => (await middleOf(menu)) - (await middleOf(strip(page).locator('[aria-current]'))),
    (apart) => Math.abs(apart) < 4,
  )
  await fits(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await visit(page, '/contacts?sort=id')
  const [last, after] = [strip(page).getByRole('link').last(), button(page, 'Save as new view')]
  await after.waitFor()
  await until(
    () => Promise.all([last.boundingBox(), after.boundingBox()]),
    ([tab, next]) => {
      if (!tab || !next) return false
      const gap = next.x - (tab.x + tab.width)
      return gap >= 0 && gap < 20 && next.y < tab.y + tab.height && tab.y < next.y + next.height
    },
  )
})

test('the menu of tabs that have no room goes when the window has room for them again', async (t) => {
  for (const city of ['Oslo', 'Bergen', 'Trondheim'])
    await save('deals', `Customers in ${city}`, `search=${city}`)
  const page = await web.open(t, '/deals?view=table')
  // A narrow window folds the rail by itself, unless the person has chosen.
  await button(page, 'Collapse the navigation').click()
  await tab(page, 'Customers in Trondheim').waitFor()
  const views = button(page, 'Views')
  await views.waitFor({ state: 'detached' })
  const line = await page.locator('.view-line').boundingBox()
  // Beside the tabs, the page has 16 px, and 4 px are left.
  const just_enough = { width: Math.ceil(line!.x + line!.width) + 20, height: 800 }
  await page.setViewportSize(just_enough)
  await fits(page)
  assert.equal(await views.count(), 0)
  await page.setViewportSize({ width: just_enough.width - 100, height: 800 })
  await views.waitFor()
  await page.setViewportSize(just_enough)
  await views.waitFor({ state: 'detached' })
})

test('a name of a view from right to left that has no room keeps its beginning', async (t) => {
  const name = 'العملاء في الشمال الذين لم يتصل بهم أحد منذ المعرض'
  const { id } = await save('companies', name, 'search=north')
  const page = await web.open(t, `/companies?saved=${id}&search=north`, phone)
  const cut = strip(page).locator('[aria-current] .view-name')
  await cut.getByText(name).waitFor()
  await until(
    () =>
      cut.evaluate((cut) => {
        const first = cut.ownerDocument.createRange()
        first.setStart(cut.firstChild!, 0)
        first.setEnd(cut.firstChild!, 1)
        const { left, right } = cut.getBoundingClientRect()
        const { left: start, right: end } = first.getBoundingClientRect()
        return [cut.scrollWidth > cut.clientWidth, start >= left && end <= right]
      }),
    ([is_cut, begins]) => Boolean(is_cut && begins),
  )
})

test('a tab that is dropped before its drag is drawn moves', async (t) => {
  const session = await joinAs(web.rapport, 'quick@example.test', 'member', { language: 'en' })
  for (const name of ['Left', 'Right']) await save('deals', name, `search=${name}`)
  const page = await web.open(t, '/deals?view=table', { session, reusable: false })
  await tab(page, 'Right').waitFor()
  const others = (await names(page)).slice(2, -2)
  await drawLate(page)
  await tab(page, 'Right').dragTo(tab(page, 'Left'), { targetPosition: { x: 2, y: 8 } })
  await areTabs(page, ...others, 'Right', 'Left')
})
