// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, untilEqual, useWeb } from '../web.ts'

const web = useWeb()
const deal = (fields: object = {}) => web.create('/deals', { name: 'Forty seats for Lübeck', ...fields })

const notesOf = (page: Page) => page.getByRole('list', { name: 'Notes' })
const editor = (page: Page) => page.getByRole('textbox', { name: 'Write a note' })

test('of two who edit one note, the later sees the text of the other before it is replaced', async (t) => {
  const id = await deal()
  const note_id = await web.create(`/deals/${id}/notes`, { body: 'Prefers calls' })
  const page = await web.open(t, `/deals/${id}?tab=notes`)
  // No hint of the change comes: only the service knows the other text.
  const stale = await web.open(t, `/deals/${id}?tab=notes`, { reusable: false, load: true })
  await stale.route('**/events/stream*', () => {})
  await stale.reload()
  for (const one of [page, stale]) {
    await one.getByRole('button', { name: 'Edit the note' }).click()
    await one.keyboard.press('End')
    await one.keyboard.type(' in the morning')
  }
  const body = 'Prefers calls, never on Mondays'
  await web.rapport.call('PUT', `/api/v1/deals/${id}/notes/${note_id}`, { body })
  await page.getByRole('status').filter({ hasText: body }).waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Keep theirs' }).click()
  await notesOf(page).getByText(body).waitFor()

  await stale.keyboard.press('Control+Enter')
  await stale
    .getByRole('status')
    .filter({ hasText: /First key changed this .+ Nothing of yours is stored yet/ })
    .waitFor()
  assert.equal((await web.read(`/deals/${id}/notes/${note_id}`)).body, body)
  await stale.getByRole('button', { name: 'Use mine' }).click()
  await notesOf(stale).getByText('Prefers calls in the morning').waitFor()
})

test('an edit that waited as a draft shows a text that somebody stored meanwhile, before it is replaced', async (t) => {
  const id = await deal()
  const path = `/deals/${id}/notes/${await web.create(`/deals/${id}/notes`, { body: 'Prefers calls' })}`
  const page = await web.open(t, `/deals/${id}?tab=notes`)
  await page.getByRole('button', { name: 'Edit the note' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type(' in the morning')
  await page.getByRole('link', { name: 'Companies', exact: true }).click()
  await page.getByRole('heading', { name: 'Companies' }).waitFor()
  const body = 'Prefers calls, never on Mondays'
  await web.rapport.call('PUT', `/api/v1${path}`, { body })
  await page.goto(`${web.rapport.url}/deals/${id}?tab=notes`)
  const note = notesOf(page).getByRole('textbox', { name: 'Edit the note' })
  await untilEqual(() => note.inputValue(), 'Prefers calls in the morning')
  await page.getByRole('status').filter({ hasText: body }).waitFor()
  await page.getByRole('button', { name: 'Use mine' }).click()
  // The field itself has this text, too, until the save ends.
  await untilEqual(async () => (await web.read(path)).body, 'Prefers calls in the morning')
  await note.waitFor({ state: 'detached' })
})

for (const [when, method] of [
  ['before the save reads it', 'GET'],
  ['while the save is under way', 'PUT'],
] as const)
  test(`an edit whose note somebody changes ${when} is told on another page`, async (t) => {
    const id = await deal()
    const path = `/deals/${id}/notes/${await web.create(`/deals/${id}/notes`, { body: 'Prefers calls' })}`
    const page = await web.open(t, `/deals/${id}?tab=notes`, { allow: /status of 412/ })
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    await page.route(`**/api/v1${path}`, async (route) => {
      if (route.request().method() === method) await left
      await route.fallback()
    })
    await page.getByRole('button', { name: 'Edit the note' }).click()
    await page.keyboard.press('End')
    await page.keyboard.type(' in the morning')
    const sent = page.waitForRequest((one) => one.method() === method && one.url().endsWith(path))
    await page.keyboard.press('Control+Enter')
    await sent
    await page.getByRole('link', { name: 'Companies', exact: true }).click()
    await page.getByRole('heading', { name: 'Companies' }).waitFor()
    const body = 'Prefers calls, never on Mondays'
    await web.rapport.call('PUT', `/api/v1${path}`, { body })
    leave()
    await page
      .getByText(/^Note was not saved \(Prefers calls in the morning\): Somebody changed this meanwhile/)
      .waitFor()
    assert.equal((await web.read(path)).body, body)
    await page.goBack()
    await page.getByRole('status').filter({ hasText: body }).waitFor()
  })

test('an edit whose note a new one pushes off the page is not told as gone', async (t) => {
  const id = await deal()
  const path = `/deals/${id}/notes`
  const note_id = await web.create(path, { body: 'Prefers calls' })
  const page = await web.open(t, `/deals/${id}?tab=notes`)
  // The list has only the newest note, as if the notes were long.
  await page.route(`**/api/v1${path}*`, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    const { data, meta } = await response.json()
    await route.fulfill({
      response,
      json: { data: data.slice(0, 1), meta: { ...meta, next_cursor: 'more' } },
    })
  })
  await page.getByRole('button', { name: 'Edit the note' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type(' in the morning')
  const read = page.waitForResponse((response) => response.url().endsWith(`${path}/${note_id}`))
  await web.create(path, { body: 'Decides in May' })
  await notesOf(page).getByText('Decides in May').waitFor()
  const response = await read
  assert.equal(response.status(), 200)
  await response.finished()
  await page.evaluate(
    `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))`,
  )
  assert.equal(await page.getByText(/was not saved/).count(), 0)
  await page.unroute(`**/api/v1${path}*`)
  await page.reload()
  const note = notesOf(page).getByRole('textbox', { name: 'Edit the note' })
  await untilEqual(() => note.inputValue(), 'Prefers calls in the morning')
})

test('who edits a note that somebody else deletes is told the text, and finds it if the note is restored', async (t) => {
  const id = await deal()
  const path = `/deals/${id}/notes/${await web.create(`/deals/${id}/notes`, { body: 'Prefers calls' })}`
  // The note is read, to know that it is gone.
  const page = await web.open(t, `/deals/${id}?tab=notes`, { allow: /status of 404/ })
  await page.getByRole('button', { name: 'Edit the note' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type(' in the morning')
  await web.rapport.call('DELETE', `/api/v1${path}`)
  await page.getByText(/^Note was not saved \(Prefers calls in the morning\): This is gone/).waitFor()
  await web.rapport.call('POST', `/api/v1${path}/restore`, {})
  await notesOf(page).getByRole('textbox', { name: 'Edit the note' }).waitFor()
  await untilEqual(() => notesOf(page).getByRole('textbox').inputValue(), 'Prefers calls in the morning')
})

test('a note that could not be saved is told also on another page, and waits as a draft', async (t) => {
  const id = await deal()
  const page = await web.open(t, `/deals/${id}?tab=notes`, { allow: /ERR_FAILED/ })
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  await page.route(`**/api/v1/deals/${id}/notes`, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await left
    await route.abort()
  })
  await editor(page).fill('Signs on Friday')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('link', { name: 'Companies', exact: true }).click()
  await page.getByRole('heading', { name: 'Companies' }).waitFor()
  leave()
  await page.getByText(/^Note was not saved \(Signs on Friday\):/).waitFor()
  await page.goBack()
  await untilEqual(() => editor(page).inputValue(), 'Signs on Friday')
})
