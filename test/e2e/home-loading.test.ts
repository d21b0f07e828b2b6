// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { before } from '../use.ts'
import { fillWorkspace } from '../web/records.ts'
import { desk, layoutShift, phone, settled, useWeb, type Web } from '../web.ts'

const budget_bytes = 200_000

const empty = useWeb()
const web = useWeb()
before(async () => {
  await fillWorkspace(web.rapport)
})

const sessionCookie = ({ cookie, rapport }: Web) => {
  const [name = '', value = ''] = cookie.split('=')
  return { name, value, url: rapport.url }
}

test('Home waits for its cards, and is shown without its key figures if these take longer', async (t) => {
  const page = await web.open(t)
  const ways = {
    'at the start': () => page.goto(web.rapport.url),
    async 'from another page'() {
      await page.goto(`${web.rapport.url}/contacts`)
      await page.getByRole('link', { name: 'Home', exact: true }).click()
    },
  }
  for (const [way, go] of Object.entries(ways)) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/api/v1/reports/outcomes*', async (route) => {
      await released
      await route.continue()
    })
    await go()
    await page.locator('.home-tasks:not([aria-busy])').waitFor()
    await page.locator('.home-figures .mantine-Skeleton-root').first().waitFor()
    release()
    await page.locator('.home-figures .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
    assert.equal((await page.locator('.home-number').allInnerTexts()).filter(Boolean).length, 4, way)
    await page.unrouteAll()
  }
})

test('the first screen needs at most 200 KB of JavaScript, of files that come compressed and never change', async (t) => {
  const page = await web.open(t, null, { session: null, reusable: false })
  // Scripts that a page loads when it is idle are not part of its first screen.
  await page.addInitScript('window.requestIdleCallback = () => 0')
  await page.context().addCookies([sessionCookie(web)])
  const sizes: { name: string; bytes: number }[] = []
  const answers: Promise<unknown>[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (!pathname.startsWith('/assets/')) return
    const headers = response.headers()
    answers.push(
      response
        .request()
        .sizes()
        .then(({ responseBodySize }) => {
          if (pathname.endsWith('.js')) sizes.push({ name: pathname, bytes: responseBodySize })
          assert.match(headers['cache-control'] ?? '', /immutable/, pathname)
          assert.match(headers['cache-control'] ?? '', /max-age=31536000/, pathname)
          assert.match(headers['content-encoding'] ?? '', /br|gzip|zstd/, pathname)
        }),
    )
  })
  // Nothing is kept of the page before.
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const document = await page.goto(`${web.rapport.url}/`)
  await page.getByRole('table', { name: 'Pipeline by stage' }).waitFor()
  await page.getByRole('img', { name: /Won and lost by month/ }).waitFor()
  await page.waitForLoadState('networkidle').catch(() => {})
  await Promise.all(answers)
  const sum = sizes.reduce((before, { bytes }) => before + bytes, 0)
  t.diagnostic(`${Math.round(sum / 1000)} KB in ${sizes.length} files`)
  // A file from a cache has no transfer size.
  assert.ok(sizes.length > 1 && sizes.every(({ bytes }) => bytes > 0), JSON.stringify(sizes))
  assert.ok(sum <= budget_bytes, `${sum} bytes: ${JSON.stringify(sizes)}`)

  const policy = document?.headers()['content-security-policy'] ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|https?:|\*/)
})

test('nothing jumps while home loads', async (t) => {
  for (const [where, view] of [
    [web, desk],
    [web, phone],
    [empty, desk],
  ] as const) {
    const page = await where.open(t, '/', { ...view, load: true })
    await page.getByRole('region', { name: 'Latest events' }).waitFor()
    await settled(page)
    const moved = await layoutShift(page)
    assert.ok(moved < 0.05, `${moved} at ${page.url()}`)
  }
})

test('a list of home that comes late moves nothing', async (t) => {
  const page = await web.open(t, '/contacts', { ...desk, reusable: false })
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/(activities|appointments)\?/, async (route) => {
    await come
    await route.continue()
  })
  await page.goto(`${web.rapport.url}/`, { waitUntil: 'commit' })
  await page.getByRole('table', { name: 'Pipeline by stage' }).waitFor()
  letCome()
  await page.getByRole('region', { name: 'Overdue and today' }).locator('ul').first().waitFor()
  await page.getByRole('region', { name: 'Next appointments' }).locator('ul').waitFor()
  await settled(page)
  assert.ok((await layoutShift(page)) < 0.05)
})
