// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { startReceiver } from '../receiver.ts'
import { before, useFor } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, fits, keepToasts, untilEqual, useWeb, visit } from '../web.ts'
import { company, onlyDelivery, register } from '../webhooks.ts'

const web = useWeb()
// The width of a small phone, and texts of the longer language.
const viewport = { width: 360, height: 640 }
let german: string
before(async () => {
  const more = { name: 'Gerda-Marie Großmüller', language: 'de' }
  german = await joinAs(web.rapport, 'gerda@example.test', 'admin', more)
})

const open = (t: TestContext, path: string) =>
  web.open(t, path, { session: german, locale: 'de-DE', viewport })

/** Waits until an element is within the screen from left to right. */
const inWidth = (element: Locator) =>
  untilEqual(async () => {
    const box = await element.boundingBox()
    return box !== null && box.x >= 0 && box.x + box.width <= viewport.width
  }, true)

test('on a small phone, a menu wraps a long name and stays on the screen', async (t) => {
  const contact = { first_name: 'Anne-Katrin', last_name: 'von der Mühlen-Schwarzenberg' }
  const id = await web.create('/contacts', contact)
  const page = await open(t, `/contacts/${id}`)
  await page.getByRole('button', { name: 'Weitere Aktionen' }).click()
  await inWidth(page.getByRole('menuitem', { name: /^Deal zu Anne-Katrin/ }))
  await fits(page)
})

test('on a small phone, a menu that is higher than the screen scrolls', async (t) => {
  await web.create('/deals', { name: 'Kran', value: 100 })
  const page = await open(t, '/deals?view=board')
  await page.locator('.bottom').getByRole('button', { name: 'Mehr' }).click()
  await page.getByRole('menuitem', { name: 'Abmelden' }).click({ trial: true, timeout: 10_000 })
  await page.getByRole('menuitem', { name: 'Mitteilungen' }).click({ trial: true, timeout: 10_000 })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Aktionen für Kran' }).click()
  await page.getByRole('menuitem', { name: 'Deal löschen' }).click({ trial: true, timeout: 10_000 })
})

test('on a small phone, the settings of the stages show their names', async (t) => {
  const page = await open(t, '/settings/stages')
  const name = page.getByLabel('Name von Mündliche Zusage')
  await name.fill('Mündliche Zusage')
  assert.ok(await name.evaluate((input) => input.scrollWidth <= input.clientWidth))
  await page.getByLabel('Farbe von Mündliche Zusage').fill('#123456')
  for (const label of ['Mündliche Zusage nach oben', 'Tage, nach denen Mündliche Zusage stillsteht'])
    await inWidth(page.getByLabel(label))
  await checkScreen(page)
})

test('on a small phone, the table of the members is not wider than the screen', async (t) => {
  const page = await open(t, '/settings/members')
  await inWidth(page.getByRole('button', { name: 'Verlassen' }))
})

test('on a small phone, the counts of Home are far enough from each other', async (t) => {
  const noon = Date.now()
  for (const due of [noon - 3 * 86_400_000, noon])
    await web.create('/activities', { subject: 'Anrufen', due_at: new Date(due).toISOString() })
  const page = await open(t, '/')
  await page.getByRole('link', { name: /überfällig/ }).waitFor()
  await page.getByRole('link', { name: /^\d+ heute$/ }).waitFor()
  await checkScreen(page)
})

test('on a small phone, the switch of the activities scrolls to its last choice', async (t) => {
  const due_at = '2026-01-01T09:00:00.000Z'
  const items = Array.from({ length: 150 }, () => ({ op: 'create', data: { subject: 'Anrufen', due_at } }))
  const { status } = await web.rapport.call('POST', '/api/v1/activities/batch', { items })
  assert.equal(status, 200)
  const page = await open(t, '/activities')
  const choices = page.getByRole('radiogroup').first()
  const last = choices.locator('label').last()
  await page.locator('.activity-overdue').getByText(/\d/).waitFor()
  await choices.hover()
  await page.mouse.wheel(300, 0)
  await untilEqual(async () => {
    const [all, one] = [await choices.boundingBox(), await last.boundingBox()]
    return all && one && one.x + one.width <= all.x + all.width + 1
  }, true)
})

test('a comma of a keyboard that gives no keys ends a tag', async (t) => {
  const page = await open(t, '/contacts')
  await page.getByRole('button', { name: 'Kontakt anlegen' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Vorname').fill('Zoë')
  await dialog.getByLabel('Nachname').fill('Berg')
  await dialog.getByRole('combobox', { name: 'Schlagwörter' }).fill('Messe, VIP,')
  await dialog.getByRole('button', { name: 'Kontakt anlegen' }).click()
  await page.getByRole('article').getByRole('heading', { name: 'Zoë Berg' }).waitFor()
  const [{ id }] = await web.read('/contacts?search=Zoë')
  assert.deepEqual((await web.read(`/contacts/${id}`)).tags, ['Messe', 'VIP'])
  await visit(page, `/contacts/${id}`)
  await page.getByRole('button', { name: 'Angaben' }).click()
  await page.getByLabel('Schlagwort hinzufügen').fill('Newsletter, Messe,')
  await page.keyboard.press('Tab')
  await untilEqual(async () => (await web.read(`/contacts/${id}`)).tags, ['Messe', 'VIP', 'Newsletter'])
})

test('a comma of a keyboard that gives no keys ends an answer of a question', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'asking',
    title: 'Fragen',
    time_zone: 'Europe/Berlin',
    questions: [{ key: 'size', label: 'Welche Größe?', type: 'select', required: true, options: ['S'] }],
  })
  const page = await open(t, `/booking-pages/${id}`)
  await page.getByRole('combobox', { name: 'Antworten zur Auswahl' }).fill('M, L')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Änderungen speichern' }).click()
  await page.getByText('Buchungsseite gespeichert').waitFor()
  assert.deepEqual((await web.read(`/booking-pages/${id}`)).questions[0].options, ['S', 'M', 'L'])
})

test('the company of a contact can be read in the choice that is marked', async (t) => {
  const company_id = await web.create('/companies', { name: 'Glashütte' })
  await web.create('/contacts', { first_name: 'Ines', last_name: 'Kessel', company_id })
  const page = await open(t, '/activities?create=1')
  await page.getByRole('dialog').getByLabel('Kontakt').fill('Ines')
  await page.locator('[data-combobox-selected]', { hasText: 'Glashütte' }).waitFor()
  await checkScreen(page)
})

test('on a small phone, the account of a check scrolls by keys, and has the words of the records', async (t) => {
  const page = await open(t, '/settings/imports/new?resource=contacts')
  const csv = `First Name,Last Name,Email,Contact owner\nAna,Ruiz,ana(at)acme.example,\nZoë,Day,zoe@acme.example,`
  const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.locator('input[type=file]').setInputFiles(file)
  const owner = page.getByRole('combobox', { name: 'Contact owner wird zu' })
  await untilEqual(() => owner.inputValue(), 'Zuständig, nach Name oder E-Mail')
  await page.getByRole('button', { name: 'Prüfen, ohne zu schreiben' }).click()
  await page.getByRole('table', { name: 'Was aus den Werten würde' }).waitFor()
  await checkScreen(page)
})

test('on a small phone, the button of a delivery is not between the lines of a link', async (t) => {
  const { call } = web.rapport
  const receiver = await useFor(t, startReceiver())
  const name = 'Buchhaltung und Warenwirtschaft (SAP Business One)'
  const { id } = await register(call, { name, url: receiver.url, events: ['company.created'] })
  await company(call)
  const delivery = await onlyDelivery(call, id)
  const page = await open(t, `/settings/deliveries/${delivery.id}`)
  await page.getByRole('button', { name: 'company.created erklären' }).waitFor()
  await checkScreen(page)
})

test('on a small phone, a message covers no action on the selected rows', async (t) => {
  await web.create('/contacts', { first_name: 'Uwe', last_name: 'Abel' })
  await web.create('/contacts', { first_name: 'Ute', last_name: 'Abel' })
  const page = await web.open(t, '/contacts?search=Abel', {
    session: german,
    locale: 'de-DE',
    viewport,
    reusable: false,
  })
  await keepToasts(page)
  const action = page.getByRole('button', { name: 'Löschen', exact: true })
  await page.getByRole('checkbox', { name: 'Uwe Abel auswählen' }).check()
  await action.click()
  await page.getByText('1 Kontakt gelöscht').waitFor()
  await page.getByRole('checkbox', { name: 'Ute Abel auswählen' }).check()
  await action.click({ trial: true, timeout: 10_000 })
})
