// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { checkScreen, phone, pressTogether, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const idOf = async (email: string): Promise<string> => {
  const { body } = await web.rapport.call('GET', '/api/v1/members')
  return body.data.find((one: { email: string }) => one.email === email).id
}
const unreadOf = async (cookie: string): Promise<number> => {
  const answer = await fetch(`${web.rapport.url}/api/v1/notifications`, { headers: { cookie } })
  return ((await answer.json()) as { meta: { unread: number } }).meta.unread
}
/** A person of their own, whom a test notifies. */
let joined = 0
async function newMember(more: object = {}) {
  const email = `gerda${++joined}@example.test`
  const session = await joinAs(web.rapport, email, 'admin', { language: 'en', ...more })
  return { id: await idOf(email), session, cookie: session.split(';')[0] as string }
}
const bell = (page: Page, unread: number, title = 'Notifications') =>
  page.getByRole('link', { name: unread ? `${title}, ${unread} unread` : title, exact: true })
const row = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text })

test('the bell counts what arrives without a reload, and shows no number without any', async (t) => {
  const { id, session } = await newMember()
  const page = await web.open(t, '/contacts', { session })
  await bell(page, 0).waitFor()
  await untilEqual(() => bell(page, 0).locator('[data-count]').count(), 0)
  const title = await page.title()
  await web.create('/deals', { name: 'Relaunch 2027', owner_id: id })
  await bell(page, 1).waitFor()
  await web.create('/contacts', { first_name: 'Zoë', last_name: "O'Brien-Łukasiewicz", owner_id: id })
  await bell(page, 2).waitFor()
  await untilEqual(() => bell(page, 2).locator('[data-count]').getAttribute('data-count'), '2')
  assert.equal(await page.title(), title)
  await page.getByRole('button', { name: 'Collapse the navigation' }).click()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Expand the navigation' }).click()
})

test('the list tells by day what happened, links to the record, and keeps what was opened as read', async (t) => {
  const { id, session, cookie } = await newMember()
  const page = await web.open(t, '/', { session })
  await bell(page, 0).waitFor()
  await pressTogether(page, 'g', 'n')
  await page.getByText('Nothing new.').waitFor()
  await checkScreen(page)

  const deal = await web.create('/deals', { name: 'Relaunch 2027', owner_id: id })
  const trashed = await web.create('/companies', { name: 'Größe & Söhne GmbH', owner_id: id })
  await web.rapport.call('DELETE', `/api/v1/companies/${trashed}`)
  const items = Array.from({ length: 400 }, (_, n) => ({
    op: 'create',
    data: { first_name: 'Ana', last_name: `Ruiz ${n}`, owner_id: id },
  }))
  assert.equal((await web.rapport.call('POST', '/api/v1/contacts/batch', { items })).status, 200)
  const today = page.getByRole('region', { name: 'Today' })
  await today.getByText('First key assigned 400 contacts to you').waitFor()
  await today.getByText('First key assigned a deleted record to you · Company').waitFor()
  await today.getByText('First key assigned Relaunch 2027 to you · Deal').waitFor()
  await bell(page, 3).waitFor()
  await checkScreen(page)

  await today.getByRole('link', { name: 'Relaunch 2027' }).press('Enter')
  await page.getByRole('heading', { name: 'Relaunch 2027' }).waitFor()
  assert.equal(new URL(page.url()).pathname, `/deals/${deal}`)
  await bell(page, 2).waitFor()
  await page.goBack()
  await row(page, 'Relaunch 2027').waitFor()
  await row(page, 'Relaunch 2027').getByText('Unread:').waitFor({ state: 'detached' })

  await row(page, 'a deleted record').getByRole('button', { name: 'Mark as read: a deleted record' }).click()
  await bell(page, 1).waitFor()
  await today.getByRole('link', { name: '400 contacts' }).click()
  await page
    .getByRole('row', { name: /Ana Ruiz/ })
    .first()
    .waitFor()
  assert.equal(new URL(page.url()).search, '?owner_id=me')
  await bell(page, 0).waitFor()
  assert.equal(await unreadOf(cookie), 0)
})

test('all are marked as read at once, in every tab of the person', async (t) => {
  const { id, session, cookie } = await newMember()
  for (const subject of ['Call back', 'Send the offer'])
    await web.create('/activities', { subject, owner_id: id })
  const page = await web.open(t, '/notifications', { session })
  const other = await page.context().newPage()
  await other.goto(`${web.rapport.url}/deals`)
  await bell(other, 2).waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await bell(page, 0).waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' })
  await bell(other, 0).waitFor()
  assert.equal(await unreadOf(cookie), 0)
  await other.close()
})

test('the filter shows the unread ones, which the address keeps, and the list goes by the keyboard', async (t) => {
  const { id, session } = await newMember()
  for (const name of ['Renewal', 'Relaunch', 'Migration']) await web.create('/deals', { name, owner_id: id })
  const page = await web.open(t, '/notifications', { session })
  await row(page, 'Migration').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await untilEqual(() => page.locator(':focus').innerText(), 'Relaunch')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await bell(page, 2).waitFor()
  // The focus goes back to the link of the row.
  await page.locator('a:focus', { hasText: 'Relaunch' }).waitFor()
  await page.getByText('Unread', { exact: true }).click()
  await row(page, 'Relaunch').waitFor({ state: 'detached' })
  await row(page, 'Migration').waitFor()
  assert.equal(new URL(page.url()).search, '?unread=true')
  // Here a row that was read leaves, and the next one gets the focus.
  await page.getByRole('button', { name: 'Mark as read: Migration' }).press('Enter')
  await row(page, 'Migration').waitFor({ state: 'detached' })
  await page.locator('a:focus', { hasText: 'Renewal' }).waitFor()
  await page.reload()
  await row(page, 'Renewal').waitFor()
  await untilEqual(() => row(page, 'Relaunch').count(), 0)
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByText('You have read all notifications.').waitFor()
  await page.getByRole('radiogroup').getByText('All', { exact: true }).click()
  await row(page, 'Relaunch').waitFor()
})

test('@ in a note offers the members by the keyboard, and the one who is chosen finds the note', async (t) => {
  const author = await newMember({ name: 'Quentin Özil' })
  await newMember({ name: 'Quirin Vogel' })
  const marta = await newMember({ name: 'Marta Łukasiewicz' })
  const contact = await web.create('/contacts', { first_name: 'Zoë', last_name: "O'Brien" })
  const page = await web.open(t, `/contacts/${contact}`, { session: author.session })
  await page.getByRole('heading', { name: "Zoë O'Brien" }).waitFor()
  await page.keyboard.press('n')
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.pressSequentially('Mail to zoe@')
  const list = page.getByRole('listbox', { name: 'Members to mention' })
  await untilEqual(() => list.count(), 0)
  await note.pressSequentially('acme.example, ask @')
  await list.waitFor()
  await checkScreen(page)
  await note.pressSequentially('qu')
  const chosen = (name: RegExp) => list.getByRole('option', { name, selected: true })
  await chosen(/Quirin Vogel/).waitFor()
  await untilEqual(() => list.getByRole('option').count(), 2)
  await page.keyboard.press('ArrowDown')
  await chosen(/Quentin Özil/).waitFor()
  await page.keyboard.press('ArrowDown')
  await chosen(/Quirin Vogel/).waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  // It stays closed for this sign, and the text stays, too.
  await note.pressSequentially('i')
  await untilEqual(() => note.inputValue(), 'Mail to zoe@acme.example, ask @qui')
  await untilEqual(() => list.count(), 0)
  for (let n = 0; n < 4; n++) await page.keyboard.press('Backspace')
  await note.pressSequentially('@łuk')
  await chosen(/Marta Łukasiewicz/).waitFor()
  await page.keyboard.press('Enter')
  await list.waitFor({ state: 'detached' })
  await note.pressSequentially('about the offer')
  const body = 'Mail to zoe@acme.example, ask @Marta Łukasiewicz about the offer'
  await untilEqual(() => note.inputValue(), body)
  await page.keyboard.press('Control+Enter')
  await page.getByRole('list', { name: 'Notes' }).getByText(body).waitFor()
  await untilEqual(() => page.locator('.mention').allInnerTexts(), ['@Marta Łukasiewicz'])
  await checkScreen(page)

  const other = await web.open(t, '/notifications', { session: marta.session })
  await bell(other, 1).waitFor()
  await row(other, "Quentin Özil mentioned you in a note on Zoë O'Brien").getByRole('link').click()
  await other.locator('.note-text:focus').getByText(body).waitFor()
  await bell(other, 0).waitFor()
  await checkScreen(other)
})

test('the palette goes there, and older ones are read page by page', async (t) => {
  const { id, session } = await newMember()
  for (let n = 0; n < 30; n++) await web.create('/deals', { name: `Deal ${n}`, owner_id: id })
  const page = await web.open(t, '/', { session })
  await bell(page, 30).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('notific')
  await page
    .getByRole('option', { name: /Notifications/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Notifications' }).waitFor()
  await row(page, 'Deal 29 ').waitFor()
  await untilEqual(() => page.getByRole('main').getByRole('listitem').count(), 25)
  await page.getByRole('button', { name: 'Show older notifications' }).click()
  await row(page, 'Deal 0 ').waitFor()
})

test('on a phone, the menu has a mark and the number, and the list fits', async (t) => {
  const { id, session } = await newMember()
  await web.create('/deals', {
    name: 'Relaunch of the shop for Größe & Söhne, Niederlassung Süd',
    owner_id: id,
  })
  const page = await web.open(t, '/', { session, ...phone })
  const more = page.getByRole('button', { name: 'More Notifications, 1 unread' })
  await more.waitFor()
  await checkScreen(page)
  await more.click()
  await page.getByRole('menuitem', { name: 'Notifications, 1 unread' }).click()
  await page.getByRole('heading', { name: 'Notifications' }).waitFor()
  await row(page, 'Relaunch of the shop').waitFor()
  await checkScreen(page)
})

test('it speaks German, also of a webhook that fails and of an import', async (t) => {
  const { id, session, cookie } = await newMember({ language: 'de' })
  await web.create('/deals', { name: 'Relaunch 2027', owner_id: id })
  const file = 'first_name,last_name\nAna,Ruiz\n'
  const imported = await fetch(
    `${web.rapport.url}/api/v1/imports?resource=contacts&file_name=Messe%202026.csv`,
    { method: 'POST', headers: { cookie, 'content-type': 'text/csv' }, body: file },
  )
  assert.equal(imported.status, 202)
  await web.create('/webhooks', {
    name: 'Abrechnung',
    url: 'http://127.0.0.1:9/hook',
    events: ['company.created'],
    retry_delays: [],
  })
  await web.create('/companies', { name: 'Acme' })
  await until(() => unreadOf(cookie), 3)
  const page = await web.open(t, '/notifications', { session })
  await bell(page, 0, 'Mitteilungen, 3 ungelesen').waitFor()
  const today = page.getByRole('region', { name: 'Heute' })
  await today.getByText('First key hat Ihnen Relaunch 2027 zugewiesen · Deal').waitFor()
  await today.getByText('Ihr Import Messe 2026.csv ist beendet').waitFor()
  await today.getByText('Zustellungen an den Webhook Abrechnung schlagen fehl').waitFor()
  await checkScreen(page)
  await today.getByRole('link', { name: 'Abrechnung' }).click()
  await page.getByRole('heading', { name: 'Abrechnung' }).waitFor()
  await bell(page, 0, 'Mitteilungen, 2 ungelesen').waitFor()
})
