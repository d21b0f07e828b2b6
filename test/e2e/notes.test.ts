// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, phone, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()
let reader: string
let german: string
before(async () => {
  reader = await joinAs(web.rapport, 'rita@example.test', 'read_only', { language: 'en' })
  german = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
})

const company = () => web.create('/companies', { name: 'Lumen Optics GmbH' })
const deal = (fields: object = {}) => web.create('/deals', { name: 'Forty seats for Lübeck', ...fields })

const notesOf = (page: Page) => page.getByRole('list', { name: 'Notes' })
const editor = (page: Page) => page.getByRole('textbox', { name: 'Write a note' })

for (const [kind, make] of Object.entries({ companies: company, deals: deal }))
  test(`a note on one of the ${kind} takes one keystroke, can be changed, and comes back after it was deleted`, async (t) => {
    const path = `/${kind}/${await make()}`
    const page = await web.open(t, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('n')
    await page.keyboard.type('Closed in August')
    await page.keyboard.press('Control+Enter')
    const notes = notesOf(page)
    await notes.getByText('Closed in August').waitFor()
    await notes.getByText(/ago by you$|now by you$/).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('tab'), 'notes')
    await page.getByRole('button', { name: 'Edit the note' }).click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Closed in July and August')
    await page.keyboard.press('Control+Enter')
    await notes.getByText(/· edited .+ by you$/).waitFor()
    await checkScreen(page)
    await page.getByRole('button', { name: 'Delete the note' }).click()
    await notes.getByText('Closed in July and August').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await notes.getByText('Closed in July and August').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    const entry = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
    const written = entry.filter({ hasText: 'Closed in July and August' })
    await written.getByText(/^Note by you/).waitFor()
  })

test('an unsaved note belongs to its record alone, although a company, a deal and a contact have one id', async (t) => {
  const ids = {
    companies: await company(),
    deals: await deal(),
    contacts: await web.create('/contacts', { first_name: 'Ana', last_name: 'Ruiz' }),
  }
  const page = await web.open(t, `/companies/${ids.companies}?tab=notes`)
  await editor(page).fill('Half a thought')
  for (const kind of ['deals', 'contacts'] as const) {
    const highest = Math.max(...Object.values(ids))
    while (ids[kind] < highest && ids[kind] < ids.companies)
      ids[kind] =
        kind === 'deals'
          ? await deal()
          : await web.create('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
    await visit(page, `/${kind}/${ids[kind]}?tab=notes`)
    await editor(page).waitFor()
    await untilEqual(() => editor(page).inputValue(), '')
  }
  await visit(page, `/companies/${ids.companies}?tab=notes`)
  await editor(page).waitFor()
  await untilEqual(() => editor(page).inputValue(), 'Half a thought')
})

for (const by of ['mouse', 'keyboard'])
  test(`the earlier texts of a note are shown with their authors and what changed, by ${by}`, async (t) => {
    const id = await company()
    const path = `/companies/${id}/notes`
    const note_id = await web.create(path, { body: 'Closed in August. Orders go through Ms. Ruiz.' })
    const page = await web.open(t, `/companies/${id}?tab=notes`)
    const edited = page.getByRole('button', { name: /^edited/ })
    await notesOf(page).getByText('Closed in August').waitFor()
    await untilEqual(() => edited.count(), 0)
    for (const body of [
      'Closed in July and August. Orders go through Ms. Ruiz.',
      'Closed in July and August.',
    ]) {
      const changed = await web.rapport.call('PUT', `/api/v1${path}/${note_id}`, { body })
      assert.equal(changed.status, 200)
    }
    await edited.waitFor()
    if (by === 'mouse') await edited.click()
    else {
      await edited.focus()
      await page.keyboard.press('Enter')
    }
    const dialog = page.getByRole('dialog', { name: 'Texts of this note' })
    const versions = dialog.getByRole('listitem')
    await versions.nth(2).waitFor()
    const parts = (nth: number, tag: string) => versions.nth(nth).locator(tag).allTextContents()
    assert.deepEqual([await parts(0, 'ins'), await parts(0, 'del')], [[], [' Orders go through Ms. Ruiz.']])
    assert.deepEqual([await parts(1, 'ins'), await parts(1, 'del')], [['July and '], []])
    assert.deepEqual([await parts(2, 'ins'), await parts(2, 'del')], [[], []])
    await versions
      .nth(0)
      .getByText(/^Now · .+ by First key$/)
      .waitFor()
    await checkScreen(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.note-edited:focus').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    const entry = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
    await entry.getByRole('button', { name: /^edited .+ by/ }).click()
    await versions.nth(2).waitFor()
  })

test('the timeline of a company has the notes on its deals', async (t) => {
  const company_id = await company()
  const id = await deal({ company_id })
  await web.create(`/deals/${id}/notes`, { body: 'Decides in May' })
  const page = await web.open(t, `/companies/${company_id}`)
  await page.getByRole('list', { name: 'Timeline' }).getByText('Decides in May').waitFor()
})

test('a note on a deal that somebody else writes or deletes is seen within a moment', async (t) => {
  const id = await deal()
  const page = await web.open(t, `/deals/${id}?tab=notes`)
  await page.getByText('No notes yet. Press n to write the first one.').waitFor()
  const note_id = await web.create(`/deals/${id}/notes`, { body: 'Prefers calls' })
  await notesOf(page).getByText('Prefers calls').waitFor()
  await web.rapport.call('DELETE', `/api/v1/deals/${id}/notes/${note_id}`)
  await notesOf(page).getByText('Prefers calls').waitFor({ state: 'detached' })
})

test('a deleted note of a company is found in the trash, leads to its company, and is restored there', async (t) => {
  const id = await company()
  const note_id = await web.create(`/companies/${id}/notes`, { body: 'Orders go through Ms. Ruiz' })
  await web.rapport.call('DELETE', `/api/v1/companies/${id}/notes/${note_id}`)
  const page = await web.open(t, '/trash?kind=company_notes')
  const row = page.getByRole('row', { name: /Orders go through Ms\. Ruiz/ })
  await row.getByText('Note on a company').waitFor()
  const link = row.getByRole('link', { name: 'Open the company of this note' })
  await untilEqual(() => link.getAttribute('href'), `/companies/${id}`)
  await row.getByRole('button', { name: 'Restore' }).click()
  await row.waitFor({ state: 'detached' })
  await visit(page, `/audit-log?kind=company_notes&record_id=${note_id}`)
  const restored = page.getByRole('listitem').filter({ hasText: 'restored' })
  const noted = restored.getByRole('link', { name: `note on a company ${note_id}` })
  await untilEqual(() => noted.getAttribute('href'), `/companies/${id}?tab=notes`)
  await visit(page, `/companies/${id}?tab=notes`)
  await notesOf(page).getByText('Orders go through Ms. Ruiz').waitFor()
})

test('@ in the box that logs a call offers the members, and the one who is chosen finds the activity', async (t) => {
  const id = await company()
  const session = await joinAs(web.rapport, 'marta@example.test', 'member', {
    name: 'Marta Łukasiewicz',
    language: 'en',
  })
  const page = await web.open(t, `/companies/${id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('l')
  const dialog = page.getByRole('dialog', { name: /^Log a call or meeting/ })
  const text = dialog.getByLabel('Note')
  await text.pressSequentially('Asked for @')
  const list = page.getByRole('listbox', { name: 'Members to mention' })
  await list.waitFor()
  await checkScreen(page)
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await text.press('Backspace')
  await text.pressSequentially('@')
  await list.getByRole('option', { name: /Marta/ }).click()
  await untilEqual(() => text.inputValue(), 'Asked for @Marta Łukasiewicz ')
  await dialog.getByRole('button', { name: 'Log', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })

  const other = await web.open(t, '/notifications', { session })
  const sentence = other
    .getByRole('listitem')
    .filter({ hasText: /mentioned you in Call with Lumen Optics GmbH/ })
  await sentence.getByRole('link').click()
  await other.getByRole('heading', { level: 1, name: 'Call with Lumen Optics GmbH' }).waitFor()
  await other.getByRole('tab', { name: 'Details' }).click()
  await other.locator('.mention[data-own]').getByText('@Marta Łukasiewicz').waitFor()
  // In place, by the keyboard.
  await other.getByRole('button', { name: 'Description: Edit' }).press('Enter')
  const description = other.getByRole('textbox', { name: 'Description' })
  await description.press('End')
  await description.pressSequentially(' and @mar')
  await other.getByRole('option', { name: /Marta/, selected: true }).waitFor()
  await description.press('Tab')
  assert.equal(await description.inputValue(), 'Asked for @Marta Łukasiewicz and @Marta Łukasiewicz ')
  await description.press('Control+Enter')
  await other.locator('.mention[data-own]').nth(1).waitFor()
})

test('the mention of a member who took another name still stands out, and tells the present name', async (t) => {
  const id = await company()
  const session = await joinAs(web.rapport, 'vera@example.test', 'member', { name: 'Vera Stone' })
  await web.create(`/companies/${id}/notes`, { body: 'Ask @Vera Stone.' })
  const renamed = await fetch(`${web.rapport.url}/api/v1/profile`, {
    method: 'PUT',
    headers: {
      cookie: String(session.split(';')[0]),
      'content-type': 'application/json',
      origin: web.rapport.url,
    },
    body: JSON.stringify({ name: 'Vera Lindqvist' }),
  })
  assert.equal(renamed.status, 200, await renamed.text())
  const page = await web.open(t, `/companies/${id}?tab=notes`)
  const mention = notesOf(page).locator('.mention').getByText('@Vera Stone')
  await mention.waitFor()
  await untilEqual(() => mention.getAttribute('title'), 'Vera Lindqvist')
})

test('who may not write companies and deals reads their notes, without an editor', async (t) => {
  const id = await deal()
  await web.create(`/deals/${id}/notes`, { body: 'Decides in May' })
  const page = await web.open(t, `/deals/${id}?tab=notes`, { session: reader })
  await notesOf(page).getByText('Decides in May').waitFor()
  await untilEqual(() => editor(page).count(), 0)
  await untilEqual(() => page.getByRole('button', { name: 'Edit the note' }).count(), 0)
})

test('on a phone, a link to the notes shows the notes, not the facts above them', async (t) => {
  const id = await deal()
  const page = await web.open(t, `/deals/${id}?tab=notes`, phone)
  await page.getByText('No notes yet. Press n to write the first one.').waitFor()
  const top = () =>
    page
      .getByRole('tablist')
      .boundingBox()
      .then((box) => box?.y ?? Number.NaN)
  assert.ok((await top()) < 100, `the tabs begin at ${await top()}`)
  await checkScreen(page)
})

test('the notes on a deal speak German', async (t) => {
  const id = await deal()
  const note_id = await web.create(`/deals/${id}/notes`, { body: 'Entscheidet im März' })
  await web.rapport.call('PUT', `/api/v1/deals/${id}/notes/${note_id}`, { body: 'Entscheidet im Mai' })
  const page = await web.open(t, `/deals/${id}?tab=notes`, { session: german, locale: 'de-DE' })
  await page.getByRole('list', { name: 'Notizen' }).getByText('Entscheidet im Mai').waitFor()
  await page.getByRole('textbox', { name: 'Notiz schreiben' }).waitFor()
  await page.getByRole('button', { name: /^bearbeitet .+ von First key$/ }).click()
  const texts = page.getByRole('dialog', { name: 'Texte dieser Notiz' })
  await texts.getByText(/^Jetzt · .+ von First key$/).waitFor()
  await texts.getByRole('button', { name: 'Schließen' }).click()
  await texts.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Notiz löschen' }).click()
  await visit(page, '/trash?kind=deal_notes')
  await page
    .getByRole('row', { name: /Entscheidet im Mai/ })
    .getByText('Notiz zu einem Deal')
    .waitFor()
})

for (const [way, by_style] of [
  ['by its style', true],
  ['in browsers that have to measure it', false],
] as const)
  test(`the box of a note grows with its text, up to 16 lines, ${way}`, async (t) => {
    const id = await web.create('/contacts', { first_name: 'Gisela', last_name: 'Grünewald' })
    const page = await web.open(t, null, { reusable: false })
    if (!by_style) await page.addInitScript(() => ((globalThis as any).CSS.supports = () => false))
    await page.goto(`${web.rapport.url}/contacts/${id}?tab=notes`)
    const note = page.getByRole('textbox', { name: 'Write a note' })
    /** Its height, and that of its text. */
    const heights = () => note.evaluate((one: any) => [one.clientHeight, one.scrollHeight] as const)
    await note.waitFor()
    const [empty] = await heights()
    await note.fill('one\n'.repeat(9))
    await untilEqual(async () => {
      const [shown, text] = await heights()
      return shown > 3 * empty && shown >= text
    }, true)
    await note.fill('one\n'.repeat(60))
    await untilEqual(async () => {
      const [shown, text] = await heights()
      return shown > 6 * empty && shown < 9 * empty && shown < text
    }, true)
    await note.fill('')
    await untilEqual(async () => (await heights())[0], empty)
  })
