// runs: once
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { quick } from '../quick.ts'
import { before } from '../use.ts'
import { makeScreens } from '../web/screens.ts'
import { checkScreen, desk, phone, settled, useWeb } from '../web.ts'

const web = useWeb()
let screens: Record<string, string>
before(async () => {
  screens = await makeScreens(web.rapport)
})

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
/** A phone folds the facts. */
async function pressFact(page: Page, name: string) {
  const fold = page.getByRole('button', { name: 'Facts', exact: true })
  if (await fold.isVisible()) await fold.click()
  await press(page, name)
}
const palette = async (page: Page) => {
  await page.keyboard.press('Control+k')
  await page.getByRole('option').first().waitFor()
}

/**
 * Panels, dialogs and menus of the screens, and how to open each. The place is a name of makeScreens, with the rest of
 * the address.
 */
const opened: [name: string, screen: string, more: string, open: (page: Page) => Promise<unknown>][] = [
  ['the palette', 'home', '', palette],
  [
    'what the palette found',
    'home',
    '',
    async (page) => {
      await palette(page)
      await page.keyboard.type('an')
      await page.getByRole('option', { name: /Anna Schmidt/ }).waitFor()
    },
  ],
  ['a new contact', 'contacts', '', (page) => press(page, 'Create contact')],
  ['filters that are set', 'contacts', '?tag=partner&custom_field=seats%3D9', async () => {}],
  ['the fields of filters', 'contacts', '', (page) => press(page, 'Filter')],
  ['a filter by texts', 'contacts', '?stage=lead,!won', (page) => press(page, /^Stage is/)],
  [
    'a filter by amounts',
    'deals-table',
    '&value_from=100&expected_close_to=2027-01-31&stage=demo,won&owner_id=!me',
    (page) => press(page, /^Value at least/),
  ],
  ['a filter by choices', 'deals-table', '&stage=demo', (page) => press(page, /^Stage is/)],
  ['a new view', 'contacts', '?tag=partner', (page) => press(page, 'Save as new view')],
  ['the columns', 'contacts', '', (page) => press(page, 'Columns')],
  [
    'the bar of what is selected',
    'contacts',
    '',
    async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await press(page, 'Set stage')
    },
  ],
  ['a field', 'contacts-panel', '', (page) => pressFact(page, 'Stage: Edit')],
  ['a new custom field', 'contact', '', (page) => pressFact(page, 'Add a field')],
  ['a reference', 'contact', '', (page) => pressFact(page, 'Company: Edit')],
  ['a note', 'contact-notes', '', (page) => press(page, 'Edit the note')],
  ['a new company', 'companies', '', (page) => press(page, 'Create company')],
  ['a company beside the list', 'companies', '?open=1', async () => {}],
  ['the people of a company', 'company', '?tab=contacts', async () => {}],
  [
    'a deal beside the table',
    'deals-table',
    '&open=4',
    (page) => page.getByRole('complementary').getByRole('tab', { name: 'Timeline' }).waitFor(),
  ],
  [
    'the stages of a deal',
    'deal',
    '?tab=stages',
    (page) => page.getByRole('list', { name: 'Stage history' }).waitFor(),
  ],
  [
    'a change in the audit log',
    'audit-log',
    '',
    async (page) => {
      await press(page, /^Show what changed/)
      await page.getByRole('table').first().waitFor()
    },
  ],
]
// A phone shows the same columns to everybody.
const of_desks = 'the columns'
for (const [form, view] of Object.entries(quick ? { desk } : { desk, phone }))
  for (const [name, screen, more, open] of opened.filter(([name]) => view === desk || name !== of_desks))
    test(`what opens beside and over the screens can be used by everybody, on a ${form}: ${name}`, async (t) => {
      const page = await web.open(t, screens[screen] + more, view)
      await settled(page)
      await open(page)
      await checkScreen(page)
    })
