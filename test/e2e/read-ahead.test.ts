// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Request } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { makeScreens } from '../web/screens.ts'
import { settled, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const most_bytes = 300_000
const most_requests = 40
// The app waits 2 s before it reads ahead, and for an idle moment between two parts. This counts what it waits for.
const count_waits = `(() => {
  window.waits = 0
  const { requestIdleCallback: idle, setTimeout: timer } = window
  const counted = (run) => {
    window.waits++
    return (...given) => {
      window.waits--
      return run(...given)
    }
  }
  window.requestIdleCallback = (run, options) => idle(counted(run), options)
  window.setTimeout = (run, ms, ...given) => timer(ms === 2000 ? counted(run) : run, ms, ...given)
})()`
const looks = 5

const web = useWeb()
let screens: Record<string, string>
let reader: string
before(async () => {
  screens = await makeScreens(web.rapport)
  reader = await joinAs(web.rapport, 'rita@example.test', 'read_only')
})

/** The requests of a page after its largest paint, without a cache. */
async function readAhead(t: TestContext, path: string, session?: string) {
  const page = await web.open(t, null, {
    ...(session && { session }),
    reusable: false,
    allow: /status of 40[34]/,
  })
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.addInitScript(`new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) window.largest_paint = performance.timeOrigin + startTime
  }).observe({ type: 'largest-contentful-paint', buffered: true })`)
  await page.addInitScript(count_waits)
  const asked: Request[] = []
  const open = new Set<Request>()
  page.on('request', (request) => {
    if (/\/stream/.test(request.url())) return
    asked.push(request)
    open.add(request)
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => open.delete(request))
  await page.goto(web.rapport.url + path)
  await settled(page)
  let calm = 0
  await until(
    async () => {
      calm = open.size || (await page.evaluate('window.waits')) ? 0 : calm + 1
      return calm
    },
    (times) => times === looks,
  )
  const painted = Number(await page.evaluate('window.largest_paint'))
  const later = asked.filter((one) => one.timing().startTime > painted)
  const sizes = await Promise.all(later.map(async (one) => (await one.sizes()).responseBodySize))
  const names = later.map((one) => new URL(one.url()).pathname.replace(/^\/assets\/|-[\w-]{8}\.js$/g, ''))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  t.diagnostic(`${path}: ${later.length} requests, ${Math.round(bytes / 1000)} KB`)
  return { requests: later.length, bytes, names }
}

test('after the largest paint, a page reads at most 300 KB ahead, in 40 requests', async (t) => {
  const beyond: string[] = []
  for (const name of ['home', 'contacts', 'contact', 'deals', 'deal', 'calendar', 'activities']) {
    const { requests, bytes } = await readAhead(t, screens[name] as string)
    if (requests > most_requests || bytes > most_bytes)
      beyond.push(`${name}: ${bytes} bytes, ${requests} requests`)
  }
  assert.deepEqual(beyond, [])
})

test('a page reads nothing ahead that its person cannot open', async (t) => {
  const { names } = await readAhead(t, screens.contact as string, reader)
  assert.deepEqual(
    names.filter((name) => /create|log-activity|import|field|choices|^explain$|new-workspace/.test(name)),
    [],
  )
})

test('a record can be edited and gets a note without the service, and nothing that was typed is lost', async (t) => {
  const page = await web.open(t, null, { reusable: false, allow: /ERR_|Failed to fetch|status of 40[34]/ })
  const loaded = new Set<string>()
  page.on('requestfinished', (request) => loaded.add(request.url()))
  await page.goto(web.rapport.url + screens.contact)
  await settled(page)
  const have = (name: string) => [...loaded].some((url) => url.includes(`/${name}-`))
  await until(
    async () => ['field-editor', 'notes', 'mention-input'].filter((name) => !have(name)),
    (missing) => missing.length === 0,
  )
  await page.route('**/*', (route) => route.abort())
  const title = page.locator('.field').filter({ hasText: 'Title' }).first()
  await title.getByRole('button').first().click()
  await page.keyboard.type('Head of purchasing')
  await page.keyboard.press('Enter')
  await title.getByText(/cannot be reached/).waitFor()
  await untilEqual(() => title.getByRole('textbox').inputValue(), 'Head of purchasing')
  await page.unroute('**/*')
  await title.getByRole('textbox').press('Enter')
  await title.getByRole('textbox').waitFor({ state: 'detached' })
  const id = screens.contact?.split('/').at(-1)
  assert.equal((await web.read(`/contacts/${id}`)).title, 'Head of purchasing')
})
