// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page shows is only looked at
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Page, Request, Response } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { settled, startWeb, untilEqual, type Web } from '../web.ts'
import { until } from '../webhooks.ts'

let web: Web
before(async () => {
  web = await startWeb()
  await fillWorkspace(web.rapport)
})
after(() => web?.close())

const call = (method: string, path: string, body?: object) => web.rapport.call(method, `/api/v1${path}`, body)
const isList = (url: string) => new URL(url).pathname === '/api/v1/contacts'
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })
const reads = "localStorage.getItem('rapport-reads')"

/** The list of contacts, whose requests the browser has remembered. */
async function openContacts(t: TestContext, options: Parameters<Web['open']>[2] = {}): Promise<Page> {
  const page = await web.open(t, '/contacts', { reusable: false, ...options })
  await page.getByRole('heading', { name: 'Contacts' }).waitFor()
  await until(
    () => page.evaluate<string | null>(reads),
    (text) => text?.includes('"/contacts"') ?? false,
  )
  return page
}

/** Holds answers back until `release` is called. */
async function hold(page: Page, url: RegExp) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await released
    await route.continue()
  })
  return release
}
const holdScript = (page: Page) => hold(page, /\/assets\/index-.*\.js/)

test('a list that this browser has shown asks for its rows before the app runs, and once', async (t) => {
  await call('POST', '/contacts', { first_name: 'Early', last_name: 'Bird' })
  const page = await openContacts(t)
  const asked: string[] = []
  page.on('request', (request) => isList(request.url()) && asked.push(request.url()))
  const release = await holdScript(page)
  const answered = page.waitForResponse((response) => isList(response.url()))
  await page.reload({ waitUntil: 'commit' })
  assert.equal((await answered).status(), 200)
  await untilEqual(() => page.locator('#app > *').count(), 0)
  release()
  await row(page, 'Early Bird').waitFor()
  assert.equal(asked.length, 1)
})

test('a record that changes before the app runs is shown with the change', async (t) => {
  const made = await call('POST', '/contacts', { first_name: 'Before', last_name: 'Change' })
  const page = await openContacts(t)
  const release = await holdScript(page)
  const answered = page.waitForResponse((response) => isList(response.url()))
  await page.reload({ waitUntil: 'commit' })
  assert.equal((await answered).status(), 200)
  await call('PUT', `/contacts/${made.body.data.id}`, { first_name: 'After' })
  await until(() => page.evaluate<number>('window.early.answers.size'), 0)
  release()
  await row(page, 'After Change').waitFor()
})

test('another person in the same browser does not get the requests of the one before', async (t) => {
  // A page that is open would read the members again, as the other person, and forget its requests.
  const session = await joinAs(web.rapport, 'next@example.test', 'member')
  const page = await openContacts(t, { allow: /status of 412/ })
  const [name = '', value = ''] = (session.split(';')[0] as string).split('=')
  const release = await holdScript(page)
  const answered = page.waitForResponse((response) => isList(response.url()))
  await page.context().addCookies([{ name, value, url: web.rapport.url }])
  await page.reload({ waitUntil: 'commit' })
  assert.equal((await answered).status(), 412)
  release()
  await row(page, 'Early Bird').waitFor()
})

test('early answers are dropped if the session is another person by the time that it is answered', async (t) => {
  const next = await joinAs(web.rapport, 'later@example.test', 'member')
  const page = await openContacts(t)
  const [name = '', value = ''] = (next.split(';')[0] as string).split('=')
  const asked: string[] = []
  page.on(
    'request',
    (request) => isList(request.url()) && asked.push(request.headers()['rapport-place'] ?? ''),
  )
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/session$/, async (route) => {
    await released
    await route.fulfill({ response: await page.request.get(`${web.rapport.url}/api/v1/session`) })
  })
  const releaseScript = await holdScript(page)
  const answered = page.waitForResponse((response) => isList(response.url()))
  await page.reload({ waitUntil: 'commit' })
  assert.equal((await answered).status(), 200)
  await page.context().addCookies([{ name, value, url: web.rapport.url }])
  releaseScript()
  release()
  await row(page, 'Early Bird').waitFor()
  // The early request was the owner's.
  assert.equal(new Set(asked).size, 2)
})

test('after sign-out, this browser has forgotten the requests', async (t) => {
  const session = await joinAs(web.rapport, 'leaving@example.test', 'member')
  const page = await openContacts(t, { session })
  await page.getByRole('button', { name: /^Profile: / }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/sign-in/)
  assert.equal(await page.evaluate(reads), null)
})

const kept = "JSON.parse(localStorage.getItem('rapport-reads') ?? '{}').pages"
const forget = (path: string) =>
  `localStorage.setItem('rapport-reads', localStorage.getItem('rapport-reads').replace('${JSON.stringify(path)}:', '"":'))`

/** Notes in the page whether what it shows first is ever drawn without its data. */
function noteEmptyDrawings() {
  const { MutationObserver, document } = globalThis as any
  const below = '.home-events, .home-pipeline, .home-outcomes'
  const empty = `.home-card:not(${below}) .home-awaited, :is(tbody, .home-figures, .column) .mantine-Skeleton-root`
  const look = () => document.querySelector(empty) && Object.assign(globalThis, { drawn_empty: true })
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
}

/**
 * Opens a page, and lets its script come when the early requests are answered. Returns the requests that the app sent besides.
 */
async function openAnswered(page: Page, path: string, early: number): Promise<string[]> {
  await page.goto('about:blank')
  const release = await holdScript(page)
  const asked: string[] = []
  let answered = 0
  const isRead = (request: Request) =>
    /^\/api\/v1\/(?!session|events\/stream)/.test(new URL(request.url()).pathname)
  const note = (request: Request) => isRead(request) && asked.push(request.url())
  const count = (response: Response) => isRead(response.request()) && answered++
  page.on('request', note).on('response', count)
  await page.goto(web.rapport.url + path, { waitUntil: 'commit' })
  await untilEqual(async () => answered, early)
  await page.evaluate(forget(path))
  release()
  await settled(page)
  page.off('request', note).off('response', count)
  await page.unrouteAll()
  return asked.slice(early)
}

/** Resolves to the stored requests of a page. The app stores them when the page is idle. */
const keptOf = (page: Page, path: string) =>
  until(
    () => page.evaluate<string[] | undefined>(`${kept}?.['${path}']`),
    (reads) => reads !== undefined,
  )

test('the first visit of Home and of contacts asks for all its data before the app runs, for no more, and is drawn once', async (t) => {
  const page = await web.open(t, '/settings/profile', { reusable: false })
  await until(() => page.evaluate<string | null>("localStorage.getItem('rapport-stream')"), Boolean)
  const known = new Map<string, string[]>()
  for (const path of ['/', '/contacts']) known.set(path, (await keptOf(page, path)) ?? [])
  await page.addInitScript(noteEmptyDrawings)
  for (const [path, wanted] of known) {
    assert.ok(wanted.length > 5, path)
    assert.deepEqual(await openAnswered(page, path, wanted.length), [], path)
    assert.equal(await page.evaluate('globalThis.drawn_empty ?? false'), false, path)
    assert.deepEqual((await keptOf(page, path))?.toSorted(), wanted.toSorted())
  }
})

test('the board of a later visit is drawn once, with its cards', async (t) => {
  const page = await web.open(t, '/deals', { reusable: false })
  await until(() => page.evaluate<string | null>("localStorage.getItem('rapport-stream')"), Boolean)
  const rest = async () => (await keptOf(page, '/deals'))?.filter((path) => path !== '/api/v1/session') ?? []
  const wanted = await rest()
  assert.ok(wanted.length > 8)
  await page.addInitScript(noteEmptyDrawings)
  assert.deepEqual(await openAnswered(page, '/deals', wanted.length), [])
  assert.equal(await page.evaluate('globalThis.drawn_empty ?? false'), false)
  assert.deepEqual((await rest()).toSorted(), wanted.toSorted())
})

/**
 * Notes in the page how far the router is: whether it waits for the page longer than usual, or has shown it, and whether a
 * placeholder stands for the whole page after that.
 */
function noteRouter() {
  const { MutationObserver, document } = globalThis as any
  const noted = { waits: () => false, shown: false, placeholder: false }
  function look() {
    if (noted.shown && document.querySelector('#content [data-waiting]')) noted.placeholder = true
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
  Object.defineProperty(globalThis, '__TSR_ROUTER__', {
    set(router) {
      noted.waits = () => router.state.matches.some(({ status }: any) => status === 'pending')
      router.subscribe('onResolved', () => {
        noted.shown = true
        look()
      })
    },
  })
  Object.assign(globalThis, { noted })
}

test('the page of the deals is shown when the program and the cards of its board are there, not before', async (t) => {
  const page = await web.open(t, '/deals', { reusable: false })
  assert.ok(await keptOf(page, '/deals'))
  await page.addInitScript(noteEmptyDrawings)
  await page.addInitScript(noteRouter)
  for (const late of [/\/assets\/board-page-.*\.js/, /\/api\/v1\/deals\?.*\bstage=won\b/]) {
    await page.goto('about:blank')
    const release = await hold(page, late)
    // The page waits for cards that were asked for with the document.
    const start = await holdScript(page)
    const asked = page.waitForRequest(/\bstage=won\b/)
    await page.goto(`${web.rapport.url}/deals`, { waitUntil: 'commit' })
    await asked
    start()
    await until(() => page.evaluate<boolean>('noted.waits() || noted.shown'), Boolean)
    assert.equal(await page.evaluate('noted.shown'), false, `${late}`)
    release()
    await page.locator('.board').waitFor()
    await settled(page)
    assert.equal(await page.evaluate('noted.placeholder'), false, `${late}`)
    assert.equal(await page.evaluate('globalThis.drawn_empty ?? false'), false, `${late}`)
    await page.unrouteAll()
  }
})

test('a reload of the deals loads the script of the view that they open with', async (t) => {
  const session = await joinAs(web.rapport, 'table@example.test', 'member')
  const headers = { cookie: session.split(';')[0] as string, origin: web.rapport.url }
  const send = async (method: string, path: string, body: object) => {
    const init = {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    return (await fetch(`${web.rapport.url}/api/v1${path}`, init)).json() as Promise<any>
  }
  const view = { name: 'Table', list: 'deals', query: 'view=table' }
  const { id } = (await send('POST', '/views', view)).data
  await send('PATCH', '/view-tabs/deals', { default_tab: id })

  const page = await web.open(t, '/deals', { reusable: false, session })
  await page.getByRole('table', { name: 'Deals' }).waitFor()
  assert.ok(await keptOf(page, '/deals'))
  await page.goto('about:blank')
  await holdScript(page)
  await page.goto(`${web.rapport.url}/deals`, { waitUntil: 'commit' })
  const ahead = page.locator('head link[rel=modulepreload]')
  await ahead.and(page.locator('[href*="/deals-table-"]')).waitFor({ state: 'attached' })
  assert.equal(await ahead.and(page.locator('[href*="/board-page-"]')).count(), 0)
})
