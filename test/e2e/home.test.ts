// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { checkScreen, phone, settled, untilEqual, useWeb, visit, type Web } from '../web.ts'
import { until } from '../webhooks.ts'

const empty = useWeb()
const web = useWeb()
before(async () => {
  await fillWorkspace(web.rapport)
})

const report = async (name: string) => (await web.rapport.call('GET', `/api/v1/reports/${name}`)).body.data
const money = (value: number) =>
  new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: 'EUR',
    maximumFractionDigits: 0,
  }).format(value)
const rowOf = async (page: Page, table: string, name: string) =>
  (
    await page
      .getByRole('table', { name: table })
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name }) })
      .locator('td:not([aria-hidden])')
      .allInnerTexts()
  ).map((text) => text.trim())

test('the numbers of the home page are those of the reports', async (t) => {
  const pipeline = await report('pipeline')
  const outcomes = await report('outcomes?months=12&time_zone=Europe/Berlin')
  const page = await web.open(t, '/', { allow: /status of 500/ })
  const names = ['New lead', 'Qualification', 'Demo', 'Proposal', 'Negotiation', 'Verbal commitment']
  await page.getByRole('table', { name: 'Pipeline by stage' }).waitFor()
  for (const [index, name] of names.entries()) {
    const { value, weighted_value, count } = pipeline.stages[index]
    assert.deepEqual(await rowOf(page, 'Pipeline by stage', name), [
      money(value),
      money(weighted_value),
      String(count),
    ])
  }
  const { value, weighted_value, count } = pipeline.total_open
  assert.deepEqual(await rowOf(page, 'Pipeline by stage', 'Total'), [
    money(value),
    money(weighted_value),
    String(count),
  ])
  const figures = [
    money(value),
    money(weighted_value),
    `${Math.round(outcomes.win_rate * 1000) / 10}%`,
    money(outcomes.months.at(-1).won_value),
  ]
  await until(
    () => page.locator('.home-number').allInnerTexts(),
    (shown) => isDeepStrictEqual(shown, figures),
  )
  // The chart says its sum, and its table every month.
  await page
    .getByRole('img', { name: /Won and lost by month\. In 12 months: won €16,851, lost €7,151\./ })
    .waitFor()
  await page.getByText('Show as a table').click()
  const months = page.getByRole('table', { name: 'Won and lost by month' }).getByRole('row')
  await untilEqual(() => months.count(), 13)
  const { won_value, won_count, lost_value, lost_count } = outcomes.months.at(-1)
  assert.deepEqual(
    (await months.nth(1).getByRole('cell').allInnerTexts()).map((text) => text.trim()),
    [money(won_value), String(won_count), money(lost_value), String(lost_count)],
  )
  // A stage leads to its deals alone.
  await page.getByRole('link', { name: 'Proposal' }).click()
  const deals = page.getByRole('table', { name: 'Deals' }).locator('tbody tr')
  await until(
    () => deals.count(),
    (rows) => rows === pipeline.stages[3].count,
  )
  // A report that fails does not leave a spinner.
  await page.route('**/api/v1/reports/pipeline', (route) => route.fulfill({ status: 500, body: '' }))
  await page.goto(web.rapport.url)
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
  const [open, forecast] = await page.locator('.home-number').allInnerTexts()
  assert.deepEqual([open, forecast], ['–', '–'])
})

test('the figures of the home page lead to their deals, and the counts to the activities of the person', async (t) => {
  const { body } = await web.rapport.call('GET', '/api/v1/members')
  const olivia = body.data[0].id
  await joinAs(web.rapport, 'nils@example.test', 'member', { name: 'Nils' })
  const members = (await web.rapport.call('GET', '/api/v1/members')).body.data
  const nils = members.find(({ id }: { id: string }) => id !== olivia).id
  const due_at = new Date(Date.now() - 60_000).toISOString()
  for (const owner_id of [olivia, nils])
    await web.rapport.call('POST', '/api/v1/activities', { subject: 'Write the minutes', due_at, owner_id })
  const pipeline = await report('pipeline')
  const outcomes = await report('outcomes?months=1&time_zone=Europe/Berlin')
  const query = `owner_id=${olivia},null`
  const due = await report(`activities?time_zone=Europe/Berlin&${query}`)
  const all = await report('activities?time_zone=Europe/Berlin')
  assert.equal(due.overdue_count, all.overdue_count - 1)

  const page = await web.open(t)
  for (const [name, total] of [
    [/^Open pipeline: /, pipeline.total_open.count],
    [/^Weighted forecast: /, pipeline.total_open.count],
    [/^Won this month: /, outcomes.won_count],
    [`${due.overdue_count} overdue`, due.overdue_count],
    [`${due.today_count} today`, due.today_count],
  ] as const) {
    await page.getByRole('link', { name }).click()
    await until(
      () => page.locator('.page-title .numbers').allInnerTexts(),
      ([shown]) => shown === String(total),
    ).catch((error) => assert.fail(`${name} has not ${total}: ${error}`))
    await page.goBack()
  }
})

test('what a person may not read offers no second try', async (t) => {
  const page = await web.open(t, '/', { allow: /status of 403/ })
  await page.getByRole('table', { name: 'Pipeline by stage' }).waitFor()
  const error = { code: 'forbidden', message: 'This role may not read reports.', request_id: 'req_1' }
  const body = JSON.stringify({ success: false, error })
  const answer = { status: 403, contentType: 'application/json', body }
  await page.route('**/api/v1/reports/pipeline', (route) => route.fulfill(answer))
  await page.goto(web.rapport.url)
  await page.getByRole('alert').first().waitFor()
  await untilEqual(() => page.getByRole('button', { name: 'Try again' }).count(), 0)
})

test('an activity that is due is completed by one click, and comes back by Undo', async (t) => {
  const { body } = await web.rapport.call('POST', '/api/v1/activities', {
    subject: 'Ring the bell',
    due_at: new Date(Date.now() - 3600_000).toISOString(),
  })
  const page = await web.open(t)
  const link = page.getByRole('link', { name: 'Ring the bell' }).first()
  await link.waitFor()
  await page.getByRole('button', { name: 'Complete Ring the bell' }).click()
  await page.getByText('Ring the bell completed').waitFor()
  await page.getByRole('button', { name: 'Complete Ring the bell' }).waitFor({ state: 'detached' })
  const read = async () => (await web.rapport.call('GET', `/api/v1/activities/${body.data.id}`)).body.data
  await until(read, ({ completed_at }) => completed_at !== null)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Complete Ring the bell' }).waitFor()
  await until(read, { completed_at: null })
})

test('the latest events are sentences that lead to their records', async (t) => {
  const { body } = await web.rapport.call('POST', '/api/v1/deals', { name: 'Lighthouse', value: 4200 })
  await web.rapport.call('POST', `/api/v1/deals/${body.data.id}/change-stage`, { stage: 'won' })
  const page = await web.open(t)
  const events = page.getByRole('region', { name: 'Latest events' })
  await events.getByText('Deal Lighthouse was won: €4,200').waitFor()
  await events.getByText('Deal Lighthouse moved: from New lead to Won').waitFor()
  await events.getByText('Deal Lighthouse was created').waitFor()
  await events.getByRole('link', { name: 'Lighthouse' }).first().click()
  await page.waitForURL(`**/deals/${body.data.id}`)
})

test('an empty workspace shows its first steps, each with a link', async (t) => {
  const page = await empty.open(t)
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.waitFor()
  await untilEqual(
    () => steps.getByRole('button').allInnerTexts(),
    ['Create contact', 'Create deal', 'Set up', 'Invite', 'Create booking page', 'Create webhook'],
  )
  await checkScreen(page)
  // As all links, not as the browser shows one.
  const colour = await steps
    .getByRole('link', { name: 'Sample data' })
    .evaluate((link) => link.ownerDocument.defaultView?.getComputedStyle(link).color)
  assert.notEqual(colour, 'rgb(0, 0, 238)')
  await steps.getByRole('button', { name: 'Create contact' }).click()
  await page.waitForURL('**/contacts?create=1')
  await page.getByRole('dialog').getByRole('button', { name: 'Create contact' }).waitFor()
  await visit(page, '/')
  await steps.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByLabel('E-mail').waitFor()
  await visit(page, '/')
  await steps.getByRole('link', { name: 'Import contacts' }).click()
  await page.waitForURL(/imports\/new\?resource=contacts/)
  await visit(page, '/')
  await steps.getByRole('button', { name: 'Set up' }).click()
  await page.waitForURL('**/settings/stages')
  await visit(page, '/')
  await steps.getByRole('button', { name: 'Create booking page' }).click()
  await page.getByRole('dialog').getByLabel('Title').waitFor()
  const own_reasons = { lost_reasons: ['Price'] }
  assert.equal((await empty.rapport.call('PUT', '/api/v1/workspace/stages', own_reasons)).status, 200)
  const booking_page = { title: 'Demo', slug: 'first-steps', time_zone: 'Europe/Berlin' }
  assert.equal((await empty.rapport.call('POST', '/api/v1/booking-pages', booking_page)).status, 201)
  await visit(page, '/')
  // The settings of stages come with the session.
  await page.reload()
  await steps.getByRole('button', { name: 'Invite' }).waitFor()
  for (const name of ['Set up', 'Create booking page'])
    await steps.getByRole('button', { name }).waitFor({ state: 'detached' })
  // An invitation that nobody has accepted yet is enough.
  const invited = { email: 'ines@example.test', role: 'member' }
  assert.equal((await empty.rapport.call('POST', '/api/v1/invitations', invited)).status, 201)
  await visit(page, '/')
  await steps.getByRole('button', { name: 'Invite' }).waitFor({ state: 'detached' })
})

test('an empty list offers to import a file, but not to somebody who may not', async (t) => {
  const page = await empty.open(t)
  for (const [path, name] of [
    ['/contacts', 'Import contacts'],
    ['/companies', 'Import companies'],
    ['/deals', 'Import deals'],
  ] as const) {
    await visit(page, path)
    await page.getByRole('link', { name }).waitFor()
    await checkScreen(page)
  }
  const session = await joinAs(empty.rapport, 'rita@example.test', 'read_only')
  const reader = await empty.open(t, '/companies', { session })
  await reader.getByText('No companies').waitFor()
  assert.equal(await reader.getByRole('link', { name: /^Import/ }).count(), 0)
})

test('on a phone, a list of home is as high as its rows', async (t) => {
  const page = await web.open(t, '/', phone)
  await page.getByRole('region', { name: 'Latest events' }).waitFor()
  await settled(page)
  // On a busy machine the lists may have come late. At the next visit they are known.
  await visit(page, '/contacts')
  await visit(page, '/')
  for (const name of [
    'Overdue and today',
    'Next appointments',
    'Deals without a next step',
    'Deals that stand still',
  ]) {
    const list = page.getByRole('region', { name })
    await list.locator('ul').waitFor({ state: 'attached' })
    const space = await list.evaluate((card: any) => {
      const bottoms = [card, card.lastElementChild].map((one) => one.getBoundingClientRect().bottom)
      return bottoms[0] - bottoms[1]
    })
    assert.ok(space <= 13, `${name}: ${space}`)
  }
})

test('on a phone, the name of a deal of home has the whole width of its row', async (t) => {
  const page = await web.open(t, '/', phone)
  const list = page.getByRole('region', { name: 'Deals without a next step' })
  await list.getByRole('button').first().waitFor()
  const rows = await list.getByRole('listitem').evaluateAll((all: any[]) =>
    all.map((row) => {
      const name = row.querySelector('a').getBoundingClientRect()
      const { right } = row.getBoundingClientRect()
      return {
        left_over: right - name.right,
        beside: row.querySelector('button').getBoundingClientRect().top < name.bottom,
      }
    }),
  )
  for (const { left_over, beside } of rows) assert.deepEqual([Math.round(left_over), beside], [0, false])
})

test('Home begins with the appointment that runs now and its end, and leaves out one that has ended', async (t) => {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const make = (title: string, from: number, to: number) =>
    web.create('/appointments', { title, start_at: at(from), end_at: at(to) })
  await make('Ended', -60, -1)
  await make('Comes next', 5, 35)
  await make('Runs now', -30, 3)
  await make('Runs for days', -60 * 24 * 3, 60 * 24 * 3)
  const page = await web.open(t)
  const list = page.getByRole('region', { name: 'Next appointments' })
  await list.getByRole('link', { name: 'Runs now' }).waitFor()
  const rows = await list.getByRole('listitem').allInnerTexts()
  const shown = rows.slice(0, 3).map((row) => row.split(/\n+/).map((text) => text.trim()))
  assert.deepEqual(
    shown.map(([title]) => title),
    ['Runs for days', 'Runs now', 'Comes next'],
  )
  assert.deepEqual(
    shown.map((texts) => texts.at(-1)?.startsWith('Until ')),
    [true, true, false],
  )
  assert.ok(!rows.some((row) => row.includes('Ended')))
})

test('who may only read sees the numbers and cannot complete or create', async (t) => {
  const session = await readerOf(web)
  const page = await web.open(t, '/', { session })
  await page.getByRole('table', { name: 'Pipeline by stage' }).waitFor()
  await page.getByRole('region', { name: 'Overdue and today' }).getByRole('link').nth(1).waitFor()
  await untilEqual(() => page.getByRole('button', { name: /^Complete / }).count(), 0)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.getByRole('option', { name: /Go to Home/ }).waitFor()
  await untilEqual(() => page.getByRole('option', { name: /^Create / }).count(), 0)
})

/** The session of somebody who was invited to read. */
async function readerOf({ rapport, cookie }: Web): Promise<string> {
  const { url } = rapport
  const ask = (path: string, body: object, more = {}) =>
    fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    })
  const invited = await ask('/invitations', { email: 'rita@example.test', role: 'read_only' }, { cookie })
  const { data } = (await invited.json()) as { data: { url_path: string } }
  const token = new URL(data.url_path, url).hash.slice(1)
  const accepted = await ask('/invitations/accept', {
    token,
    name: 'Rita Reader',
    password: 'a long enough password',
  })
  assert.ok(accepted.ok, await accepted.clone().text())
  return accepted.headers.get('set-cookie') ?? ''
}

test('home is a plan: what is due with the people, deals without a next step and deals that stand still', async (t) => {
  const call = web.rapport.call
  const create = async (path: string, body: object) => (await call('POST', `/api/v1${path}`, body)).body.data
  const company = await create('/companies', { name: 'Donaudampfschifffahrtsgesellschaft Wien GmbH' })
  const contact = await create('/contacts', { first_name: 'Ana', last_name: 'Ruiz', company_id: company.id })
  const deal = await create('/deals', {
    name: 'Replace the booking tool of all branches',
    value: 753_505.2402,
    company_id: company.id,
  })
  await create('/activities', {
    subject: 'Ask Ana about the offer',
    type: 'call',
    contact_id: contact.id,
    company_id: company.id,
    due_at: new Date(Date.now() - 48 * 3600_000).toISOString(),
  })
  const page = await web.open(t)
  const tasks = page.getByRole('region', { name: 'Overdue and today' })
  const row = tasks.getByRole('listitem').filter({ hasText: 'Ask Ana about the offer' })
  await row.getByRole('link', { name: 'Ana Ruiz' }).waitFor()
  await row.getByRole('link', { name: company.name }).waitFor()

  // Planned in place, it leaves the list.
  const unplanned = page.getByRole('region', { name: 'Deals without a next step' })
  await unplanned.getByRole('button', { name: `Plan the next step of ${deal.name}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Subject').fill('Send the offer')
  await dialog.getByRole('button', { name: 'Create activity' }).click()
  await unplanned.getByText(deal.name).waitFor({ state: 'detached' })
  const { body } = await call('GET', `/api/v1/deals?progress=true&search=booking+tool`)
  assert.equal(body.data[0].next_activity.subject, 'Send the offer')

  // The link shows the same deals as a table, with the filter as a sentence.
  await unplanned.getByRole('link', { name: 'All' }).click()
  await page.getByRole('table', { name: 'Deals' }).waitFor()
  await page
    .getByText(/Next activity/)
    .first()
    .waitFor()
  await page.getByText(deal.name).waitFor({ state: 'detached' })
})

test('what came of an activity is said in its place, with the keys alone', async (t) => {
  const due_at = new Date(Date.now() - 96 * 3600_000).toISOString()
  const made = await web.rapport.call('POST', '/api/v1/activities', {
    subject: 'Talk about the price',
    due_at,
  })
  const { id } = made.body.data
  const page = await web.open(t)
  await page.getByRole('button', { name: 'Complete Talk about the price' }).focus()
  await page.keyboard.press('Enter')
  const outcome = page.getByRole('textbox', { name: 'What came of Talk about the price?' })
  await outcome.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Agrees to 5 %, signs on Friday')
  await page.keyboard.press('Enter')
  await outcome.waitFor({ state: 'detached' })
  const done = await until(
    async () => (await web.rapport.call('GET', `/api/v1/activities/${id}`)).body.data,
    (one) => one.outcome !== null,
  )
  assert.equal(done.outcome, 'Agrees to 5 %, signs on Friday')
  assert.ok(done.completed_at)
  // The focus is on the next one.
  await until(
    () => page.evaluate('document.activeElement.getAttribute("aria-label")') as Promise<string>,
    (label) => /^Complete /.test(label),
  )
})

test('a completed activity keeps its name while its outcome is written, and the next step is planned in the same box', async (t) => {
  const due_at = new Date(Date.now() - 144 * 3600_000).toISOString()
  const deal_id = await web.create('/deals', { name: 'Solar roof' })
  await web.create('/activities', { subject: 'Visit the roof', due_at, deal_id })
  const page = await web.open(t)
  await page.getByRole('button', { name: 'Complete Visit the roof' }).click()
  const box = page.locator('.home-outcome')
  await box.getByText('Visit the roof').waitFor()
  await box.getByRole('textbox', { name: 'What came of Visit the roof?' }).fill('Measured')
  await box.getByRole('textbox', { name: 'Next step' }).fill('Send the plan')
  await box.getByRole('textbox', { name: 'Due' }).fill('2031-02-03 10:00')
  await checkScreen(page)
  await page.keyboard.press('Enter')
  await box.waitFor({ state: 'detached' })
  const [done, next] = await until(
    () => web.read(`/activities?deal_id=${deal_id}&sort=created_at`),
    (all) => all.length === 2 && all[0].outcome !== null,
  )
  assert.deepEqual([done.outcome, next.subject, next.type], ['Measured', 'Send the plan', 'task'])
  assert.match(next.due_at, /^2031-02-03T/)
})

test('what is typed right after a task is completed is its outcome, however late the field comes', async (t) => {
  const due_at = new Date(Date.now() - 120 * 3600_000).toISOString()
  const id = await web.create('/activities', { subject: 'Ask for the contract', due_at })
  const page = await web.open(t, null, { reusable: false })
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(/\/assets\/outcome-.*js/, async (route) => {
    await late
    await route.continue()
  })
  const asked = page.waitForRequest(/\/assets\/outcome-.*js/)
  await page.goto(web.rapport.url)
  await page.getByRole('button', { name: 'Complete Ask for the contract' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Signs')
  await page.keyboard.press('Enter')
  await asked
  // By the clock of the page.
  await page.evaluate(
    '{ const { now } = performance; performance.now = () => now.call(performance) + 10_000 }',
  )
  come()
  await until(() => web.read(`/activities/${id}`), { outcome: 'Signs' })
  assert.equal(await page.getByRole('dialog').count(), 0)
})

for (const spaced of [false, true])
  test(`long amounts stay in their card${spaced ? ', with the text spaced out too' : ''}`, async (t) => {
    const deal = await web.create('/deals', { name: 'The large one', value: 8_888_888_888.88 })
    t.after(async () => void (await web.rapport.call('DELETE', `/api/v1/deals/${deal}`)))
    const page = await web.open(t, '/')
    const table = page.getByRole('table', { name: 'Pipeline by stage' })
    await table.waitFor()
    await page.evaluate((wide) => {
      if (!wide) return
      const { document } = globalThis as any
      for (const one of document.querySelectorAll('body *'))
        Object.assign(one.style, { letterSpacing: '0.12em', wordSpacing: '0.16em', lineHeight: '1.5' })
    }, spaced)
    const out = await page.evaluate(() => {
      const { document } = globalThis as any
      const card = document.querySelector('.home-pipeline').getBoundingClientRect()
      const scroll = document.querySelector('.home-pipeline-scroll')
      return {
        px: scroll.getBoundingClientRect().right - card.right,
        scrolls: scroll.scrollWidth > scroll.clientWidth,
      }
    })
    assert.ok(out.px <= 0, `${out.px} px outside`)
    // Only where the text is wider than usual are there columns to scroll to.
    assert.ok(spaced || !out.scrolls)
    assert.equal(
      await table
        .getByTitle(/^€8,(\d{3},){2}\d{3}/)
        .first()
        .innerText(),
      '€8.9bn',
    )
  })
