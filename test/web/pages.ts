// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at here
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { browser_flags, findBrowser } from '../packages.ts'

// Pages live for seconds: optimizing their scripts takes longer than it saves.
const flags = [...browser_flags, '--js-flags=--no-turbofan']

let shared: Promise<Browser> | undefined
let users = 0

/** The browser of this process, which its files share: each page has a profile of its own. */
export async function openBrowser(): Promise<Browser> {
  users++
  // A browser that has crashed fails the tests of its file, not those of the files after it.
  if (shared && (await shared).isConnected()) return shared
  idle.length = 0
  shared = chromium.launch({ executablePath: findBrowser(), args: flags })
  process.once('disconnect', async () => (await shared)?.close())
  return shared
}

/** Leaves a service, before it closes, and the browser. */
export async function leaveBrowser(origin: string): Promise<void> {
  await Promise.all(idle.filter((one) => one.origin === origin).map(forget))
  // A worker of the suite keeps it for the next file.
  if (--users || process.connected) return
  const closing = shared
  shared = undefined
  idle.length = 0
  await (await closing)?.close()
}

let port: number | undefined

/** A port that later services of this process have too: the browser keeps the app of an address. */
export async function findPort(): Promise<number> {
  // Below those that systems give to programs that ask for any port, and 20 for each of neighbouring processes.
  port ??= 20_000 + (process.pid % 500) * 20
  while (!(await isFree(port))) port++
  return port
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return true
  } catch {
    return false
  } finally {
    if (server.listening) await once(server.close(), 'close')
  }
}

/** A page that no test has. It is empty, or shows no page of the app of a service (`origin`) with these cookies. */
type Idle = { page: Page; options: string; origin?: string; cookies?: string }

// A new page starts three processes, each of which compiles the app: that takes longer than most tests.
const idle: Idle[] = []

const cookiesOf = async (page: Page, origin: string) =>
  (await page.context().cookies(origin)).map(({ name, value }) => `${name}=${value}`).join('; ')

type Wanted = {
  options: BrowserContextOptions
  origin: string
  /** Name and value, if somebody is signed in. */
  cookie: string
  /** The same of the owner, whose pages later tests will use. */
  owner: string
  /** Whether the app has to be loaded. */
  load: boolean
}

/**
 * A page with these options, which is as if it were new. If it shows the app with the same session, the app is made to
 * start again: that takes a quarter of a page load.
 */
export async function takePage(browser: Browser, { options, origin, cookie, owner, load }: Wanted) {
  const fitting = idle.filter((one) => one.options === JSON.stringify(options))
  const runs = (one: Idle) => !load && one.origin === origin && one.cookies === cookie
  const isForAnybody = (one: Idle) => cookie === owner || one.origin !== origin || one.cookies !== owner
  const found = fitting.find(runs) ?? fitting.find((one) => !one.origin) ?? fitting.find(isForAnybody)
  if (!found) {
    const context = await browser.newContext(options)
    return { page: await context.newPage(), runs: false }
  }
  idle.splice(idle.indexOf(found), 1)
  if (runs(found)) return { page: found.page, runs: true }
  if (found.origin) await forget(found)
  return { page: found.page, runs: false }
}

/** Puts a page aside for the next test with these options. Its app keeps running if `keep` is true. */
export async function returnPage(page: Page, origin: string, options: BrowserContextOptions, keep: boolean) {
  const context = page.context()
  const others = context.pages().filter((other) => other !== page)
  await Promise.all(others.map((other) => other.close()))
  if (page.isClosed()) return context.close()
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.mouse.move(0, 0)
  // A test may have changed its size, and another file may get it.
  if (options.viewport) await page.setViewportSize(options.viewport)
  await page.emulateMedia({ colorScheme: null })
  const left: Idle = { page, options: JSON.stringify(options), origin }
  if (keep && (await leaveApp(page))) left.cookies = await cookiesOf(page, origin)
  else await forget(left)
  idle.push(left)
}

/** Leaves the page for an empty one of the same origin and policy, so in the same process, and removes what it stored. */
async function forget(left: Idle) {
  const { page, origin = '' } = left
  const empty = `${origin}/empty`
  await page.route(empty, (route) =>
    route.fulfill({ contentType: 'text/html', headers: { 'cross-origin-opener-policy': 'same-origin' } }),
  )
  await page.goto(empty)
  await page.unrouteAll()
  await page.evaluate('sessionStorage.clear()')
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  await page.context().clearCookies()
  delete left.origin
  delete left.cookies
}

/**
 * Leaves all pages of the app for an unknown address, which takes down whatever is open, and removes what it stored.
 * False if something would stay: then the app has to be loaded again.
 */
const leaveApp = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    const {
      __TSR_ROUTER__: router,
      document,
      localStorage,
      sessionStorage,
      requestAnimationFrame,
    } = globalThis as any
    // The colours of the app are chosen when it starts.
    if (!router || localStorage.getItem('mantine-color-scheme-value')) return false
    router.history.push('/nowhere')
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    while (document.querySelector('.frame')) await frame()
    // Toasts are plain where their program came late.
    const closing = [
      ...document.querySelectorAll('.mantine-Notification-closeButton, .plain-toast > .icon-button'),
    ]
    for (const button of closing) button.click()
    while (closing.some((button) => button.isConnected)) await frame()
    if (document.querySelector('.mantine-Notification-root, .plain-toast, [role=dialog]')) return false
    router.options.context.client.clear()
    localStorage.clear()
    sessionStorage.clear()
    return true
  })

/** Shows another screen in an open page, as a link does, and resolves when it is rendered: a page load takes longer. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(async (path) => {
    const { __TSR_ROUTER__: router, requestAnimationFrame } = globalThis as any
    router.history.push(path)
    const shown = () =>
      router.state.status === 'idle' && router.state.resolvedLocation?.href === router.latestLocation.href
    while (!shown()) await new Promise((drawn) => requestAnimationFrame(drawn))
  }, path)
}
