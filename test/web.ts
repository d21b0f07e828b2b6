// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at here and in tests
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { buildWebApp } from '../src/web/build.ts'
import { type Rapport, startRapport } from './harness.ts'
import { findBrowser } from './packages.ts'

export const desk = { viewport: { width: 1280, height: 800 } }
export const phone = { viewport: { width: 390, height: 844 } }

/** Who sets the service up in these tests. */
export const owner = {
  name: 'Olivia Owner',
  email: 'olivia@example.test',
  password: 'correct horse battery',
  workspace_name: 'Acme Sales',
}

const flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The address of a cookie header's session, as a browser keeps it. */
function cookieOf(header: string, url: string) {
  const [pair = ''] = header.split(';')
  const [name = '', value = ''] = pair.split('=')
  return { name, value, url, httpOnly: true, sameSite: 'Strict' as const }
}

let shared: Promise<Browser> | undefined
let users = 0

/** The browser of this process, which its files share: each page has a profile of its own. */
function openBrowser(): Promise<Browser> {
  users++
  if (shared) return shared
  shared = chromium.launch({ executablePath: findBrowser(), args: flags })
  process.once('disconnect', async () => (await shared)?.close())
  return shared
}

async function leaveBrowser(): Promise<void> {
  // A worker of the suite keeps it for the next file.
  if (--users || process.connected) return
  const closing = shared
  shared = undefined
  idle.clear()
  await (await closing)?.close()
}

const place = { locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' } as const
// A new page starts three processes, each of which compiles the app: that takes longer than most tests. By their options.
const idle = new Map<string, Page[]>()

const takePage = (options: BrowserContextOptions) => idle.get(JSON.stringify(options))?.pop()

/** Puts a page aside for the next test with these options, as if it were new. */
async function returnPage(page: Page, origin: string, options: BrowserContextOptions) {
  const context = page.context()
  const others = context.pages().filter((other) => other !== page)
  await Promise.all(others.map((other) => other.close()))
  if (page.isClosed()) return context.close()
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await forget(page, origin)
  const key = JSON.stringify(options)
  idle.set(key, [...(idle.get(key) ?? []), page])
}

/** Leaves the page for an empty one of the same origin and policy, so in the same process, and removes what it stored. */
async function forget(page: Page, origin: string) {
  const empty = `${origin}/empty`
  await page.route(empty, (route) =>
    route.fulfill({ contentType: 'text/html', headers: { 'cross-origin-opener-policy': 'same-origin' } }),
  )
  await page.goto(empty)
  await page.unrouteAll()
  await page.mouse.move(0, 0)
  await page.emulateMedia({ colorScheme: null })
  await page.evaluate('sessionStorage.clear()')
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  await page.context().clearCookies()
}

type Options = NonNullable<Parameters<typeof startRapport>[0]> & {
  /** Whether to create the owner. Without it, there is no account. */
  set_up?: boolean
}

/**
 * A service with the web app, its owner made unless `set_up` is false, and a browser. Pages that are opened here fail the
 * test by any complaint.
 */
export async function startWeb({ set_up = true, ...options }: Options = {}) {
  const web_folder = await buildWebApp(console.error)
  assert.ok(web_folder)
  const rapport: Rapport = await startRapport({ ...options, web_folder })
  const browser = await openBrowser()
  const cookie = set_up ? await makeOwner(rapport) : ''
  const opened: (() => Promise<void>)[] = []

  return {
    rapport,
    web_folder,
    /** The owner's session, for requests beside the browser. */
    cookie: cookie.split(';')[0] as string,
    /**
     * A page of its own browser profile, signed in unless `session` says otherwise. Later tests use it again unless
     * `reusable` is false: what runs in every document of a page cannot be taken out of it.
     */
    async open(
      t: { after(work: () => Promise<void>): void },
      path = '/',
      {
        session = cookie || null,
        allow = /^$/,
        reusable = true,
        ...given
      }: BrowserContextOptions & { session?: string | null; allow?: RegExp; reusable?: boolean } = {},
    ): Promise<Page> {
      const options = { ...desk, ...place, ...given }
      const page = takePage(options) ?? (await (await browser.newContext(options)).newPage())
      if (session) await page.context().addCookies([cookieOf(session, rapport.url)])
      // A busy machine may take long; what never comes is found all the same.
      page.setDefaultTimeout(30_000)
      const complaints = watch(page, rapport.url, allow)
      let left: Promise<void> | undefined
      const leave = () => {
        left ??= reusable ? returnPage(page, rapport.url, options) : page.context().close()
        return left
      }
      opened.push(leave)
      t.after(async () => {
        await leave()
        assert.deepEqual(complaints, [])
      })
      await page.goto(rapport.url + path)
      return page
    },
    /** Instead of close(), where a test has closed the service. */
    leaveBrowser,
    async close() {
      // A page that outlives its service complains that the service is gone.
      await Promise.all(opened.map((leave) => leave()))
      await leaveBrowser()
      await rapport.close()
    },
  }
}
export type Web = Awaited<ReturnType<typeof startWeb>>

/** Makes the first account; returns its session's cookie as the service sets it. */
async function makeOwner({ call, setup_url }: Rapport): Promise<string> {
  const token = new URL(setup_url ?? '').hash.slice(1)
  const place = { time_zone: 'Europe/Berlin', language: 'en' }
  const made = await call('POST', '/api/v1/setup', { ...owner, ...place, token })
  assert.equal(made.status, 200, made.text)
  return made.headers.get('set-cookie') ?? ''
}

/** Whatever the page complains of: exceptions, errors in its console, its policy, requests to elsewhere. */
function watch(page: Page, url: string, allow: RegExp): string[] {
  const complaints: string[] = []
  const complain = (text: string) => {
    if (!allow.test(text)) complaints.push(text)
  }
  page.on('pageerror', (error) => complain(String(error)))
  page.on('console', (message) => {
    // A session that is not there is how the app learns that somebody has to sign in.
    const expected =
      /status of 401/.test(message.text()) && /\/(session|stream\?changes=true)$/.test(message.location().url)
    if (message.type() === 'error' && !expected) complain(message.text())
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !asked.startsWith('data:') && !asked.startsWith('blob:'))
      complain(`asked ${asked}`)
  })
  return complaints
}

type Scheme = 'light' | 'dark'

/**
 * Checks WCAG 2.2 AA in light and dark, and that nothing is wider than the screen. It runs on one engine, because the
 * rendering does not depend on it. `see` is called in each of the two colours.
 */
export async function checkScreen(
  page: Page,
  see: (scheme: Scheme) => Promise<unknown> = async () => {},
): Promise<void> {
  if (process.env.TEST_ENGINE === 'postgres') return
  // The page's policy lets no other script in: this one comes by the debugger.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe)
  await colour(page, 'light')
  await see('light')
  assert.deepEqual(await violations(page, { type: 'tag', values: levels }), [], page.url())
  await fits(page)
  // Nothing but the colours differs in the dark, and they are the same on a phone.
  if (page.viewportSize()?.width === phone.viewport.width) return
  await colour(page, 'dark')
  await see('dark')
  const dark = await violations(page, { type: 'rule', values: ['color-contrast'] })
  assert.deepEqual(dark, [], `${page.url()} in dark`)
  await page.emulateMedia({ colorScheme: null })
}

/** Shows a page as somebody sees it who prefers light or dark. */
export async function colour(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
  // Wait for the end of transitions: during one, a measured colour is neither the old nor the new one.
  await page.evaluate(`(async () => {
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    const changing = () => document.getAnimations().filter((one) => one instanceof CSSTransition)
    await frame()
    await frame()
    while (changing().length) await Promise.allSettled(changing().map(({ finished }) => finished)).then(frame)
  })()`)
}

/** Nothing is wider than the screen. */
export async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as any
    return document.documentElement.scrollWidth - innerWidth
  })
  assert.ok(wide <= 0, `${page.url()} is ${wide} px wider than the screen`)
}

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** What axe finds against these rules, with the places. */
export const violations = (
  page: Page,
  runOnly: { type: 'tag' | 'rule'; values: string[] },
): Promise<string[]> =>
  page.evaluate(async (runOnly) => {
    const { axe } = globalThis as any
    const found = await axe.run({ runOnly, resultTypes: ['violations'] })
    return found.violations.map(
      ({ id, impact, nodes }: any) =>
        `${impact} ${id}: ${nodes
          .map((node: any) => node.html)
          .slice(0, 3)
          .join(' | ')}`,
    )
  }, runOnly)

/** Shows another screen in an open page, as a link does, and resolves when it is rendered: a page load takes longer. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(async (path) => {
    const { __TSR_ROUTER__: router, requestAnimationFrame } = globalThis as any
    router.history.push(path)
    const shown = () => router.state.status === 'idle' && router.state.resolvedLocation?.href === path
    while (!shown()) await new Promise((drawn) => requestAnimationFrame(drawn))
  }, path)
}

/** Resolves when a page has its heading and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor()
  await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
}

/** Adds a filter by a field to a list, by its button. Resolves to the editor of the new chip, when it has the focus. */
export async function addFilter(page: Page, field: string) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('option', { name: field, exact: true }).click()
  const editor = page.getByRole('dialog', { name: `Filter by ${field}` })
  await editor.locator(':focus').waitFor()
  return editor
}
