// runs: once
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { ana, fieldOf, type Made, openPage, timesOf } from '../booking.ts'
import { dataOf, problems } from '../envelope.ts'
import { type Rapport, startRapport, turnableClock } from '../harness.ts'
import { leaveBrowser, openBrowser } from '../web/pages.ts'

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
const slot = '2026-11-23T09:00:00.000Z'
const bookingsOf = async ({ id }: Made): Promise<Made[]> =>
  dataOf(await rapport.call('GET', `/api/v1/appointments?booking_page_id=${id}&sort=created_at`))

describe('durations', () => {
  const lengths = { durations: [30, 60], time_zone: 'UTC' }

  test('have duration_minutes among them, each once', async () => {
    const wrong = async (fields: object) => {
      const body = { slug: 'wrong', title: 'x', time_zone: 'UTC', ...fields }
      return problems(await rapport.call('POST', '/api/v1/booking-pages', body))
    }
    assert.deepEqual(await wrong({ durations: [60] }), { durations: 'invalid_value' })
    assert.deepEqual(await wrong({ durations: [30, 4] }), { 'durations.1': 'out_of_range' })
    assert.deepEqual((await openPage(rapport, { durations: [60, 30, 60] })).page.durations, [60, 30])
  })

  test('a visitor chooses one; its slots, form and appointment have it, and a move keeps it', async () => {
    const { page, path, get, post } = await openPage(rapport, lengths)
    const chooser = (await get(path)).text
    assert.match(chooser, /duration=30[^>]*aria-current="true"[^>]*>30 minutes/)
    const hour = (await get(`${path}?duration=60`)).text
    assert.equal(timesOf(hour).length, 8)
    assert.match(hour, /<input type="hidden" name="duration" value="60">/)
    const form = (await get(`${path}?duration=60&slot=${slot}`)).text
    assert.equal(fieldOf(form, 'duration'), '60')
    const { location } = await post(path, { ...ana, slot, duration: '60' })
    const [made] = await bookingsOf(page)
    assert.deepEqual([made.start_at, made.end_at], [slot, '2026-11-23T10:00:00.000Z'])
    const link = location.split('?')[0] as string
    const to = '2026-11-23T11:00:00.000Z'
    assert.equal(fieldOf((await get(`${link}/move?slot=${to}`)).text, 'duration'), '60')
    await post(`${link}/move`, { slot: to, duration: '60' })
    assert.equal((await bookingsOf(page))[0].end_at, '2026-11-23T12:00:00.000Z')
    const slots = await rapport.call('GET', `/api/v1/booking-pages/${page.id}/slots?duration=60`)
    assert.equal(dataOf(slots)[0].end_at, '2026-11-23T10:00:00.000Z')
  })

  test('another one is 422, on the page and in both lists', async () => {
    const { page, path, get } = await openPage(rapport, lengths)
    for (const wrong of ['45', 'x']) assert.equal((await get(`${path}?duration=${wrong}`)).status, 422)
    for (const list of [`/api/v1/booking-pages/${page.id}/slots`, `${path}/slots`])
      assert.equal((await rapport.call('GET', `${list}?duration=45`)).status, 422)
  })
})

describe('a page of another origin', () => {
  test('is named as an origin without a path; http is for this machine', async () => {
    for (const origin of [
      'https://x.example/',
      'https://*.example',
      'http://x.example',
      'x.example',
      'https://x.example/a',
    ]) {
      const body = { slug: 'framed', title: 'x', time_zone: 'UTC', embed_origins: [origin] }
      const found = problems(await rapport.call('POST', '/api/v1/booking-pages', body))
      assert.deepEqual(found, { 'embed_origins.0': 'invalid_format' }, origin)
    }
  })

  test('may show the choosing and the form page in a frame, and no other page', async () => {
    const { page, path, get, post } = await openPage(rapport, { embed_origins: ['https://www.example.com'] })
    const allowed = /frame-ancestors 'self' https:\/\/www\.example\.com/
    const policyOf = ({ headers }: { headers: Headers }) => String(headers.get('content-security-policy'))
    assert.match(policyOf(await get(path)), allowed)
    assert.match(policyOf(await get(`${path}?slot=${slot}`)), allowed)
    assert.match(policyOf(await post(path, { slot })), allowed)
    const { location } = await post(path, { ...ana, slot })
    assert.doesNotMatch(policyOf(await get(location)), allowed)
    assert.doesNotMatch(policyOf(await get('/book/nothing-here')), allowed)
    assert.deepEqual(page.embed_origins, ['https://www.example.com'])
  })

  test('in Chromium, a named origin books in the frame up to a page that changes nothing; another one sees nothing', async (t) => {
    const site = createServer((request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<iframe width="400" height="900" src="${rapport.url}${request.url}"></iframe>`)
    })
    await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done))
    t.after(() => site.close())
    // Another port is another origin.
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    const { page, path } = await openPage(rapport, { embed_origins: [origin], time_zone: 'UTC' })
    const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB' })
    t.after(() => context.close())
    const tab = await context.newPage()
    await tab.goto(`${origin}${path}`)
    const frame = tab.frameLocator('iframe')
    await frame.locator('.slots button').first().click()
    for (const name of ['first_name', 'last_name', 'email'] as const)
      await frame.locator(`#${name}`).fill(ana[name])
    await frame.getByRole('button', { name: 'Book this time' }).click()
    const link = frame.getByRole('link', { name: 'Open your private page' })
    await link.waitFor()
    assert.equal(await frame.locator('form').count(), 0)
    assert.equal((await bookingsOf(page)).length, 1)
    const opened = context.waitForEvent('page')
    await link.click()
    await (await opened).getByRole('link', { name: 'Cancel appointment' }).waitFor()

    const closed = await openPage(rapport, { embed_origins: ['https://www.example.com'], time_zone: 'UTC' })
    const refusal = tab.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
    await tab.goto(`${origin}${closed.path}`)
    await refusal
    assert.equal(await tab.frameLocator('iframe').locator('.slots').count(), 0)
  })
})
