// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { checkScreen, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(async () => {
  await fillWorkspace(web.rapport)
})

async function openPalette(page: Page) {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const input = page.getByRole('combobox', { name: 'Search or go to' })
  await input.waitFor()
  return input
}
/** The option that Enter would choose, as a screen reader announces it. */
const current = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { activeElement: Pointing; getElementById(id: string): Pointing }
    }
    type Pointing = { getAttribute(name: string): string | null; textContent: string }
    const id = document.activeElement.getAttribute('aria-activedescendant')
    return id ? document.getElementById(id).textContent : null
  })
const focused = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { activeElement: { textContent: string; id: string } }
    }
    return document.activeElement.id || document.activeElement.textContent
  })

test('a contact is found and opened by the keyboard alone, and is offered again the next time', async (t) => {
  const page = await web.open(t, '/trash')
  await page.getByRole('heading', { level: 1, name: 'Trash' }).waitFor()
  await openPalette(page)
  await page.keyboard.type('zoe ang')
  const option = page.getByRole('option', { name: /Zoë Ångström/ })
  await option.waitFor()
  while (!(await current(page))?.includes('Zoë Ångström')) await page.keyboard.press('ArrowDown')
  await untilEqual(() => option.getAttribute('aria-selected'), 'true')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/contacts\/\d+$/)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await visit(page, '/')
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await openPalette(page)
  await page
    .getByRole('group', { name: 'Opened last' })
    .getByRole('option', { name: 'Zoë Ångström' })
    .waitFor()
  assert.match((await current(page)) ?? '', /Zoë Ångström/)
})

test('companies and deals are found by their names', async (t) => {
  const page = await web.open(t)
  await openPalette(page)
  await page.keyboard.type('harbour')
  await page
    .getByRole('group', { name: 'Companies' })
    .getByRole('option', { name: /Harbour Logistics/ })
    .waitFor()
  await page
    .getByRole('group', { name: 'Deals' })
    .getByRole('option', { name: /Harbour Logistics: renewal/ })
    .first()
    .waitFor()
  // A long name leaves room for the stage.
  await web.create('/deals', {
    name: `Quayside ${'maintenance and repair '.repeat(6)}`,
    stage: 'verbal_commitment',
  })
  await page.keyboard.press('Control+a')
  await page.keyboard.type('quayside')
  const stage = page.getByRole('option', { name: /Quayside/ }).locator('.palette-detail')
  await stage.waitFor()
  assert.equal(await stage.evaluate((one) => one.scrollWidth - one.clientWidth), 0)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('no such thing anywhere')
  await page.getByText('Nothing found.').waitFor()
  await untilEqual(() => page.getByRole('option').count(), 0)
})

test('a name with a typographic apostrophe, a dash and a ligature is found as the keyboard types it, and the other way round', async (t) => {
  const { call } = web.rapport
  for (const last_name of ['O’Malley–Griﬃn', "D'Arcy-Œuvre"])
    dataOf(await call('POST', '/api/v1/contacts', { first_name: 'Conor', last_name }), 201)
  const page = await web.open(t)
  await openPalette(page)
  for (const [text, name] of [
    ["o'malley-griffin", 'Conor O’Malley–Griﬃn'],
    ['D’ARCY—oeuvre', "Conor D'Arcy-Œuvre"],
  ] as const) {
    await page.keyboard.press('Control+a')
    await page.keyboard.type(text)
    const options = page.getByRole('group', { name: 'Contacts' }).getByRole('option')
    await untilEqual(async () => (await options.allTextContents()).map((one) => one.includes(name)), [true])
  }
})

test('a contact and a company are found by their telephone numbers, however these are written', async (t) => {
  await web.create('/contacts', { first_name: 'Rosa', last_name: 'Ruf', phone: '+49 30 555-01 42' })
  await web.create('/companies', { name: 'Ring & Co', phone: '(030) 555 0142' })
  const page = await web.open(t)
  await openPalette(page)
  for (const typed of ['+49 30 555 01 42', '0049305550142', '030/5550142']) {
    await page.keyboard.press('Control+a')
    await page.keyboard.type(typed)
    await page
      .getByRole('group', { name: 'Contacts' })
      .getByRole('option', { name: 'Rosa Ruf +49 30 555-01 42' })
      .waitFor()
    await page
      .getByRole('group', { name: 'Companies' })
      .getByRole('option', { name: 'Ring & Co (030) 555 0142' })
      .waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('no such thing anywhere')
    await page.getByText('Nothing found.').waitFor()
  }
})

test('a number in a name is found, too', async (t) => {
  await web.create('/companies', { name: 'Hotline 555 0199 Ltd' })
  const page = await web.open(t)
  await openPalette(page)
  await page.keyboard.type('555 0199')
  await page.getByRole('option', { name: 'Hotline 555 0199 Ltd' }).waitFor()
})

test('a command that only a further word finds is not the first: “log” does not sign out', async (t) => {
  const page = await web.open(t)
  await openPalette(page)
  await page.keyboard.type('log')
  await page.getByRole('option', { name: 'Sign out' }).waitFor()
  assert.match((await current(page)) ?? '', /^Log a call/)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('logout')
  await untilEqual(() => current(page), 'Sign out')

  const session = await joinAs(web.rapport, 'gerda@example.test', 'member', { language: 'de' })
  const german = await web.open(t, '/', { session })
  await german.getByRole('heading', { level: 1 }).waitFor()
  await german.keyboard.press('Control+k')
  await german.getByRole('combobox').fill('log')
  await german.getByRole('option', { name: 'Abmelden' }).waitFor()
  assert.match((await current(german)) ?? '', /^Anruf, Treffen oder E-Mail festhalten/)
})

test('the palette goes to places, and Escape puts the focus back where it was', async (t) => {
  const page = await web.open(t)
  const link = page.getByRole('link', { name: 'Calendar' }).first()
  await link.focus()
  await openPalette(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { activeElement: { textContent: string } } }
    return document.activeElement.textContent === 'Calendar'
  })
  await openPalette(page)
  await page.keyboard.type('deals')
  while (!(await current(page))?.startsWith('Go to Deals')) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/deals')
  await page.getByRole('heading', { level: 1, name: 'Deals' }).waitFor()
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { activeElement: { id: string } } }
    return document.activeElement.id === 'content'
  })
  assert.equal(await focused(page), 'content')
})

test('the palette runs an action, and creates from anywhere', async (t) => {
  const page = await web.open(t, '/audit-log')
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  await openPalette(page)
  await page.keyboard.type('keyboard sh')
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as {
      document: { querySelectorAll(by: string): { length: number } }
    }
    return document.querySelectorAll('[role=option]').length === 1
  })
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await openPalette(page)
  await page.keyboard.type('create co')
  while ((await current(page)) !== 'Create company') await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/companies?create=1')
  await page.getByRole('dialog').getByRole('button', { name: 'Create company' }).waitFor()
})

test('the sheet lists every key that works here, and ? opens it', async (t) => {
  const page = await web.open(t, '/trash')
  await page.getByRole('table', { name: 'Trash' }).waitFor()
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const everywhere = sheet.getByRole('region', { name: 'Everywhere' })
  await everywhere.getByText('Go to Deals').waitFor()
  const line = everywhere.locator('.sheet-line').filter({ hasText: 'Go to Deals' })
  assert.deepEqual(await line.locator('kbd').allInnerTexts(), ['g', 'd'])
  const lists = sheet.getByRole('region', { name: 'In lists' }).locator('.sheet-line')
  const next = lists.filter({ hasText: 'Next row' })
  assert.deepEqual(await next.locator('kbd').allInnerTexts(), ['j', '↓'])
  await checkScreen(page)
})

test("what is typed right after the key is the palette's, however long its program takes to come", async (t) => {
  const page = await web.open(t, '/contacts')
  await page.getByRole('table', { name: 'Contacts' }).waitFor()
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(/\/assets\/palette-.*js/, async (route) => {
    await late
    await route.continue()
  })
  // An idle page loads the part before it is used.
  await page.reload()
  await page.getByRole('table', { name: 'Contacts' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('create co')
  come()
  const input = page.getByRole('combobox', { name: 'Search or go to' })
  await page.getByRole('option', { name: 'Create company' }).waitFor()
  await untilEqual(() => input.inputValue(), 'create co')
  await page.keyboard.type('m')
  await untilEqual(() => input.inputValue(), 'create com')
  assert.equal(new URL(page.url()).search, '')
})

test("what is typed right after c is the new record's, and over a dialog there are no other keys", async (t) => {
  const page = await web.open(t, '/contacts')
  await page.getByRole('table', { name: 'Contacts' }).waitFor()
  await page.keyboard.type('cNexus')
  const first_name = page.getByRole('dialog').getByRole('textbox', { name: 'First name' })
  await until(() => first_name.inputValue(), 'Nexus')
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await untilEqual(() => page.getByRole('dialog').count(), 1)
  await untilEqual(() => first_name.inputValue(), 'Nexus')
})

test('Enter takes what fits the text and was shown as chosen, also while more is being found', async (t) => {
  await web.rapport.call('POST', '/api/v1/companies', { name: 'Deal makers' })
  const page = await web.open(t, '/trash')
  await openPalette(page)
  await page.keyboard.type('anna')
  await page.getByRole('option', { name: /Anna Schmidt/ }).waitFor()
  let answering = Promise.resolve()
  await page.route(/\/api\/v1\/search\?/, async (route) => {
    await answering
    await route.continue()
  })
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    answering = promise
    return resolve
  }
  let answer = hold()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('omar')
  await page.keyboard.press('Enter')
  answer()
  await page.getByRole('option', { name: /Omar Haddad/ }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/trash')

  answer = hold()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('deal')
  await page.getByRole('option', { name: 'Create deal' }).waitFor()
  const chosen = await current(page)
  answer()
  await page.getByRole('option', { name: /Deal makers/ }).waitFor()
  assert.equal(await current(page), chosen)
})

test('settings, colours, activities and words with a wrong letter are found', async (t) => {
  await web.rapport.call('POST', '/api/v1/activities', { type: 'call', subject: 'Zinnober handover' })
  const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
  await web.rapport.call('POST', '/api/v1/appointments', { title: 'Zinnober tour', ...times })
  const page = await web.open(t, '/trash')
  const input = await openPalette(page)
  const finds = async (text: string, group: string, option: string) => {
    await input.fill(text)
    await page.getByRole('group', { name: group }).getByRole('option', { name: option }).waitFor()
  }
  await finds('zinnober', 'Activities', 'Zinnober handover Call')
  await finds('zinnober', 'Appointments', 'Zinnober tour')
  await finds('delivery log', 'Go to', 'Go to Delivery log')
  await finds('webhook', 'Go to', 'Go to Webhooks')
  await finds('papierkorb', 'Go to', 'Go to Trash')
  await finds('delivrey', 'Similar', 'Go to Delivery log')
  await finds('api key', 'Create', 'Create API key')
  await finds('dark', 'Actions', 'Appearance: Dark')
  await page.keyboard.press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await openPalette(page)
  await page.keyboard.type('new api key')
  await page.getByRole('option', { name: 'Create API key' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/settings/keys?create=1')
  await page.getByRole('dialog', { name: 'Create API key' }).waitFor()
})
