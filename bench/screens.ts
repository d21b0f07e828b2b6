import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startBrowser } from '../test/browser.ts'
import type { Databases } from './databases.ts'
import { head, line } from './record.ts'
import { words } from './seed.ts'
import { program, startRapport } from './servers.ts'

// The web app in Chromium: how long a slow device on a slow line waits for the records of a page, and how long a fast one
// waits for another page of a long list.

const cpu_slowdown = 4
// Lighthouse's fast 3G.
const line_of_3g = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const no_limit = { downloadThroughput: -1, uploadThroughput: -1 }
const pages: [name: string, path: string, most_ms: number][] = [
  ['Home', '/', 2500],
  ['contacts', '/contacts', 2500],
  ['a contact', '/contacts/1', 4000],
  ['companies', '/companies', 4000],
  ['the board of deals', '/deals', 4000],
  ['the table of deals', '/deals?view=table', 4000],
  ['activities', '/activities', 4000],
  ['the calendar', '/calendar', 4000],
  ['reports', '/reports', 4000],
  ['the delivery log', '/settings/deliveries', 4000],
  ['members', '/settings/members', 4000],
]
const longest_ms = 20_000

// Without Playwright, which enables the protocol's Runtime domain. With it, V8 parses a script again when an error is made,
// which React does at its start: 50 ms of processor time that no user has.
type Page = Awaited<ReturnType<typeof startBrowser>>

// Functions of the page. `until` resolves to the time at which the frame has been painted for which a condition holds.
const functions = `
  window.until = (holds, what) => new Promise((resolve, reject) => {
    const look = () => {
      if (holds()) requestAnimationFrame(() => resolve(performance.now()))
      else if (performance.now() > end) reject(new Error(\`\${what} did not come: \${location.pathname}\`))
      else requestAnimationFrame(look)
    }
    const end = performance.now() + ${longest_ms}
    look()
  })
  window.isDrawn = () => document.querySelector('#content :is(h1, h2)') &&
    !document.querySelector('#content :is([aria-busy=true], .mantine-Skeleton-root, [data-waiting])')
  window.drawn = until(isDrawn, 'The page')
  window.firstRow = () => document.querySelector('#content tr[data-row-id]')?.dataset.rowId
`

/** Resolves to the milliseconds from a click on the button of the pager until other rows are drawn. */
const pageTurned = `(async () => {
  const before = firstRow()
  const start = performance.now()
  document.querySelector('.pager button:last-of-type').click()
  return await until(() => firstRow() !== before && isDrawn(), 'The next page') - start
})()`

/** Resolves when the browser has stored the requests of a page. */
const remembered = (path: string) => `until(() =>
  ${JSON.stringify(path)} in (JSON.parse(localStorage.getItem('rapport-reads') ?? '{}').pages ?? {}), 'The requests')`

/** Selects the text of the search, so that the next input replaces it. */
const searchSelected = `(() => {
  const search = document.querySelector('#content input[type=search]')
  search.focus()
  search.select()
})()`

/** Resolves to the milliseconds from the request of a search until its rows are drawn. */
const searched = (text: string) => `(async () => {
  const asked = () => performance.getEntriesByType('resource').findLast(({ name }) =>
    name.includes('/api/v1/contacts?') && new URL(name).searchParams.get('search') === ${JSON.stringify(text)})
  const end = await until(() => asked() && isDrawn(), 'The answer of a search')
  return end - asked().startTime
})()`

/** Returns the table of first screens and of a long list. */
export async function measureScreens(
  databases: Databases,
  { contacts, rounds }: { contacts: number; rounds: number },
): Promise<string[]> {
  const filled = await databases.fill('screens', contacts)
  const server = await startRapport(filled)
  const origin = `http://127.0.0.1:${server.port}`
  const run = (...command: string[]) =>
    execFileSync(process.execPath, [program, ...command], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { PATH: process.env.PATH, ...filled.env },
      encoding: 'utf8',
    })
  const cookie = await signUp(origin, run('setup-link'))
  run('seed', '--add')
  const page = await startBrowser()
  try {
    const size = { width: 1440, height: 900, deviceScaleFactor: 1, mobile: false }
    await page.send('Emulation.setDeviceMetricsOverride', size)
    await page.send('Emulation.setLocaleOverride', { locale: 'en-GB' })
    await page.send('Page.enable')
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: functions })
    const [name = '', value = ''] = cookie.split('=')
    await page.send('Network.setCookie', { name, value, url: origin })
    return [
      ...head('page', 'first screen or answer (median)'),
      ...(await firstScreens(page, origin, rounds)),
      ...(await longList(page, origin, rounds * 2)),
    ]
  } finally {
    await page.close()
    await server.stop()
  }
}

/** Makes the first account; resolves to its cookie. */
async function signUp(origin: string, link: string): Promise<string> {
  const token = /#(\S+)/.exec(link)?.[1]
  const person = { name: 'Olivia Owner', email: 'olivia@example.test', password: 'correct horse battery' }
  const answer = await fetch(`${origin}/api/v1/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...person, token, workspace_name: 'Bench', time_zone: 'Europe/Berlin' }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const ms = (n: number) => `${Math.round(n)} ms`

/** Loads pages without a cache, as after an update of Rapport, on a slow device and a slow line. */
async function firstScreens(page: Page, origin: string, rounds: number): Promise<string[]> {
  // The browser has been used before: it remembers the session and the requests of each page.
  for (const [, path] of pages) {
    await page.goto(origin + path)
    await page.evaluate('drawn')
    await page.evaluate(remembered(path))
  }
  await page.send('Network.enable')
  await page.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.send('Network.emulateNetworkConditions', line_of_3g)
  await page.send('Emulation.setCPUThrottlingRate', { rate: cpu_slowdown })
  const lines: string[] = []
  for (const [name, path, most] of pages) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      await page.goto('about:blank')
      await page.goto(origin + path)
      times.push(await page.evaluate<number>('drawn'))
    }
    lines.push(line([name], times, { most }, ms))
  }
  await page.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.send('Network.emulateNetworkConditions', { ...line_of_3g, latency: 0, ...no_limit })
  await page.send('Network.disable')
  return lines
}

/** Turns pages of a long list, and searches in it, on a fast device and line. */
async function longList(page: Page, origin: string, rounds: number): Promise<string[]> {
  await page.goto('about:blank')
  await page.goto(`${origin}/contacts`)
  await page.evaluate('drawn')
  const turned: number[] = []
  for (let round = 0; round < rounds; round++) turned.push(await page.evaluate<number>(pageTurned))
  const found: number[] = []
  // A word that was searched before would be answered from the cache.
  for (const word of words.slice(0, rounds)) {
    await page.evaluate(searchSelected)
    await page.send('Input.insertText', { text: word })
    found.push(await page.evaluate<number>(searched(word)))
  }
  return [
    line(['next page of contacts'], turned, { most: 200 }, ms),
    line(['search of contacts, from the request'], found, { most: 150 }, ms),
  ]
}
