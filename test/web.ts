// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at here and in tests
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { buildWebApp } from '../src/web/build.ts'
import { dataOf } from './envelope.ts'
import { type Rapport, startRapport } from './harness.ts'
import { use } from './use.ts'
import { findPort, leaveBrowser, openBrowser, returnPage, takePage, visit } from './web/pages.ts'

export { visit }

export const desk = { viewport: { width: 1280, height: 800 } }
export const phone = { viewport: { width: 390, height: 844 } }

/** The person who sets the service up in these tests. */
export const owner = {
  name: 'Olivia Owner',
  email: 'olivia@example.test',
  password: 'correct horse battery',
  workspace_name: 'Acme Sales',
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The address of a cookie header's session, as a browser keeps it. */
function cookieOf(header: string, url: string) {
  const [pair = ''] = header.split(';')
  const [name = '', value = ''] = pair.split('=')
  return { name, value, url, httpOnly: true, sameSite: 'Strict' as const }
}

const place = { locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' } as const

type Opening = { session?: string | null; allow?: RegExp; reusable?: boolean; load?: boolean }
type Options = NonNullable<Parameters<typeof startRapport>[0]> & {
  /** Whether to create the owner. Without it, there is no account. */
  set_up?: boolean
}

/**
 * A service with the web app, its owner made unless `set_up` is false, and a browser. Pages that are opened here fail the
 * test by any complaint.
 */
export async function startWeb({ set_up = true, env, ...options }: Options = {}) {
  const web_folder = await buildWebApp(console.error)
  assert.ok(web_folder)
  const PORT = String(await findPort())
  const rapport: Rapport = await startRapport({ ...options, env: { PORT, ...env }, web_folder })
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
     * `reusable` is false: what runs in every document of a page cannot be taken out of it. It may show the path
     * without a page load, unless `load` is true. Without a path it is empty.
     */
    async open(
      t: Pick<TestContext, 'after' | 'name'>,
      path: string | null = '/',
      {
        session = cookie || null,
        allow,
        reusable = true,
        load = path === null,
        ...given
      }: BrowserContextOptions & Opening = {},
    ): Promise<Page> {
      const origin = rapport.url
      const options = { ...desk, ...place, ...given }
      const signed_in = session ? (session.split(';')[0] as string) : ''
      const wanted = { options, origin, cookie: signed_in, owner: cookie.split(';')[0] as string, load }
      const { page, runs } = await takePage(browser, wanted)
      if (session && !runs) await page.context().addCookies([cookieOf(session, origin)])
      // A busy machine may take long; what never comes is found all the same.
      page.setDefaultTimeout(60_000)
      const { complaints, isAway } = watch(page, origin, allow ?? /^$/)
      let left: Promise<void> | undefined
      const leave = () => {
        // An app that could not reach the service may wait for it.
        left ??= reusable ? returnPage(page, origin, options, !isAway()) : page.context().close()
        return left
      }
      opened.push(leave)
      t.after(async () => {
        // Its type is not in @types/node 24.
        const { error } = t as { error?: Error | null }
        if (error) console.error(`“${t.name}” failed at ${await shownBy(page)}`)
        await leave()
        assert.deepEqual(complaints, [])
      })
      if (path !== null && runs) await visit(page, path)
      else if (path !== null) await page.goto(origin + path)
      return page
    },
    /** Creates a record by the API; returns its id. */
    create: async (path: string, body: object): Promise<number> =>
      dataOf(await rapport.call('POST', `/api/v1${path}`, body), 201).id,
    /** Reads a path of the API; returns its `data`. */
    read: async (path: string) => (await rapport.call('GET', `/api/v1${path}`)).body.data,
    /** Instead of close(), where a test has closed the service. */
    leaveBrowser: () => leaveBrowser(rapport.url),
    async close() {
      // A page that outlives its service complains that the service is gone.
      await Promise.all(opened.map((leave) => leave()))
      await leaveBrowser(rapport.url)
      await rapport.close()
    },
  }
}
export type Web = Awaited<ReturnType<typeof startWeb>>

/** A service with a browser that the tests of a file share. */
export const useWeb = (options?: Options): Web => use(() => startWeb(options))

/** Makes the first account; returns its session's cookie as the service sets it. */
async function makeOwner({ call, setup_url }: Rapport): Promise<string> {
  const token = new URL(setup_url ?? '').hash.slice(1)
  const place = { time_zone: 'Europe/Berlin', language: 'en' }
  const made = await call('POST', '/api/v1/setup', { ...owner, ...place, token })
  assert.equal(made.status, 200, made.text)
  return made.headers.get('set-cookie') ?? ''
}

/** The contents of a page, for the report of a failed test. */
const shownBy = async (page: Page) =>
  `${page.url()}:\n${await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)}`

/**
 * Whatever the page complains of: exceptions, errors in its console, its policy, requests to elsewhere. And whether the app may
 * still wait: for a service out of its reach, for the end of a limit, or for somebody to sign in.
 */
function watch(page: Page, url: string, allow: RegExp) {
  const complaints: string[] = []
  let away = false
  const complain = (text: string) => {
    away ||= /status of (401|429|5)|ERR_|Failed to fetch/.test(text)
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
  return { complaints, isAway: () => away }
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

/** The findings of axe against these rules, with the places. */
export const violations = (
  page: Page,
  runOnly: { type: 'tag' | 'rule'; values: string[] },
): Promise<string[]> =>
  page.evaluate(async (runOnly) => {
    const { axe } = globalThis as any
    // The app has no sound, and no rule here reads its style sheets.
    const found = await axe.run({ runOnly, resultTypes: ['violations'], preload: false })
    return found.violations.map(
      ({ id, impact, nodes }: any) =>
        `${impact} ${id}: ${nodes
          .map((node: any) => node.html)
          .slice(0, 3)
          .join(' | ')}`,
    )
  }, runOnly)

/** Presses the keys of a sequence, such as `g d`. The app waits 1 s for the next key, and a busy machine may take longer between two. */
export const pressTogether = (page: Page, ...keys: string[]) =>
  Promise.all(keys.map((key) => page.keyboard.press(key)))

/**
 * Keeps the toasts of a page, which close by themselves after 8 s, until the next page load: on a busy machine, a test may
 * need the button of one for longer. Not for a page that other tests use again. Returns how to count the timers that it held.
 */
export async function keepToasts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`(() => {
    const { setTimeout: real } = window
    window.kept_toasts = 0
    window.setTimeout = (work, ms, ...more) => {
      if (ms !== 8000) return real(work, ms, ...more)
      window.kept_toasts++
      return 0
    }
  })()`)
  return () => page.evaluate('window.kept_toasts')
}

/**
 * Lets React draw 300 ms later, as on a busy device: its tasks are messages. Until the next page load, and not for a page
 * that other tests use again.
 */
export const drawLate = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const { postMessage } = MessagePort.prototype
    MessagePort.prototype.postMessage = function (...message) {
      setTimeout(() => postMessage.apply(this, message), 300)
    }
  })()`)

/** Resolves when a page has this title. */
export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor()

/** Resolves when a page has its heading and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor()
  await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
}

/**
 * How far the parts of a page have jumped since it was loaded: the cumulative layout shift, as the browser measures it.
 * Shifts that follow an input do not count.
 */
export const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const { PerformanceObserver, requestAnimationFrame } = globalThis as any
    // The browser counts a shift when it draws, so wait for two frames.
    for (let frames = 0; frames < 2; frames++) await new Promise((drawn) => requestAnimationFrame(drawn))
    const observer = new PerformanceObserver(() => {})
    observer.observe({ type: 'layout-shift', buffered: true })
    const shifts = observer.takeRecords().filter(({ hadRecentInput }: any) => !hadRecentInput)
    observer.disconnect()
    return shifts.reduce((sum: number, { value }: any) => sum + value, 0)
  })

/** Adds a filter by a field to a list, by its button. Resolves to the editor of the new chip, when it has the focus. */
export async function addFilter(page: Page, field: string) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('option', { name: field, exact: true }).click()
  const editor = page.getByRole('dialog', { name: `Filter by ${field}` })
  await editor.locator(':focus').waitFor()
  return editor
}

/** Asks until the answer is the wanted one; the last answer is the error. A busy machine may take long. */
export async function untilEqual<T>(ask: () => Promise<T>, wanted: T, about?: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (JSON.stringify(await ask()) === JSON.stringify(wanted)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const last = await ask()
  assert.deepEqual(last, wanted, about && `${about}: ${last}`)
}
