// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CDPSession, Locator, Page, Request } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { isSwept, makeScreens } from '../web/screens.ts'
import { colour, layoutShift, phone, settled, startWeb, useWeb, visit } from '../web.ts'

const budget_bytes = 200_000
const most_files = 30

const web = useWeb()
let screens: Record<string, string>
let german: string
before(async () => {
  screens = await makeScreens(web.rapport)
  german = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
})

/** Loads a page without a cache. Resolves to the scripts that had come when it was usable, and how far it jumped. */
async function load(page: Page, session: CDPSession, path: string, origin = web.rapport.url) {
  const scripts: Promise<number>[] = []
  const count = (request: Request) => {
    if (new URL(request.url()).pathname.endsWith('.js'))
      scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  }
  // Nothing is kept of the page before.
  await page.goto('about:blank')
  await session.send('Network.clearBrowserCache')
  page.on('requestfinished', count)
  await page.goto(origin + path, { waitUntil: 'commit' })
  await settled(page)
  page.off('requestfinished', count)
  const sizes = await Promise.all(scripts)
  const moved = await layoutShift(page)
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length, moved }
}

/** Loads pages, and returns those that load more than the limits, or jump. */
async function beyondLimits(t: TestContext, page: Page, names: string[]): Promise<string[]> {
  // Scripts that a page loads when it is idle are not part of its first screen.
  await page.addInitScript('window.requestIdleCallback = () => 0')
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const found: string[] = []
  for (const name of names) {
    const { bytes, files, moved } = await load(page, session, screens[name] as string)
    t.diagnostic(`${name}: ${Math.round(bytes / 1000)} KB in ${files} files, moved by ${moved.toFixed(3)}`)
    if (bytes > budget_bytes || files > most_files || files < 2)
      found.push(`${name}: ${bytes} bytes, ${files} files`)
    if (moved >= 0.05) found.push(`${name}: moved by ${moved}`)
  }
  return found
}

const shown = { reusable: false, allow: /status of 404/ }

test('each page is usable after 200 KB of scripts, and does not jump, in the language with the longer texts', async (t) => {
  // The browser is English: the person's language counts.
  const page = await web.open(t, '/', { ...shown, session: german })
  await page.locator('html[lang=de]').waitFor()
  // A tab or a panel with a record adds its own part.
  const names = Object.keys(screens).filter((name) => isSwept(name) && !/-(notes|panel)$/.test(name))
  assert.deepEqual(await beyondLimits(t, page, names), [])
})

test('set-up, sign-in, an invitation and a new password load at most 60 KB of scripts, and do not jump', async (t) => {
  const fresh = await startWeb({ set_up: false })
  t.after(() => fresh.close())
  const invited = { email: 'ines@example.test', role: 'member' }
  const made = await web.rapport.call('POST', '/api/v1/invitations', invited)
  const invitation = `/invitation#${made.body.data.url_path.split('#')[1]}`
  const { hash } = new URL(fresh.rapport.setup_url ?? '')
  for (const [one, path] of [
    [web, '/sign-in'],
    [web, invitation],
    [web, '/reset#token'],
    [fresh, `/setup${hash}`],
  ] as const) {
    const page = await one.open(t, null, {
      session: null,
      reusable: false,
      locale: 'de-DE',
      allow: /status of 401/,
    })
    await page.addInitScript('window.requestIdleCallback = () => 0')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    const { bytes, moved } = await load(page, session, path, one.rapport.url)
    await page.getByRole('textbox').first().waitFor()
    t.diagnostic(`${path.split('#')[0]}: ${Math.round(bytes / 1000)} KB, moved by ${moved.toFixed(3)}`)
    assert.ok(bytes > 0 && bytes <= 60_000, `${path}: ${bytes} bytes`)
    assert.ok(moved < 0.05, path)
  }
})

test('in English, the largest pages are usable after 200 KB of scripts, and do not jump', async (t) => {
  const page = await web.open(t, '/', shown)
  assert.deepEqual(await beyondLimits(t, page, ['home', 'contacts', 'deals', 'activities', 'webhook']), [])
})

test('a page whose content moves down after it is drawn counts as one that jumps', async (t) => {
  const page = await web.open(t, '/contacts', { load: true })
  await settled(page)
  assert.ok((await layoutShift(page)) < 0.05)
  await page.locator('main').evaluate(({ style }) => {
    style.paddingTop = '200px'
  })
  assert.ok((await layoutShift(page)) >= 0.05)
})

/** The background of an element, as drawn. */
const colourOf = (one: Locator): Promise<string> =>
  one.evaluate((element) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(of: unknown): Record<string, string>
    }
    return String(getComputedStyle(element).backgroundColor)
  })

test('before any script has come, the page shows the frame of the app, as it is then, in both colours', async (t) => {
  for (const view of [{}, phone]) {
    const page = await web.open(t, '/contacts', { ...view, reusable: false })
    for (const colorScheme of ['light', 'dark'] as const) {
      const rail = page.locator('.rail:visible, .bottom:visible')
      await rail.waitFor()
      await colour(page, colorScheme)
      const box = await rail.boundingBox()
      const background = await colourOf(rail)
      const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
      await page.route(/\.(js|css)$/, async (route) => {
        await come
        await route.continue()
      })
      await page.reload({ waitUntil: 'commit' })
      const shell = page.locator('.shell-rail')
      await shell.waitFor()
      assert.deepEqual(await shell.boundingBox(), box)
      assert.equal(await colourOf(shell), background)
      letCome()
      await shell.waitFor({ state: 'hidden' })
      await page.unrouteAll()
    }
  }
})

test('the placeholders of what is still loading pulse, but not for people who prefer reduced motion', async (t) => {
  const page = await web.open(t)
  await settled(page)
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route('**/api/v1/contacts?*', async (route) => {
    await come
    await route.continue()
  })
  await visit(page, '/contacts')
  await page.locator('.mantine-Skeleton-root').first().waitFor()
  const moving = () => page.evaluate('document.getAnimations().some((one) => one instanceof CSSAnimation)')
  assert.equal(await moving(), false)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  assert.equal(await moving(), true)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  letCome()
  await settled(page)
})
