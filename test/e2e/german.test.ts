// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startReceiver } from '../receiver.ts'
import { before, useFor } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { settled, useWeb, visit } from '../web.ts'
import { company, onlyDelivery, register, until, webhook } from '../webhooks.ts'

const web = useWeb()
let german: string
before(async () => {
  await fillWorkspace(web.rapport)
  german = await joinAs(web.rapport, 'gerda@example.test', 'member', { language: 'de' })
})

// Words that are the same in both languages.
const same = new Set([
  'Name',
  'Website',
  'Deals',
  'Demo',
  'Filter',
  'Ctrl K',
  'Meeting',
  'Wert',
  'Webhook',
  'Webhooks',
  'URL',
  'Status',
  'HTTP 500',
  'HTTP 500.',
  'Format',
  'Test',
  'JSON',
])

/** Every text and every label that the app itself says, without what records hold. */
const said = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = new Set()
    for (const node of document.querySelectorAll('#app *, [data-portal] *')) {
      if (node.closest('style, tbody, code, pre, dd, .message-headers dl, .note-text, .timeline, .related, .field-value, .tag, .custom-field')) continue
      for (const name of ['aria-label', 'placeholder', 'title'])
        if (node.getAttribute(name)) found.add(node.getAttribute(name))
      for (const child of node.childNodes)
        if (child.nodeType === 3 && /[a-z]{2}/i.test(child.data)) found.add(child.data.trim())
    }
    return [...found]
  })()`)

test('nothing of contacts and companies is left untranslated in German', async (t) => {
  await translated(t, [
    '/contacts',
    '/contacts/1?tab=notes',
    '/contacts/1?tab=deals',
    '/companies',
    '/companies/2',
  ])
})

test('nothing of webhooks, of the delivery log and of its errors is left untranslated in German', async (t) => {
  const receiver = await useFor(t, startReceiver({ answer: () => ({ status: 500, body: '' }) }))
  const { call } = web.rapport
  const events = ['company.created']
  const { id } = await register(call, { name: 'Acme', url: receiver.url, retry_delays: [], events })
  await company(call)
  await until(() => webhook(call, id), { status: 'failed' })
  const delivery = await onlyDelivery(call, id)
  const session = await joinAs(web.rapport, 'admin@example.test', 'admin', { language: 'de' })
  await translated(
    t,
    [
      '/settings/webhooks',
      `/settings/webhooks/${id}`,
      '/settings/deliveries',
      `/settings/deliveries/${delivery.id}`,
    ],
    session,
  )
  const page = await web.open(t, '/settings/deliveries', { session, locale: 'de-DE' })
  await page.getByRole('link', { name: /Acme, Fehlgeschlagen · 500,/ }).waitFor()
  await visit(page, '/settings/webhooks')
  await page.getByRole('row', { name: /Fehlerhaft HTTP 500\./ }).waitFor()
})

test('a refusal of the service is said in German, with the field that it is about', async (t) => {
  const { call } = web.rapport
  const field = { resource: 'companies', key: 'ledger', type: 'text', unique: true }
  assert.equal((await call('POST', '/api/v1/custom-fields', field)).status, 201)
  const supplier = { name: 'Harbour Supplies GmbH', custom_fields: { ledger: '70010' } }
  const { body } = await call('POST', '/api/v1/companies', supplier)
  await call('DELETE', `/api/v1/companies/${body.data.id}`)
  await call('POST', '/api/v1/companies', { ...supplier, name: 'Harbour Supplies AG' })
  const page = await web.open(t, '/trash', { session: german, locale: 'de-DE', allow: /status of 409/ })
  await page.getByRole('button', { name: 'Harbour Supplies GmbH wiederherstellen' }).click()
  await page.getByText('Ein anderer Eintrag hat denselben Wert: ledger.').waitFor()
})

/** Compares each place in both languages. */
async function translated(t: TestContext, places: string[], session = german) {
  const english = await web.open(t, '/contacts')
  const deutsch = await web.open(t, '/contacts', { session, locale: 'de-DE' })
  for (const place of places) {
    const texts: string[][] = []
    for (const page of [english, deutsch]) {
      await visit(page, place)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await settled(page)
      texts.push(await said(page))
    }
    const [before = [], now = []] = texts
    const records =
      /Ada|Lovelace|Harbour|Analytical|Blue|Lumen|North|Manufacturing|Acme|Olivia|Gerda|Sales|@|seats|region|Rapport|^\w+\.\w+$|^\d+ ms$|^customer$|^lead$/
    const left = now.filter((text) => before.includes(text) && !same.has(text) && !records.test(text))
    assert.deepEqual(left, [], place)
    assert.ok(now.length > 15, place)
  }
}

test('in German, a card of the board says in full that its deal has no next step', async (t) => {
  await web.create('/deals', { name: 'Ohne Termin', value: 1200 })
  const viewport = { width: 1440, height: 900 }
  const page = await web.open(t, '/deals?view=board', { session: german, locale: 'de-DE', viewport })
  const text = page.locator('.card-link', { hasText: 'Ohne Termin' }).locator('.next-step .one-line')
  await text.waitFor()
  assert.equal(await text.evaluate((one) => one.scrollWidth - one.clientWidth), 0)
})
