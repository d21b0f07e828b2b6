// runs: once
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { settled, startWeb, type Web } from '../web.ts'
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
      await settled(page)
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
