// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { checkScreen, desk, phone, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const day_ms = 86_400_000

const web = useWeb()

const read = async (id: number) => (await web.rapport.call('GET', `/api/v1/activities/${id}`)).body.data
const activity = (subject: string, more = {}) => web.create('/activities', { subject, ...more })
const inDays = (days: number) => new Date(Date.now() + days * day_ms).toISOString()

const row = (page: Page, subject: string) => page.getByRole('row').filter({ hasText: subject })
const show = (page: Page, name: string) => page.locator('label').filter({ hasText: name }).click()

test('each switch shows its activities: today by the clock of the person, overdue, upcoming, done', async (t) => {
  await activity('Long overdue', { due_at: inDays(-3) })
  await activity('Next week', { due_at: inDays(7) })
  const done = await activity('Done already', { due_at: inDays(-2) })
  await web.rapport.call('POST', `/api/v1/activities/${done}/complete`, {})
  const page = await web.open(t, '/activities')
  await page.getByText('Nothing is due today.').waitFor()

  await show(page, 'Overdue')
  await row(page, 'Long overdue').getByText('overdue', { exact: true }).waitFor()
  await untilEqual(() => row(page, 'Next week').count(), 0)
  await show(page, 'Upcoming')
  await row(page, 'Next week').waitFor()
  await untilEqual(() => row(page, 'Long overdue').count(), 0)
  await show(page, 'Done')
  await row(page, 'Done already').waitFor()
  assert.match(page.url(), /show=done/)
})

test('today ends when the day of the person ends', async (t) => {
  // The day that begins first of all, and another one in its last two hours: it must not end during the test.
  const ends_soon = [8, 9].includes(new Date().getUTCHours())
  const [zone, offset] = ends_soon ? ['Asia/Tokyo', '+09:00'] : ['Pacific/Kiritimati', '+14:00']
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date())
  const midnight = Date.parse(`${today}T00:00:00${offset}`)
  await activity('At the end of the day', { due_at: new Date(midnight + 23.9 * 3_600_000).toISOString() })
  await activity('On the next day', { due_at: new Date(midnight + 24.1 * 3_600_000).toISOString() })
  const session = await joinAs(web.rapport, 'kiri@example.test', 'member', { time_zone: zone })
  const page = await web.open(t, '/activities', { session })
  await row(page, 'At the end of the day').waitFor()
  await untilEqual(() => row(page, 'On the next day').count(), 0)
  await show(page, 'Upcoming')
  await row(page, 'On the next day').waitFor()
})

test('one click completes an activity, and Undo reopens it', async (t) => {
  const id = await activity('Call Ada back', { due_at: inDays(-1), type: 'call' })
  const page = await web.open(t, '/activities?show=overdue')
  await page.getByRole('button', { name: 'Complete Call Ada back' }).click()
  await page.getByText('Call Ada back completed').waitFor()
  await row(page, 'Call Ada back').waitFor({ state: 'detached' })
  await until(
    () => read(id),
    ({ completed_at }) => completed_at !== null,
  )
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'Call Ada back').waitFor()
  await until(() => read(id), { completed_at: null })
})

test('what the service never heard of shows as it was again, in the list and at home', async (t) => {
  await activity('Never completed', { due_at: inDays(-1) })
  const page = await web.open(t, '/activities?show=overdue', { allow: /ERR_FAILED/ })
  const button = page.getByRole('button', { name: 'Complete Never completed' })
  const refused = page.getByText('The service cannot be reached').first()
  for (const path of ['/activities?show=overdue', '/']) {
    await page.goto(`${web.rapport.url}${path}`)
    await button.waitFor()
    await page.route('**/api/v1/activities**', (route) => route.abort())
    await page.route('**/api/v1/activities/*/complete', (route) => route.abort())
    await button.click()
    await refused.waitFor()
    await button.waitFor()
    await page.unrouteAll()
  }
})

test('of many toasts the newest are shown: what was done last can be undone at once', async (t) => {
  const names = Array.from({ length: 6 }, (_, n) => `Toast ${n}`)
  for (const name of names) await activity(name, { due_at: inDays(-1) })
  const page = await web.open(t, null, { reusable: false })
  // Toasts close after 8 s. Here they stay, so the last one does not find room by itself.
  await page.addInitScript(
    'const { setTimeout: real } = window; window.setTimeout = (work, ms) => (ms >= 8000 ? 0 : real(work, ms))',
  )
  await page.goto(`${web.rapport.url}/activities?show=overdue`)
  for (const name of names) await page.getByRole('button', { name: `Complete ${name}` }).click()
  const last = page.getByRole('alert').filter({ hasText: 'Toast 5 completed' })
  await last.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'Toast 5').waitFor()
  await row(page, 'Toast 4').waitFor({ state: 'detached' })
})

test('a completed activity does not show as open again during the request', async (t) => {
  const late = await activity('Told late', { due_at: inDays(-1) })
  const page = await web.open(t, '/activities?show=overdue')
  await page.route(`**/activities/${late}/complete`, async (route) => {
    await pause(1500)
    await route.continue()
  })
  const open = page.getByRole('button', { name: 'Complete Told late' })
  await open.click()
  await open.waitFor({ state: 'detached' })
  // Its event makes the list old meanwhile.
  await activity('From elsewhere', { due_at: inDays(-1) })
  const told = page.getByText('Told late completed')
  await until(
    async () => {
      // At no moment.
      assert.equal(await open.count(), 0)
      return told.count()
    },
    (shown) => shown > 0,
  )
  await row(page, 'From elsewhere').waitFor()
  await row(page, 'Told late').waitFor({ state: 'detached' })
})

test('the list names what activities are about without asking for each', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Named', last_name: 'Once' })
  const company_id = await web.create('/companies', { name: 'Named Works' })
  await activity('About both', { due_at: inDays(-1), contact_id, company_id })
  const page = await web.open(t)
  const asked: string[] = []
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname))
  await visit(page, '/activities?show=overdue')
  await row(page, 'About both').getByRole('link', { name: 'Named Once' }).waitFor()
  await row(page, 'About both').getByRole('link', { name: 'Named Works' }).waitFor()
  assert.deepEqual(
    asked.filter((path) => /(contacts|companies|deals)\/\d+$/.test(path)),
    [],
  )
})

test('when the last row of the last page goes, the page before it is shown', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Fifty', last_name: 'One' })
  for (let n = 0; n < 51; n++)
    await activity(`Nr ${n}`, { contact_id, due_at: new Date(Date.now() - 1e9 + n * 1e6).toISOString() })
  const page = await web.open(t, `/activities?show=overdue&contact_id=${contact_id}&page=2`, {
    reusable: false,
  })
  const empty: unknown[] = []
  await page.exposeFunction('empty', () => empty.push(1))
  await page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the page's own world
    const { document, MutationObserver, empty } = globalThis as any
    new MutationObserver(() => document.body.innerText.includes('Nothing matches') && empty()).observe(
      document.body,
      { childList: true, subtree: true },
    )
  })
  await page.getByRole('button', { name: 'Complete Nr 50' }).click()
  await row(page, 'Nr 49').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('page'), null)
  assert.deepEqual(empty, [])
})

test('an activity is created and completed by keyboard alone, and the focus stays in the list', async (t) => {
  const page = await web.open(t, '/activities?show=upcoming')
  await page.getByRole('heading', { name: 'Activities' }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create activity' })
  await dialog.getByLabel('Subject').waitFor()
  await page.keyboard.type('Send the contract')
  await dialog.getByLabel('Due').fill('2031-03-05T10:00')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await row(page, 'Send the contract').waitFor()
  const [made] = (await web.rapport.call('GET', '/api/v1/activities?due_from=2031-01-01T00:00:00Z')).body.data
  // The owner's clock is Berlin's.
  assert.equal(made.due_at, '2031-03-05T09:00:00.000Z')

  await page.getByRole('link', { name: 'Send the contract' }).focus()
  await page.keyboard.press('d')
  await page.getByText('Send the contract completed').waitFor()
  await row(page, 'Send the contract').waitFor({ state: 'detached' })
  await until(
    () => read(made.id),
    ({ completed_at }) => completed_at !== null,
  )
  await page.waitForFunction('document.activeElement !== document.body')
})

test('selected activities are completed and deleted at once, and Undo takes each back', async (t) => {
  const ids = [await activity('Bulk one'), await activity('Bulk two')]
  const page = await web.open(t, '/activities?show=all')
  for (const name of ['Bulk one', 'Bulk two']) {
    await page.getByRole('link', { name }).focus()
    await page.keyboard.press('x')
  }
  const bar = page.getByRole('region', { name: '2 selected' })
  await bar.getByRole('button', { name: 'Complete' }).click()
  await page.getByText('2 activities completed').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Complete Bulk one' }).waitFor()
  // The page shows it at once, and the service hears of it a moment later.
  for (const id of ids) await until(() => read(id), { completed_at: null })

  for (const name of ['Bulk one', 'Bulk two']) await page.getByLabel(`Select ${name}`).check()
  await bar.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 activities deleted').waitFor()
  await row(page, 'Bulk one').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'Bulk one').waitFor()
  await row(page, 'Bulk two').waitFor()
})

test('every field of an activity is edited in place, its due date on the clock of the person', async (t) => {
  const contact = await web.create('/contacts', { first_name: 'Ada', last_name: 'Okafor' })
  const id = await activity('Write the offer', { due_at: '2031-07-01T14:00:00Z', type: 'task' })
  const session = await joinAs(web.rapport, 'nina@example.test', 'member', { time_zone: 'America/New_York' })
  const page = await web.open(t, `/activities/${id}`, { session })
  await page.getByText('1 Jul 2031, 10:00').waitFor()
  await page.getByRole('button', { name: 'Due: Edit' }).click()
  const due = page.getByLabel('Due', { exact: true })
  await untilEqual(() => due.inputValue(), '01/07/2031 10:00')
  await due.fill('2031-12-01T10:00')
  await page.keyboard.press('Enter')
  await page.getByText('1 Dec 2031, 10:00').waitFor()
  await until(() => read(id), { due_at: '2031-12-01T15:00:00.000Z' })

  await page.getByRole('button', { name: 'Contact: Edit' }).click()
  await page.getByRole('combobox', { name: 'Contact' }).fill('Okafor')
  await page.getByRole('option', { name: 'Ada Okafor' }).click()
  await page.getByRole('link', { name: 'Ada Okafor' }).waitFor()
  await until(
    () => read(id),
    (one) => one.contact_id === contact,
  )

  await page.getByRole('button', { name: 'Outcome: Edit' }).click()
  await page.keyboard.type('Sent on Friday')
  await page.keyboard.press('Enter')
  await page.getByText('Sent on Friday').waitFor()
  await page.getByRole('button', { name: 'Complete', exact: true }).click()
  await page.getByRole('button', { name: 'Reopen', exact: true }).waitFor()
  await until(
    () => read(id),
    (one) => one.completed_at && one.outcome === 'Sent on Friday',
  )

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(/\/activities$/)
  await page.getByText('Write the offer deleted').waitFor()
})

test('who may only read can change nothing, and everybody can use the list and the panel', async (t) => {
  const id = await activity('Look only', { due_at: inDays(-4), body: 'Some words' })
  const session = await joinAs(web.rapport, 'rita@example.test', 'read_only')
  for (const size of [desk, phone]) {
    const page = await web.open(t, `/activities?show=overdue&open=${id}`, { session, ...size })
    await page.getByRole('article', { name: 'Look only' }).getByText('Some words').waitFor()
    await untilEqual(() => page.getByRole('button', { name: /Complete|Create|Delete|Edit/ }).count(), 0)
    await checkScreen(page)
  }
})

test('the switch shows how many activities are overdue, with two figures too', async (t) => {
  for (let n = 0; n < 15; n++) await activity(`Late ${n}`, { due_at: inDays(-4) })
  const page = await web.open(t, '/activities')
  const badge = page.locator('.activity-show .badge')
  await until(
    async () => Number(await badge.innerText()),
    (overdue) => overdue >= 15,
  )
  const hidden = await badge.evaluate((label) => label.scrollWidth - label.clientWidth)
  assert.equal(hidden, 0)
  assert.ok(((await badge.boundingBox())?.width ?? 0) >= 8)
  // The switch cuts off what is wider than its place.
  const rightOf = async (selector: string) => {
    const box = await page.locator(selector).boundingBox()
    return (box?.x ?? 0) + (box?.width ?? 0)
  }
  const cut = (await rightOf('.activity-show .badge')) - (await rightOf('label:has(.badge)'))
  assert.ok(cut <= 0, `${cut} px of the badge are cut off`)
})

/** The activities about a record, oldest first. */
const activitiesOf = async (query: string) =>
  (await web.rapport.call('GET', `/api/v1/activities?${query}&sort=created_at`)).body.data
const dialog = (page: Page) => page.getByRole('dialog')

test('one box logs a call with its outcome and a note, and plans the next step: one click, the text, Enter', async (t) => {
  const company_id = await web.create('/companies', { name: 'Åland Logistik GmbH' })
  const contact_id = await web.create('/contacts', {
    first_name: 'Ana',
    last_name: 'Belovsky-Ruiz',
    company_id,
  })
  const page = await web.open(t, `/contacts/${contact_id}`)
  await page.getByRole('button', { name: 'Log a call or meeting: Ana Belovsky-Ruiz' }).click()
  await dialog(page).getByRole('radio', { name: 'Call' }).waitFor({ state: 'attached' })
  await checkScreen(page)
  // The outcome has the focus.
  await page.keyboard.type('Wants the offer by Friday')
  await dialog(page).getByLabel('Note').fill('Asked for 12 % off.\nTheir budget ends in March.')
  await dialog(page).getByLabel('Due').fill('2031-01-31 09:00')
  await dialog(page).getByRole('button', { name: 'Log', exact: true }).click()
  await dialog(page).getByText('Write the next step, or remove its date.').waitFor()
  await dialog(page).getByLabel('Next step').fill('Send the offer')
  await page.keyboard.press('Enter')
  await page.getByText('Logged, and the next step planned.').waitFor()
  const [done, next, ...more] = await activitiesOf(`contact_id=${contact_id}`)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [done.type, done.subject, done.outcome, done.company_id],
    ['call', 'Call with Ana Belovsky-Ruiz', 'Wants the offer by Friday', company_id],
  )
  assert.ok(done.completed_at)
  assert.equal((await read(done.id)).body, 'Asked for 12 % off.\nTheir budget ends in March.')
  assert.deepEqual([next.subject, next.completed_at, next.company_id], ['Send the offer', null, company_id])
  assert.match(next.due_at, /^2031-01-31T/)
  // The timeline has both without a reload.
  await page.getByText('Wants the offer by Friday').waitFor()

  await page.keyboard.press('z')
  await until(
    () => activitiesOf(`contact_id=${contact_id}`),
    ({ length }) => length === 0,
  )
})

test('l logs with the focused row of a list, and what is written survives Escape', async (t) => {
  const id = await web.create('/companies', { name: 'Zorn & Söhne KG' })
  const page = await web.open(t, '/companies?search=zorn')
  await row(page, 'Zorn & Söhne KG').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('l')
  await dialog(page).getByText('Log a call or meeting: Zorn & Söhne KG').waitFor()
  await dialog(page).locator('label').filter({ hasText: 'Meeting' }).click()
  await dialog(page).getByLabel('Outcome').fill('Met the owner')
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  // A draft is of its record: a deal may have the same id.
  const keys = await page.evaluate(() => Object.keys(sessionStorage))
  assert.ok(
    keys.some((key) => key.endsWith(`log-company_id-${id}`)),
    String(keys),
  )
  await page.keyboard.press('l')
  await dialog(page).getByRole('textbox', { name: 'Outcome' }).waitFor()
  await untilEqual(() => dialog(page).getByLabel('Outcome').inputValue(), 'Met the owner')
  await dialog(page).getByLabel('Note').fill('Two\nlines')
  await dialog(page).getByLabel('Note').press('Control+Enter')
  await page.getByText('Logged.', { exact: true }).waitFor()
  const [done, ...more] = await activitiesOf(`company_id=${id}`)
  assert.deepEqual([done.type, done.subject, more.length], ['meeting', 'Meeting with Zorn & Söhne KG', 0])
})

test('anywhere else, l asks whom it was with', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Priya', last_name: 'Natarajan' })
  const page = await web.open(t, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('l')
  await dialog(page).getByText('Log a call, a meeting or an e-mail').waitFor()
  await dialog(page).getByLabel('Outcome').fill('Left a message')
  await dialog(page).getByLabel('Contact').fill('natara')
  await page.getByRole('option', { name: /Priya Natarajan/ }).click()
  await dialog(page).getByRole('button', { name: 'Log', exact: true }).click()
  await page.getByText('Logged.', { exact: true }).waitFor()
  const [done] = await activitiesOf(`contact_id=${id}`)
  assert.deepEqual([done.subject, done.outcome], ['Call with Priya Natarajan', 'Left a message'])
})

test('a call that is logged at a contact reaches their open deal, and the deal has a next step then', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Marta', last_name: 'Onedeal' })
  const deal_id = await web.create('/deals', { name: 'Marta buys', contact_id })
  await web.create('/deals', { name: 'Marta bought', contact_id, stage: 'won' })
  const page = await web.open(t, `/contacts/${contact_id}`)
  await page.getByRole('heading', { name: 'Marta Onedeal' }).waitFor()
  await page.keyboard.press('l')
  await untilEqual(() => dialog(page).getByRole('combobox', { name: 'Deal' }).inputValue(), 'Marta buys')
  await checkScreen(page)
  await dialog(page).getByLabel('Outcome').fill('Wants an offer')
  await dialog(page).getByLabel('Next step').fill('Send it')
  await page.keyboard.press('Enter')
  await page.getByText('Logged, and the next step planned.').waitFor()
  const [done, next] = await activitiesOf(`contact_id=${contact_id}`)
  assert.deepEqual([done.deal_id, next.deal_id, next.subject], [deal_id, deal_id, 'Send it'])
})

test('a company with several open deals offers them for what is logged, and takes none by itself', async (t) => {
  const company_id = await web.create('/companies', { name: 'Manydeals AG' })
  await web.create('/deals', { name: 'Spring order', company_id })
  const autumn = await web.create('/deals', { name: 'Autumn order', company_id })
  const page = await web.open(t, `/companies/${company_id}`)
  await page.getByRole('heading', { name: 'Manydeals AG' }).waitFor()
  await page.keyboard.press('l')
  await dialog(page).getByLabel('Outcome').fill('Left a message')
  await page.keyboard.press('Enter')
  await page.getByText('Logged.', { exact: true }).waitFor()
  await page.keyboard.press('l')
  await dialog(page).getByRole('combobox', { name: 'Deal' }).click()
  await page.getByRole('option', { name: 'Spring order' }).waitFor()
  await page.getByRole('option', { name: 'Autumn order' }).click()
  await dialog(page).getByLabel('Outcome').fill('Wants more')
  await page.keyboard.press('Enter')
  await until(
    () => activitiesOf(`company_id=${company_id}`),
    ({ length }) => length === 2,
  )
  const [first, second] = await activitiesOf(`company_id=${company_id}`)
  assert.deepEqual([first.deal_id, second.deal_id], [null, autumn])
})

test('a call can be logged for yesterday, but not for a time to come', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Yves', last_name: 'Terday' })
  const page = await web.open(t, `/contacts/${contact_id}`)
  await page.getByRole('heading', { name: 'Yves Terday' }).waitFor()
  await page.keyboard.press('l')
  await dialog(page).getByLabel('When').fill('tomorrow 10:00')
  // The field shows the time of the words while they are typed.
  // A day of a clock change has 23 or 25 hours.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date())
  const tomorrow = new Date(Date.parse(today) + day_ms).toLocaleDateString('en-GB', { timeZone: 'UTC' })
  await dialog(page).getByText(`${tomorrow} 10:00`).waitFor()
  await page.keyboard.press('Enter')
  await dialog(page).getByText('This time is still to come.').waitFor()
  await dialog(page).getByLabel('When').fill('yesterday 10:00')
  await page.keyboard.press('Enter')
  await page.getByText('Logged.', { exact: true }).waitFor()
  const [done] = await activitiesOf(`contact_id=${contact_id}`)
  const ago_ms = Date.now() - Date.parse(done.completed_at)
  assert.ok(ago_ms > 13 * 3_600_000 && ago_ms < 39.1 * 3_600_000, done.completed_at)
})
