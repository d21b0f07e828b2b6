import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, desk, phone, startWeb, type Web } from '../web.ts'
import { joinAs } from '../web-people.ts'
import { fillWorkspace } from '../web-records.ts'

let web: Web
let german: string
before(async () => {
  web = await startWeb()
  await fillWorkspace(web.rapport)
  german = await joinAs(web.rapport, 'gerda@example.test', 'member', { language: 'de' })
})
after(() => web?.close())

const forms = { desk, phone }
const step = (page: Page, name: string) => page.getByRole('button', { name }).first().click()
/** What floats over the screens, and how it is opened. */
const floating: [string, string, (page: Page) => Promise<void>][] = [
  ['/contacts', 'a dialog', (page) => step(page, 'Create contact')],
  ['/contacts?tag=partner&custom_field=seats%3D9', 'filters', async () => {}],
  ['/contacts', 'the filters', (page) => step(page, 'Filter')],
  ['/contacts', 'the views', (page) => step(page, 'Views')],
  ['/contacts', 'the columns', (page) => step(page, 'Columns')],
  [
    '/contacts',
    'the bar',
    async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await step(page, 'Set stage')
    },
  ],
  ['/contacts?open=1', 'a field', (page) => step(page, 'Stage: Edit')],
  ['/contacts/1', 'a new field', (page) => step(page, 'Add a field')],
  ['/contacts/1', 'a company', (page) => step(page, 'Company: Edit')],
  ['/contacts/1?tab=notes', 'a note', (page) => step(page, 'Edit the note')],
  ['/companies?open=1', 'a company beside', async () => {}],
  ['/companies/1?tab=contacts', 'its people', async () => {}],
  ['/companies', 'another dialog', (page) => step(page, 'Create company')],
]
for (const form of ['desk', 'phone'] as const)
  for (const colorScheme of ['light', 'dark'] as const)
    test(`what opens over contacts and companies can be used by everybody, on a ${form} in ${colorScheme}`, async (t) => {
      const page = await web.open(t, '/contacts', { ...forms[form], colorScheme })
      for (const [path, name, open] of floating) {
        await t.test(name, async () => {
          await page.goto(web.rapport.url + path)
          await page.getByRole('heading').first().waitFor()
          await page
            .locator('[aria-busy=true], .mantine-Skeleton-root')
            .first()
            .waitFor({ state: 'detached' })
          await open(page)
          await checkScreen(page)
        })
      }
    })

// Words that are the same in both languages.
const same = new Set(['Name', 'Website', 'Deals', 'Demo', 'Filter', 'Ctrl K', 'Meeting', 'Wert'])

/** Every text and every label that the app itself says, without what records hold. */
const said = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = new Set()
    for (const node of document.querySelectorAll('#app *, [data-portal] *')) {
      if (node.closest('style, tbody, .note-text, .timeline, .related, .field-value, .tag, .custom-field')) continue
      for (const name of ['aria-label', 'placeholder', 'title'])
        if (node.getAttribute(name)) found.add(node.getAttribute(name))
      for (const child of node.childNodes)
        if (child.nodeType === 3 && /[a-z]{2}/i.test(child.data)) found.add(child.data.trim())
    }
    return [...found]
  })()`)

test('nothing of contacts and companies is left untranslated in German', async (t) => {
  const places = ['/contacts', '/contacts/1?tab=notes', '/contacts/1?tab=deals', '/companies', '/companies/2']
  const english = await web.open(t, '/contacts')
  const deutsch = await web.open(t, '/contacts', { session: german, locale: 'de-DE' })
  for (const place of places) {
    const texts: string[][] = []
    for (const page of [english, deutsch]) {
      await page.goto(web.rapport.url + place)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
      texts.push(await said(page))
    }
    const [before = [], now = []] = texts
    const records =
      /Ada|Lovelace|Harbour|Analytical|Blue|Lumen|North|Manufacturing|Acme|Olivia|Gerda|Sales|@|seats|region|Rapport|^customer$|^lead$/
    const left = now.filter((text) => before.includes(text) && !same.has(text) && !records.test(text))
    assert.deepEqual(left, [], place)
    assert.ok(now.length > 15, place)
  }
})
