// runs: once
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { removeScratch } from '../engine.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { freePort } from '../ports.ts'
import { startWeb, type Web } from '../web.ts'
import { until } from '../webhooks.ts'

const dropped = /status of (401|503)|ERR_|Failed to load resource/

let web: Web
let rapport: Rapport
let data_dir: string
let port: number
before(async () => {
  port = await freePort()
  data_dir = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  web = await startWeb({ data_dir, env: { PORT: String(port) } })
  rapport = web.rapport
})
after(async () => {
  await web?.leaveBrowser()
  await rapport?.close()
  await removeScratch(data_dir)
})

const call = (method: string, path: string, body?: object) => web.rapport.call(method, `/api/v1${path}`, body)
const isStream = (request: Request) => new URL(request.url()).pathname === '/api/v1/events/stream'
const due_at = () => new Date(Date.now() - 60_000).toISOString()
const plan = async (subject: string) =>
  (await call('POST', '/activities', { subject, due_at: due_at() })).body.data.id
const ready = (page: Page) => page.getByRole('region', { name: 'Overdue and today' }).waitFor()
// The page reads nothing again each minute, so only the stream can show a change.
const withoutPolls = `
  const { setInterval: real } = window
  window.setInterval = (work, ms) => (ms >= 60_000 ? 0 : real(work, ms))
`
/** A page, when its stream is open. */
async function openPage(t: Parameters<Web['open']>[0], path: string) {
  const page = await web.open(t, null, { allow: dropped, reusable: false })
  await page.addInitScript(withoutPolls)
  const opened = page.waitForResponse((response) => isStream(response.request()))
  await page.goto(web.rapport.url + path)
  await opened
  return page
}
async function openHome(t: Parameters<Web['open']>[0]) {
  const page = await openPage(t, '/')
  await ready(page)
  return page
}

test('the stream does not wait for the page, and what is read when it is open is read once', async (t) => {
  const page = await openHome(t)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  page.on('response', (response) => isStream(response.request()) && open())
  await page.route(/\/assets\/home-page-.*js/, async (route) => {
    await opened
    await route.continue()
  })
  await page.reload()
  await ready(page)
  await call('POST', '/companies', { name: 'Told of' })
  await page.getByRole('link', { name: 'Told of' }).waitFor()
  const read = asked.filter((url) => /\/reports\//.test(url))
  assert.ok(read.length > 1)
  assert.equal(new Set(read).size, read.length, `${read}`)
})

test('a page that opens asks for nothing twice', async (t) => {
  const contact = (await call('POST', '/contacts', { first_name: 'Zoë', last_name: 'Once' })).body.data
  const deal = (await call('POST', '/deals', { name: 'Forty seats', contact_id: contact.id })).body.data
  const lists = ['/', '/contacts', '/companies', '/deals', '/deals?show=list', '/activities', '/calendar']
  const records = [`/contacts/${contact.id}`, `/deals/${deal.id}`]
  const page = await web.open(t, null, { allow: dropped })
  let asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}${search}`)
  })
  /** The requests that a page sends twice while it opens. */
  async function askedTwice(path: string): Promise<string[]> {
    asked = []
    const opened = page.waitForResponse((response) => isStream(response.request()))
    await page.goto(web.rapport.url + path)
    await opened
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForTimeout(500)
    await page.evaluate('localStorage.clear(); sessionStorage.clear()')
    return asked.filter((one, n) => asked.indexOf(one) !== n)
  }
  for (const path of [...lists, ...records, '/reports', '/notifications', '/trash', '/settings/webhooks']) {
    let twice = await askedTwice(path)
    // On a busy machine, the page may not wait until the stream is open.
    for (let tries = 1; twice.length && tries < 5; tries++) twice = await askedTwice(path)
    assert.deepEqual(twice, [], path)
  }
})

test('two browsers see what the other one does', async (t) => {
  await plan('Seen by both')
  const one = await openHome(t)
  const other = await openHome(t)
  for (const page of [one, other]) await page.getByRole('button', { name: 'Complete Seen by both' }).waitFor()
  const started = performance.now()
  await one.getByRole('button', { name: 'Complete Seen by both' }).click()
  await other.getByText('Activity Seen by both was completed').waitFor()
  await other.getByRole('button', { name: 'Complete Seen by both' }).waitFor({ state: 'detached' })
  t.diagnostic(`after ${Math.round(performance.now() - started)} ms`)
  // And back.
  await plan('Answer')
  await one.getByRole('button', { name: 'Complete Answer' }).waitFor()
  await other.getByRole('button', { name: 'Complete Answer' }).click()
  await one.getByRole('button', { name: 'Complete Answer' }).waitFor({ state: 'detached' })
})

test('many tabs share one stream, and when its tab is closed another one goes on', async (t) => {
  const first = await openHome(t)
  const streams: string[] = []
  const context = first.context()
  context.on('request', (request) => isStream(request) && streams.push(request.url()))
  const tabs = [await context.newPage(), await context.newPage()]
  for (const tab of tabs) {
    await tab.goto(`${web.rapport.url}/`)
    await ready(tab)
  }
  await plan('Told to all tabs')
  for (const tab of [first, ...tabs])
    await tab.getByRole('button', { name: 'Complete Told to all tabs' }).waitFor()
  assert.deepEqual(streams, [])

  // While no client listens, and after.
  const taken_over = context.waitForEvent('request', { predicate: isStream })
  await Promise.all([first.close(), plan('Made in between')])
  await taken_over
  for (const tab of tabs) await tab.getByRole('button', { name: 'Complete Made in between' }).waitFor()
  await plan('Told by another tab')
  for (const tab of tabs) await tab.getByRole('button', { name: 'Complete Told by another tab' }).waitFor()
  assert.equal(streams.length, 1)
})

test('what has no event is seen elsewhere, too: notes, changed activities, deleted appointments', async (t) => {
  const { id } = (await call('POST', '/contacts', { first_name: 'Nora', last_name: 'Note' })).body.data
  const activity = await plan('Call about the offer')
  const start = Date.now() + 3_600_000
  const [start_at, end_at] = [start, start + 3_600_000].map((ms) => new Date(ms).toISOString())
  const meeting = await call('POST', '/appointments', { title: 'Signing', start_at, end_at })
  const home = await openHome(t)
  const contact = await openPage(t, `/contacts/${id}?tab=notes`)

  const note = contact.getByRole('list', { name: 'Notes' }).getByText('Prefers calls')
  await contact.getByRole('textbox', { name: 'Write a note' }).waitFor()
  const made = (await call('POST', `/contacts/${id}/notes`, { body: 'Prefers calls' })).body.data
  await note.waitFor()
  await call('DELETE', `/contacts/${id}/notes/${made.id}`)
  await note.waitFor({ state: 'detached' })

  await home.getByRole('button', { name: 'Complete Call about the offer' }).waitFor()
  await call('PUT', `/activities/${activity}`, { subject: 'Call about the contract' })
  await home.getByRole('button', { name: 'Complete Call about the contract' }).waitFor()

  const link = home.getByRole('region', { name: 'Next appointments' }).getByRole('link', { name: 'Signing' })
  await link.waitFor()
  await call('DELETE', `/appointments/${meeting.body.data.id}`)
  await link.waitFor({ state: 'detached' })
})

const isContacts = (request: Request) =>
  request.method() === 'GET' && new URL(request.url()).pathname === '/api/v1/contacts'

test('a list that is being read is not read anew for each change: its answer comes, and then a newer one', async (t) => {
  const contact = (last_name: string) => call('POST', '/contacts', { first_name: 'Zoë', last_name })
  await contact('Before')
  const page = await openPage(t, '/contacts')
  await page.getByRole('row', { name: /Zoë Before/ }).waitFor()
  const held: (() => Promise<void>)[] = []
  await page.route('**/api/v1/contacts?*', (route) => {
    if (isContacts(route.request())) held.push(() => route.continue())
    else route.continue()
  })
  await contact('First')
  await until(async () => held.length, 1)
  // Changes come faster than the answer on a slow line.
  for (const name of ['Second', 'Third', 'Fourth']) {
    await contact(name)
    await page.waitForTimeout(400)
  }
  assert.equal(held.length, 1)
  await held[0]?.()
  await page.getByRole('row', { name: /Zoë Fourth/ }).waitFor()
  await until(async () => held.length, 2)
  await contact('Last')
  await held[1]?.()
  await page.getByRole('row', { name: /Zoë Last/ }).waitFor()
})

test('a search that another one replaces is cancelled', async (t) => {
  const page = await openPage(t, '/contacts')
  await page.getByRole('row', { name: /Zoë/ }).first().waitFor()
  const searched = (text: string) => (request: Request) =>
    isContacts(request) && new URL(request.url()).searchParams.get('search') === text
  await page.route('**/api/v1/contacts?*', (route) => {
    if (!searched('zo')(route.request())) route.continue()
  })
  const begun = page.waitForRequest(searched('zo'))
  const cancelled = page.waitForEvent('requestfailed', searched('zo'))
  const field = page.getByRole('searchbox').first()
  await field.fill('zo')
  await begun
  await field.fill('zoë last')
  await cancelled
  await page.getByRole('row', { name: /Zoë Last/ }).waitFor()
  await page.getByRole('row', { name: /Zoë First/ }).waitFor({ state: 'detached' })
})

test('without a stream, stale data is read again when the window regains focus', async (t) => {
  const { id } = (await call('POST', '/contacts', { first_name: 'Fay', last_name: 'Focus' })).body.data
  const remove = async (body: string) => {
    const note = (await call('POST', `/contacts/${id}/notes`, { body })).body.data
    await call('DELETE', `/contacts/${id}/notes/${note.id}`)
  }
  await remove('Deleted before')
  const page = await web.open(t, null, { allow: dropped })
  await page.route('**/events/stream*', (route) => route.abort())
  await page.goto(`${web.rapport.url}/trash`)
  await page.getByRole('button', { name: 'Restore Deleted before' }).waitFor()
  await remove('Quietly deleted')
  // Data that was just read is not stale.
  await until(
    async () => {
      await page.evaluate("dispatchEvent(new Event('focus'))")
      return page.getByRole('button', { name: 'Restore Quietly deleted' }).isVisible()
    },
    (there) => there,
  )
})

test('the stream comes back after the service was restarted, and nothing is missed', async (t) => {
  const page = await openHome(t)
  await rapport.stop()
  const back = page.waitForResponse((response) => isStream(response.request()) && response.ok())
  rapport = await startRapport({ data_dir, env: { PORT: String(port) }, web_folder: web.web_folder })
  // Before the page is back.
  await plan('Made meanwhile')
  await back
  await page.getByRole('button', { name: 'Complete Made meanwhile' }).waitFor()
  await plan('Made after')
  await page.getByRole('button', { name: 'Complete Made after' }).waitFor()
})

test('a browser without a network still reads from a service that it reaches, and says so of one that it does not', async (t) => {
  await call('POST', '/companies', { name: 'Island Ltd' })
  const page = await web.open(t, '/contacts', { allow: /Failed to (load|fetch)/, reusable: false })
  await page.getByRole('link', { name: 'Companies', exact: true }).click()
  await page.getByRole('link', { name: 'Island Ltd' }).waitFor()
  await page.evaluate("dispatchEvent(new Event('offline'))")
  await page.getByRole('searchbox', { name: 'Search' }).fill('island')
  await page
    .getByRole('status')
    .filter({ hasText: /^1 found$/ })
    .waitFor({ state: 'attached' })

  await page.context().setOffline(true)
  await page.getByRole('searchbox', { name: 'Search' }).fill('continent')
  await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('a session that ends elsewhere ends the stream, and leads to signing in', async (t) => {
  const page = await openHome(t)
  const streams: Request[] = []
  const headers = { cookie: web.cookie }
  const ended = await fetch(`${web.rapport.url}/api/v1/session`, { method: 'DELETE', headers })
  assert.equal(ended.status, 200)
  await page.waitForURL(/\/sign-in/)
  await page.getByRole('heading', { level: 1 }).waitFor()
  page.on('request', (request) => isStream(request) && streams.push(request))
  // Longer than a stream waits before it comes back.
  await page.waitForRequest(isStream, { timeout: 3500 }).catch(() => {})
  assert.equal(streams.length, 0)
})
