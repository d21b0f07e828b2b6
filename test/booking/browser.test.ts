// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { ana, type Made, makePage, timesOf, visitor } from '../booking.ts'
import { type Rapport, startRapport, turnableClock } from '../harness.ts'
import { leaveBrowser, openBrowser } from '../web/pages.ts'

const phone = { viewport: { width: 390, height: 844 }, locale: 'en-GB', timezoneId: 'Europe/Berlin' }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let rapport: Rapport
let browser: Browser
before(async () => {
  rapport = await startRapport({ clock: turnableClock() })
  browser = await openBrowser()
})
after(async () => {
  await leaveBrowser(rapport.url)
  await rapport.close()
})

/** A page of a browser. It fails the test if one of its scripts fails, or if it sends a request to another server. */
async function open(t: { after(work: () => Promise<void>): void }, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ ...phone, ...options })
  const complaints: string[] = []
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The answers 409 and 422 are what these tests ask for.
    if (message.type() === 'error' && !/status of (409|422)/.test(message.text()))
      complaints.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(rapport.url) && !request.url().startsWith('data:'))
      complaints.push(`asked ${request.url()}`)
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  return page
}

/** Nothing serious for people who see, hear or move otherwise, in both colour schemes; nothing wider than the screen. */
async function check(page: Page) {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // The page's policy lets no other script in: this one comes by the debugger.
    await page.evaluate(axe)
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as Made
      const found = await axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      })
      return found.violations.map(({ id, impact, nodes }: Made) => `${impact} ${id}: ${nodes[0].html}`)
    })
    assert.deepEqual(violations, [], `${page.url()} ${colorScheme}`)
  }
  const [wide, small] = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as unknown as Made
    const targets = [...document.querySelectorAll('main :is(a, button, select, input:not([type=hidden]))')]
    const seen = targets.filter(
      (element: Made) => !element.closest('.unseen, .problems') && element.offsetParent,
    )
    return [
      document.documentElement.scrollWidth > innerWidth,
      seen
        .filter((element: Made) => (element.closest('label') ?? element).getBoundingClientRect().height < 44)
        .map((element: Made) => element.outerHTML),
    ]
  })
  assert.equal(wide, false)
  assert.deepEqual(small, [])
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = (globalThis as unknown as Made).document
    return element.id || element.textContent.trim().slice(0, 60) || element.name
  })

/** Presses Tab until what has the focus is called so; the focus is seen at each stop. */
async function tabTo(page: Page, name: string) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(() => {
      const { document, getComputedStyle } = globalThis as unknown as Made
      const { activeElement: element, body } = document
      return element === body ? 'body' : getComputedStyle(element).outlineStyle
    })
    assert.ok(['solid', 'body'].includes(outline), `no focus is seen: ${await focused(page)}`)
    if ((await focused(page)) === name) return
  }
  assert.fail(`Tab does not lead to ${name}`)
}

async function appointmentsOf({ id }: { id: number }): Promise<Made[]> {
  return (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${id}`)).body.data
}

test('on a phone, by keyboard alone: choose a day and a time, mend the form, book, move, cancel; axe finds nothing', async (t) => {
  const made = await makePage(rapport, { slug: 'keys', description: 'By keyboard.\n\nWith axe.' })
  const page = await open(t)
  await page.goto(`${rapport.url}/book/keys`)
  await check(page)

  await tabTo(page, 'd25')
  await page.keyboard.press('Enter')
  await page.waitForURL(/day=2026-11-25/)
  assert.equal(await focused(page), 'day')
  assert.equal(await page.textContent('#day'), 'Wednesday 25 November')
  await check(page)
  await tabTo(page, '10:30')
  await page.keyboard.press('Enter')
  await page.waitForURL(/slot=/)
  await check(page)

  await tabTo(page, 'first_name')
  await page.keyboard.type('Ana')
  await tabTo(page, 'email')
  await page.keyboard.type('ana.ruiz')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.problems')
  assert.match(await focused(page), /^2 things need a change/)
  await check(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  assert.equal(await focused(page), 'last_name')
  await page.keyboard.type('Ruiz')
  await tabTo(page, 'email')
  await page.keyboard.press('End')
  await page.keyboard.type('@acme.example')

  // Meanwhile somebody else takes the time.
  await visitor(rapport.url).post('/book/keys', {
    ...ana,
    email: 'quick@acme.example',
    slot: '2026-11-25T09:30:00.000Z',
  })
  await page.keyboard.press('Enter')
  await page.waitForSelector('.options')
  assert.match(await focused(page), /^This time is no longer free/)
  await check(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await tabTo(page, 'Book this time')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/a\//)
  assert.match(
    await page.innerText('main'),
    /You are booked\s+What\s+Product demo\s+When\s+Wednesday,? 25 November 2026\n11:30–12:00/,
  )
  await check(page)

  await tabTo(page, 'Move')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/move/)
  await check(page)
  await tabTo(page, 'next')
  await page.keyboard.press('Enter')
  await page.waitForURL(/month=2026-12/)
  assert.equal(await focused(page), 'next')
  assert.equal(await page.textContent('#said'), 'December 2026')
  await tabTo(page, '09:00')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Move this appointment?')
  await check(page)
  await tabTo(page, 'Move to this time')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=You are booked')
  await tabTo(page, 'Cancel appointment')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#reason')
  await check(page)
  await tabTo(page, 'reason')
  await page.keyboard.type('Ill')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=This appointment is cancelled')
  await check(page)

  const [appointment] = await appointmentsOf(made)
  const { start_at, status, cancel_reason } = appointment
  assert.deepEqual([start_at, status, cancel_reason], ['2026-12-01T08:00:00.000Z', 'cancelled', 'Ill'])
})

test('without a script the whole job is done by links and forms, in the zone that is chosen', async (t) => {
  const made = await makePage(rapport, { slug: 'plain' })
  const page = await open(t, { javaScriptEnabled: false, timezoneId: 'America/New_York' })
  await page.goto(`${rapport.url}/book/plain`)
  assert.match(await page.innerText('.zone option:checked'), /Europe\/Berlin \(GMT\+1\)/)
  await page.click('#next')
  assert.equal(await page.innerText('#month'), 'December 2026')
  await page.selectOption('#zone', 'Asia/Tokyo')
  await page.click('text=Change')
  await page.click('.slots button')
  for (const [name, value] of Object.entries(ana)) await page.fill(`#${name}`, value)
  await page.click('text=Book this time')
  assert.match(
    await page.innerText('main'),
    /Tuesday,? 1 December 2026\n00:00–00:30 Asia\/Tokyo \(GMT\+9\)\n16:00–16:30 Europe\/Berlin, Monday,? 30 November/,
  )
  await page.reload()
  await page.click('text=Move')
  await page.click('.slots button >> nth=3')
  await page.click('text=Move to this time')
  await page.click('text=Cancel appointment')
  await page.click('button.danger')
  assert.match(await page.innerText('h1'), /cancelled/)
  const appointments = await appointmentsOf(made)
  assert.deepEqual(
    appointments.map(({ status }) => status),
    ['cancelled'],
  )
})

test("with a script the times are in the visitor's own zone, also while one zone has changed its clocks and the other not", async (t) => {
  const open_at = [{ from: '14:00', to: '15:00' }]
  const dates = ['2027-03-12', '2027-03-15', '2027-03-29']
  await makePage(rapport, {
    slug: 'zones',
    availability: {},
    horizon_days: 200,
    date_overrides: Object.fromEntries(dates.map((date) => [date, open_at])),
  })
  const page = await open(t, { timezoneId: 'America/New_York', locale: 'en-US' })
  await page.goto(`${rapport.url}/book/zones`)
  // Without another page in the history.
  await page.waitForURL(/zone=America%2FNew_York/)
  assert.equal(await page.evaluate(() => (globalThis as unknown as Made).history.length), 2)
  const shown = async () => (await page.innerText('.slots')).replaceAll(/\s+/g, ' ')
  // New York changes on 14 March, Berlin on 28 March.
  assert.equal(await shown(), '8:00 AM 8:30 AM')
  await page.click('#d15')
  await page.waitForURL(/day=2027-03-15/)
  assert.equal(await shown(), '9:00 AM 9:30 AM')
  await page.click('#d29')
  await page.waitForURL(/day=2027-03-29/)
  assert.equal(await shown(), '8:00 AM 8:30 AM')
  await page.goBack()
  await page.waitForFunction(() =>
    (globalThis as unknown as Made).document.getElementById('day').textContent.includes('15'),
  )
  assert.equal(await shown(), '9:00 AM 9:30 AM')
  await page.selectOption('#zone', 'Europe/Berlin')
  await page.click('#change')
  await page.waitForURL(/zone=Europe%2FBerlin/)
  assert.equal(await focused(page), 'change')
  assert.equal(await shown(), '2:00 PM 2:30 PM')
  await page.selectOption('#zone', 'America/New_York')
  await page.click('#change')
  await page.waitForURL(/zone=America%2FNew_York/)
  await page.click('.slots button')
  for (const [name, value] of Object.entries(ana)) await page.fill(`#${name}`, value)
  await page.dblclick('text=Book this time')
  // The second click takes the place of the first one's navigation, wherever that is.
  await page.getByText('Add to calendar').waitFor()
  assert.match(page.url(), /\/a\//)
  assert.match(await page.innerText('main'), /March 15, 2027\s+9:00\s–\s9:30\sAM America\/New York \(GMT-4\)/)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Add to calendar')])
  assert.match(readFileSync(await download.path(), 'utf8'), /DTSTART:20270315T130000Z/)
})

test('the zone is chosen by keyboard on the closed list, key by key, and changed once, by the button', async (t) => {
  await makePage(rapport, { slug: 'list' })
  const page = await open(t)
  await page.goto(`${rapport.url}/book/list`)
  const entries = () => page.evaluate(() => (globalThis as unknown as Made).history.length)
  const before = await entries()
  await page.focus('#zone')
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  // At once: after a pause of 1 s, the browser takes a key for the first letter of another name.
  await Promise.all([...'Pacific/Auck'].map((key) => page.keyboard.press(key)))
  assert.deepEqual(
    [await page.inputValue('#zone'), await focused(page), await entries()],
    ['Pacific/Auckland', 'zone', before],
  )
  assert.match(page.url(), /\/book\/list$/)
  await tabTo(page, 'change')
  await page.keyboard.press('Enter')
  await page.waitForURL(/zone=Pacific%2FAuckland/)
  assert.deepEqual([await focused(page), await entries()], ['change', before + 1])
  assert.equal(await page.inputValue('#zone'), 'Pacific/Auckland')
  assert.equal((await page.innerText('.slots button >> nth=0')).trim(), '21:00')
})

test('what has the focus keeps it while the page becomes that of the zone, and on the way back and forth', async (t) => {
  await makePage(rapport, { slug: 'focus' })
  const page = await open(t, { timezoneId: 'America/New_York' })
  let go = () => {}
  const allowed = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route('**/book/focus?*', async (route) => {
    await allowed
    await route.continue()
  })
  await page.goto(`${rapport.url}/book/focus`)
  await tabTo(page, 'd24')
  go()
  await page.waitForURL(/zone=America%2FNew_York/)
  assert.equal(await focused(page), 'd24')
  await page.keyboard.press('Enter')
  await page.waitForURL(/day=2026-11-24/)
  assert.equal(await focused(page), 'day')
  await page.focus('#next')
  await page.keyboard.press('Enter')
  await page.waitForURL(/month=2026-12/)
  assert.equal(await focused(page), 'next')
  const turn = async (way: 'goBack' | 'goForward', words: string, focus: string) => {
    await page[way]()
    await page.waitForFunction(
      ({ words, focus }) => {
        const { document } = globalThis as unknown as Made
        return (
          document.getElementById('day').textContent.includes(words) && document.activeElement.id === focus
        )
      },
      { words, focus },
    )
  }
  await turn('goBack', 'Tuesday 24 November', 'next')
  await turn('goBack', 'Monday 23 November', 'd24')
  await turn('goForward', 'Tuesday 24 November', 'next')
  await turn('goForward', 'Tuesday 1 December', 'next')
})

test('on a wide screen, without a zone, with long words and without free times, axe finds nothing either', async (t) => {
  const long = 'Donaudampfschifffahrtsgesellschaftskapitän '.repeat(5).trim().replaceAll(' ', '')
  await makePage(rapport, { slug: 'long', title: long.slice(0, 200), description: `${long}\n${long}` })
  await makePage(rapport, { slug: 'full', availability: {} })
  const page = await open(t)
  for (const path of ['/book/long', '/book/full']) {
    await page.goto(rapport.url + path)
    await check(page)
  }
  const [slot] = timesOf((await visitor(rapport.url).get('/book/long')).text)
  const { location } = await visitor(rapport.url).post('/book/long', { ...ana, slot: String(slot) })
  await page.goto(rapport.url + location)
  await check(page)
  const wide = await open(t, { viewport: { width: 1280, height: 900 } })
  await wide.goto(`${rapport.url}/book/long?zone=Asia/Tokyo`)
  await check(wide)
})

test('on a wide screen every step has the same width', async (t) => {
  await makePage(rapport, { slug: 'calm' })
  const page = await open(t, { viewport: { width: 1440, height: 900 } })
  const edges: [left: number, right: number][] = []
  const measure = async () => {
    const box = await page.locator('main').boundingBox()
    assert.ok(box)
    edges.push([box.x, box.x + box.width])
  }
  await page.goto(`${rapport.url}/book/calm`)
  await measure()
  await page.click('.slots button')
  await page.waitForURL(/slot=/)
  await check(page)
  await measure()
  await page.click('text=Book this time')
  await page.waitForSelector('.problems')
  await check(page)
  await measure()
  for (const [name, value] of Object.entries(ana)) await page.fill(`#${name}`, value)
  await page.click('text=Book this time')
  await page.waitForURL(/\/a\//)
  await measure()
  await page.click('text=Move')
  await page.waitForURL(/\/move/)
  await measure()
  await page.click('.slots button')
  await page.waitForSelector('text=Move this appointment?')
  await measure()
  assert.deepEqual(edges, Array(6).fill(edges[0]))
})

test('a phone shows the whole name of a time zone, with its offset', async (t) => {
  const made = await makePage(rapport)
  const page = await open(t)
  for (const zone of ['Australia/Melbourne', 'America/North_Dakota/New_Salem']) {
    await page.goto(`${rapport.url}/book/${made.slug}?zone=${zone}`)
    const [text, shown, room] = await page.locator('#zone').evaluate((one) => {
      const { window } = globalThis as unknown as Made
      const style = window.getComputedStyle(one)
      const pen = window.document.createElement('canvas').getContext('2d')
      pen.font = style.font
      pen.letterSpacing = style.letterSpacing
      const text = (one as unknown as Made).selectedOptions[0].text
      // The arrow takes as much as the text is high, and Chromium keeps 4 px before the text.
      const edges = [style.paddingLeft, style.paddingRight, style.fontSize, '4px'].map(Number.parseFloat)
      return [text, pen.measureText(text).width, edges.reduce((left, px) => left - px, one.clientWidth)]
    })
    assert.match(text, new RegExp(`^${zone.replaceAll('_', ' ')} \\(GMT[+-]\\d+\\)$`))
    assert.ok(shown <= room, `${text}: ${shown} px in ${room} px`)
  }
})
