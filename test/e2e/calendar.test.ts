// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { makeRequest } from '../booking.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, desk, layoutShift, owner, phone, settled, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const appointment = (title: string, start_at: string, end_at: string, more = {}) =>
  web.create('/appointments', { title, start_at, end_at, ...more })

const entry = (page: Page, title: string) =>
  page.locator('.calendar-grid .calendar-event').filter({ hasText: title })

/** Drags an element with the mouse, in small steps. */
async function drag(page: Page, what: Locator, by: { x?: number; y?: number }, grip = 0.3) {
  // The hours may be scrolled.
  await what.scrollIntoViewIfNeeded()
  const box = await what.boundingBox()
  assert.ok(box)
  const from = { x: box.x + box.width / 2, y: box.y + box.height * grip }
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  for (let step = 1; step <= 10; step++)
    await page.mouse.move(from.x + ((by.x ?? 0) * step) / 10, from.y + ((by.y ?? 0) * step) / 10)
  await page.mouse.up()
}
/** How tall half an hour is. */
async function halfHour(page: Page): Promise<number> {
  const [eight, nine] = await Promise.all(
    ['10:00', '11:00'].map((time) => page.getByText(time, { exact: true }).first().boundingBox()),
  )
  return ((nine?.y ?? 0) - (eight?.y ?? 0)) / 2
}

test('an appointment is created by keyboard, and moved and made longer by the mouse', async (t) => {
  const page = await web.open(t, '/calendar?show=week&date=2031-03-05')
  await page.getByRole('heading', { name: 'Calendar' }).waitFor()
  // Nothing is planned yet: the week itself has to be reached by keyboard.
  await page.locator('.calendar-grid').getByText('10:00', { exact: true }).first().waitFor()
  const hours = page.getByRole('region', { name: 'Appointments' })
  await hours.focus()
  const top = await hours.evaluate(({ scrollTop }) => scrollTop)
  await page.keyboard.press('End')
  await until(
    () => hours.evaluate(({ scrollTop }) => scrollTop),
    (now) => now > top,
  )
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create appointment' })
  await dialog.getByLabel('Title').waitFor()
  await page.keyboard.type('Kick-off')
  await dialog.getByLabel('Start').fill('2031-03-05T10:00')
  await page.keyboard.press('Tab')
  // The end goes along.
  await untilEqual(() => dialog.getByRole('textbox', { name: 'End' }).inputValue(), '05/03/2031 10:30')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await entry(page, 'Kick-off').waitFor()
  const [{ id, start_at }] = await web.read('/appointments?start_from=2031-03-05T00:00:00Z')
  assert.equal(start_at, '2031-03-05T09:00:00.000Z')

  const half_hour = await halfHour(page)
  await drag(page, entry(page, 'Kick-off'), { y: 4 * half_hour })
  await page.getByText(/Kick-off is now .*12:00/).waitFor()
  const moved = await web.read(`/appointments/${id}`)
  assert.deepEqual([moved.start_at, moved.end_at], ['2031-03-05T11:00:00.000Z', '2031-03-05T11:30:00.000Z'])
  const told = page.getByRole('alert').filter({ hasText: 'Kick-off is now' })
  await told.getByRole('button', { name: 'Close' }).click()
  await told.waitFor({ state: 'detached' })

  await drag(page, entry(page, 'Kick-off'), { y: half_hour }, 0.98)
  await entry(page, 'Kick-off').getByText('12:00–13:00').waitFor()
  await page.getByText(/Kick-off is now .*12:00–13:00/).waitFor()
  await until(() => web.read(`/appointments/${id}`), { end_at: '2031-03-05T12:00:00.000Z' })

  await told.getByRole('button', { name: 'Undo' }).click()
  await entry(page, 'Kick-off').getByText('12:00').waitFor()
  await page.getByText('Kick-off is back where it was').waitFor()
  assert.equal((await web.read(`/appointments/${id}`)).end_at, '2031-03-05T11:30:00.000Z')
})

test('appointments of the same time are beside each other, those over midnight on both days, and keep the focus', async (t) => {
  const id = await appointment('Early bird', '2031-06-04T08:00:00Z', '2031-06-04T09:30:00Z')
  await appointment('Beside it', '2031-06-04T08:30:00Z', '2031-06-04T09:00:00Z')
  await appointment('Overnight', '2031-06-03T20:00:00Z', '2031-06-04T04:00:00Z')
  const page = await web.open(t)
  for (const show of ['list', 'month', 'day', 'week']) {
    await visit(page, `/calendar?show=${show}&date=2031-06-04`)
    await entry(page, 'Early bird').waitFor()
    await checkScreen(page)
  }
  assert.match(await page.locator('.calendar-title').innerText(), /2\D+8 Jun 2031/)
  const day = page.locator('.calendar-day[data-date="2031-06-04"]')
  const boxes = await Promise.all(
    ['Early bird', 'Beside it'].map((title) => day.getByRole('button', { name: title }).boundingBox()),
  )
  const [early, beside] = boxes
  assert.ok(early && beside && beside.x >= early.x + early.width && beside.y > early.y)
  assert.ok(Math.abs(early.height / beside.height - 3) < 0.1)
  await day.getByRole('button', { name: 'Overnight' }).waitFor()
  await day.getByRole('button', { name: 'Early bird' }).click()
  await page.getByRole('article', { name: 'Early bird' }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator(`.calendar-event-${id}:focus`).waitFor()
})

test('an appointment of several days has its times where it begins and ends, and its title stays in sight', async (t) => {
  await appointment('Trade fair', '2031-05-20T06:00:00Z', '2031-05-22T15:00:00Z')
  const page = await web.open(t)
  for (const show of ['month', 'list', 'week']) {
    await visit(page, `/calendar?show=${show}&date=2031-05-20`)
    await entry(page, 'Trade fair').first().waitFor()
    const shown = (await entry(page, 'Trade fair').allInnerTexts()).map((text) => text.replace(/\s/g, ''))
    const begin = show === 'month' ? '08:00' : '08:00–'
    assert.deepEqual(
      shown,
      [begin, '', '–17:00'].map((time) => `${time}Tradefair`),
    )
  }
  const title = page.locator('[data-whole="2031-05-21"]').getByText('Trade fair')
  await page.getByRole('region', { name: 'Appointments' }).press('End')
  const { y: top = 0 } = (await page.locator('.calendar-hours').boundingBox()) ?? {}
  const { y = 0 } = (await title.boundingBox()) ?? {}
  assert.ok(y > top, `${y} below ${top}`)
})

test('an entry of a day or more is above the hours, and leaves their width to the others; it moves by whole days', async (t) => {
  const id = await appointment('Holiday', '2031-08-11T22:00:00Z', '2031-08-12T22:00:00Z')
  await appointment('Interview', '2031-08-12T08:00:00Z', '2031-08-12T09:00:00Z')
  const page = await web.open(t, '/calendar?show=week&date=2031-08-12')
  const day = page.locator('.calendar-day[data-date="2031-08-12"]')
  const [hours, short] = await Promise.all([
    day.boundingBox(),
    day.getByRole('button', { name: 'Interview' }).boundingBox(),
  ])
  assert.ok(hours && short && short.width > hours.width * 0.9)
  assert.equal(await day.getByText('Holiday').count(), 0)
  const whole = await entry(page, 'Holiday').boundingBox()
  const head = await page.locator('.calendar-head').last().boundingBox()
  assert.ok(head && whole && whole.y + whole.height <= head.y + head.height, 'it covers no hour')
  await checkScreen(page)
  await drag(page, entry(page, 'Holiday'), { x: hours.width })
  await page.getByText(/Holiday is now/).waitFor()
  const moved = await web.read(`/appointments/${id}`)
  assert.deepEqual([moved.start_at, moved.end_at], ['2031-08-12T22:00:00.000Z', '2031-08-13T22:00:00.000Z'])
})

test('the hour that the autumn has twice is drawn as long as it takes', async (t) => {
  await appointment('Night shift', '2031-10-26T00:30:00Z', '2031-10-26T01:30:00Z')
  await appointment('Morning', '2031-10-26T05:00:00Z', '2031-10-26T06:00:00Z')
  const page = await web.open(t, '/calendar?show=day&date=2031-10-26')
  const [night, morning] = await Promise.all(
    ['Night shift', 'Morning'].map((title) => entry(page, title).boundingBox()),
  )
  assert.equal(Math.round(night?.height ?? 0), Math.round(morning?.height ?? 1))
})

test('an activity is in the calendar at the time when it is due, and leads to its page', async (t) => {
  const due = { type: 'call', due_at: '2031-09-10T08:00:00Z' }
  const id = await web.create('/activities', { ...due, subject: 'Call about the offer' })
  await web.create('/activities', { ...due, subject: 'Some day', due_at: null })
  await appointment('Demo', '2031-09-10T08:00:00Z', '2031-09-10T09:00:00Z')
  const page = await web.open(t, '/calendar')
  const activity = page.locator('.calendar-activity')
  for (const show of ['list', 'month', 'day', 'week']) {
    await visit(page, `/calendar?show=${show}&date=2031-09-10`)
    await activity.getByRole('img', { name: 'Call' }).waitFor()
    await entry(page, 'Demo').waitFor()
    await checkScreen(page)
  }
  await visit(page, '/calendar?show=week&date=2031-09-10&status=scheduled')
  await entry(page, 'Demo').waitFor()
  await activity.waitFor({ state: 'detached' })
  await visit(page, '/calendar?show=week&date=2031-09-10')
  await activity.filter({ hasText: 'Call about the offer' }).click()
  await page.waitForURL(`**/activities/${id}`)
})

test('each host has a colour and a name below the calendar, and what is over is quiet', async (t) => {
  const other = await joinAs(web.rapport, 'hosts@example.test', 'member', { name: 'Hanna Host' })
  const members: { id: string; name: string }[] = await web.read('/members')
  const [hanna, olivia] = ['Hanna Host', owner.name].map(
    (name) => members.find((one) => one.name === name)?.id,
  )
  assert.ok(other && hanna && olivia)
  for (const year of [2021, 2032]) {
    const at = (hour: string) => `${year}-11-10T${hour}:00:00Z`
    await appointment(`Hers ${year}`, at('09'), at('10'), { owner_id: hanna })
    await appointment(`Mine ${year}`, at('11'), at('12'), { owner_id: olivia })
  }
  const page = await web.open(t)
  const lookOf = (title: string) =>
    entry(page, title).evaluate((element) => {
      const { getComputedStyle } = globalThis as unknown as {
        getComputedStyle(of: unknown): Record<string, string>
      }
      const { borderLeftColor, backgroundColor } = getComputedStyle(element)
      return [borderLeftColor, backgroundColor]
    })
  await visit(page, '/calendar?show=week&date=2021-11-10')
  await entry(page, 'Hers 2021').waitFor()
  await checkScreen(page)
  const past = await lookOf('Hers 2021')
  await visit(page, '/calendar?show=week&date=2032-11-10')
  const hosts = page.getByRole('list', { name: 'Hosts' })
  await untilEqual(() => hosts.getByRole('listitem').allInnerTexts(), ['Hanna Host', owner.name])
  await checkScreen(page)
  const [hers, mine] = [await lookOf('Hers 2032'), await lookOf('Mine 2032')]
  assert.notEqual(hers[0], mine[0])
  assert.notEqual(hers[1], past[1])
})

test('a person hides the weekend of the week and the month, and it stays hidden', async (t) => {
  const page = await web.open(t, '/calendar?show=week&date=2031-03-05', { reusable: false })
  const days = () => page.locator('.calendar-day, .calendar-cell').count()
  await untilEqual(days, 7)
  await page.getByRole('button', { name: 'Hide weekend' }).click()
  await untilEqual(days, 5)
  await page.reload()
  await untilEqual(days, 5)
  await page.getByText('Month', { exact: true }).click()
  await untilEqual(days, 30)
  await page.getByRole('button', { name: 'Show weekend' }).click()
  await untilEqual(days, 42)
})

test('a month moves an appointment to another day by the mouse, and says how many more a day has', async (t) => {
  for (const hour of ['08', '09', '10', '11', '12', '13'])
    await appointment(`Visit at ${hour}`, `2031-07-09T${hour}:00:00Z`, `2031-07-09T${hour}:30:00Z`)
  const page = await web.open(t, '/calendar?show=month&date=2031-07-09')
  const visits = entry(page, 'Visit at')
  await visits.first().waitFor()
  const more = page.getByRole('button', { name: /^\+\d more$/ })
  assert.equal((await visits.count()) + Number((await more.innerText()).slice(1, 2)), 6)
  const cell = await page.locator('[data-date="2031-07-09"]').boundingBox()
  await drag(page, visits.first(), { x: 2 * (cell?.width ?? 0) })
  await page.locator('[data-date="2031-07-11"]').getByText('Visit at 08').waitFor()
  await page.getByText(/Visit at 08 is now 11 Jul 2031/).waitFor()
  await more.click()
  await page.waitForURL(/show=day&date=2031-07-09|date=2031-07-09&show=day/)
})

test('Escape puts an appointment back that is being dragged', async (t) => {
  const id = await appointment('Held', '2031-07-16T08:00:00Z', '2031-07-16T09:00:00Z')
  const page = await web.open(t, '/calendar?show=day&date=2031-07-16')
  const box = await entry(page, 'Held').boundingBox()
  const half_hour = await halfHour(page)
  assert.ok(box)
  await page.mouse.move(box.x + 40, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + 40, box.y + 20 + 2 * half_hour, { steps: 4 })
  await entry(page, 'Held').getByText('11:00–12:00').waitFor()
  await page.keyboard.press('Escape')
  await entry(page, 'Held').getByText('10:00–11:00').waitFor()
  await page.mouse.up()
  assert.equal((await web.read(`/appointments/${id}`)).start_at, '2031-07-16T08:00:00.000Z')
  // The button is released above the appointment, which must not open.
  await visit(page, '/calendar?show=month&date=2031-07-16')
  const line = await entry(page, 'Held').boundingBox()
  assert.ok(line)
  await page.mouse.move(line.x + 20, line.y + 8)
  await page.mouse.down()
  await page.mouse.move(line.x + 40, line.y + 9, { steps: 3 })
  await page.keyboard.press('Escape')
  await page.mouse.up()
  await settled(page)
  assert.equal(new URL(page.url()).searchParams.get('open'), null)
})

test('an appointment says with whom it is, in the calendar and among the next ones of Home', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const id = await appointment('Site visit', at(1), at(2), { contact_id })
  // The day of the person: at night, that of UTC is the one before.
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(Date.parse(at(1)))
  const page = await web.open(t)
  const next = page.getByRole('region', { name: 'Next appointments' })
  const row = next.getByRole('listitem').filter({ hasText: 'Site visit' })
  await row.getByRole('link', { name: 'Ana Ruiz' }).waitFor()
  for (const show of ['list', 'day', 'week']) {
    await visit(page, `/calendar?show=${show}&date=${date}`)
    await entry(page, 'Site visit, Ana Ruiz').first().waitFor()
  }
  assert.equal((await web.rapport.call('DELETE', `/api/v1/appointments/${id}`)).status, 200)
})

test('a time that is taken is refused in words, and the appointment goes back', async (t) => {
  const slug = 'taken'
  const booking_page_id = await web.create('/booking-pages', {
    slug,
    title: 'Taken',
    time_zone: 'Europe/Berlin',
  })
  await appointment('First', '2031-04-02T08:00:00Z', '2031-04-02T09:00:00Z', { booking_page_id })
  const second = { booking_page_id }
  const id = await appointment('Second', '2031-04-02T10:00:00Z', '2031-04-02T11:00:00Z', second)
  const page = await web.open(t, '/calendar?show=day&date=2031-04-02', { allow: /status of 409/ })
  await entry(page, 'Second').getByText('12:00–13:00').waitFor()
  await drag(page, entry(page, 'Second'), { y: -4 * (await halfHour(page)) })
  await page.getByText('This time is taken: another appointment of the booking page overlaps it.').waitFor()
  await entry(page, 'Second').getByText('12:00–13:00').waitFor()
  assert.equal((await web.read(`/appointments/${id}`)).start_at, '2031-04-02T10:00:00.000Z')
})

test('dragging over free time begins an appointment with these times', async (t) => {
  const page = await web.open(t, '/calendar?show=day&date=2031-05-07')
  await page.locator('.calendar-grid').waitFor()
  const ten = await page.getByText('10:00', { exact: true }).first().boundingBox()
  const half_hour = await halfHour(page)
  assert.ok(ten)
  const [x, y] = [ten.x + 400, ten.y + half_hour / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  for (let step = 1; step <= 8; step++) await page.mouse.move(x, y + (step * 2 * half_hour) / 8)
  await page.mouse.up()
  const dialog = page.getByRole('dialog', { name: 'Create appointment' })
  await dialog.getByLabel('Start').waitFor()
  const start = await dialog.getByLabel('Start').inputValue()
  const end = await dialog.getByRole('textbox', { name: 'End' }).inputValue()
  assert.match(start, /^07\/05\/2031 10:/)
  assert.match(end, /^07\/05\/2031 1[1-9]:/)
})

test('an appointment of several weeks is in each of them, and the calendar shows the days of the address', async (t) => {
  await appointment('Expedition', '2031-03-03T08:00:00Z', '2031-03-18T15:00:00Z')
  const page = await web.open(t, '/calendar?show=week&date=2031-03-18')
  await entry(page, 'Expedition').first().waitFor()
  const title = page.locator('.calendar-title')
  const march = await title.innerText()
  await page.getByRole('link', { name: 'Calendar' }).first().click()
  await entry(page, 'Expedition').first().waitFor({ state: 'detached' })
  assert.notEqual(await title.innerText(), march)
  await page.goBack()
  await entry(page, 'Expedition').first().waitFor()
  await untilEqual(() => title.innerText(), march)
  // The buttons tell the address where they are, which leaves them there.
  for (let n = 0; n < 3; n++) await page.keyboard.press('j')
  await page.waitForURL(/date=2031-04-07/)
  await page.keyboard.press('t')
  await page.waitForURL((url) => !url.searchParams.has('date'))
  await untilEqual(async () => (await title.innerText()) === march, false)
})

test('each key goes a week on, although the week before is not drawn yet', async (t) => {
  const page = await web.open(t, '/calendar?show=week&date=2031-03-18')
  await page.locator('.calendar-grid').waitFor()
  // In one task, so that nothing is drawn between them.
  await page.evaluate(`
    for (let n = 0; n < 3; n++)
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))
  `)
  await page.waitForURL(/date=2031-04-07/)
})

test('the host of an appointment takes no room from the lines of its title', async (t) => {
  const members: { id: string; name: string }[] = await web.read('/members')
  const owner_id = members.find(({ name }) => name === 'Olivia Owner')?.id
  await appointment('Tour around the old harbour', '2031-04-23T08:00:00Z', '2031-04-23T09:00:00Z', {
    owner_id,
  })
  await appointment('Tour across the mountains', '2031-04-24T08:00:00Z', '2031-04-24T09:00:00Z')
  const page = await web.open(t, '/calendar?show=week&date=2031-04-23')
  await entry(page, 'harbour').getByRole('img', { name: 'Host: Olivia Owner' }).waitFor()
  const height = async (title: string) =>
    (await entry(page, title).locator('.calendar-name').boundingBox())?.height
  assert.equal(await height('harbour'), await height('mountains'))
})

test('in a month, an appointment with a long title has one line', async (t) => {
  await appointment('Annual talk about maintenance', '2031-04-09T08:00:00Z', '2031-04-09T10:00:00Z')
  await appointment('Fair', '2031-04-10T08:00:00Z', '2031-04-10T10:00:00Z')
  const page = await web.open(t, '/calendar?show=month&date=2031-04-09')
  const height = async (title: string) => (await entry(page, title).boundingBox())?.height
  assert.equal(await height('Annual talk'), await height('Fair'))
})

test('times are on the clock of the person, in the calendar, its page and its dialog', async (t) => {
  // Between the two changes of clocks New York is five hours behind Berlin, not six.
  const id = await appointment('Across the sea', '2031-03-19T13:00:00Z', '2031-03-19T14:00:00Z')
  const session = await joinAs(web.rapport, 'nina@example.test', 'member', { time_zone: 'America/New_York' })
  const page = await web.open(t, '/calendar?show=week&date=2031-03-19', { session, locale: 'en-US' })
  await entry(page, 'Across the sea').getByText('9:00').waitFor()
  await page.getByText('Times in America/New_York').waitFor()
  // A week begins on Sunday there.
  await page.waitForFunction(`document.querySelector('[data-date]').dataset.date === '2031-03-16'`)
  await visit(page, `/calendar/${id}`)
  await page.getByRole('button', { name: 'Start: Edit' }).click()
  const start = page.getByLabel('Start', { exact: true })
  assert.match(await start.inputValue(), /^03\/19\/2031 9:00\sAM$/)
  await start.fill('2031-03-20T15:30')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Start: Edit' }).getByText('Mar 20, 2031').waitFor()
  const { start_at, end_at } = await web.read(`/appointments/${id}`)
  assert.deepEqual([start_at, end_at], ['2031-03-20T19:30:00.000Z', '2031-03-20T20:30:00.000Z'])
})

test('cancelling asks first and strikes the appointment through; deleting can be undone', async (t) => {
  const id = await appointment('Lunch', '2031-09-03T10:00:00Z', '2031-09-03T11:00:00Z')
  const page = await web.open(t, `/calendar/${id}`)
  await page.getByRole('button', { name: 'Cancel appointment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel Lunch?' })
  await dialog.getByLabel('Reason').fill('Ill')
  await dialog.getByRole('button', { name: 'Cancel appointment' }).click()
  await page.getByText('Cancelled', { exact: true }).waitFor()
  await page.getByText('Ill', { exact: true }).waitFor()
  const status = async () => (await web.read(`/appointments/${id}`))?.status
  await until(status, 'cancelled')

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(/\/calendar(\?|$)/)
  await until(status, (stored) => stored === undefined)
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(status, 'cancelled')
  await visit(page, '/calendar?show=month&date=2031-09-03')
  await entry(page, 'Lunch').waitFor()
  const line = await entry(page, 'Lunch').evaluate(
    (one) => one.ownerDocument.defaultView?.getComputedStyle(one).textDecorationLine,
  )
  assert.equal(line, 'line-through')
})

test('a request is found from the home page, and accepted or declined at its record', async (t) => {
  const [first, second] = [await makeRequest(web.rapport), await makeRequest(web.rapport)]
  const page = await web.open(t, '/')
  await page.getByRole('link', { name: '2 requests to answer' }).click()
  await page.waitForURL(/status=requested/)
  await entry(page, 'Product demo').first().waitFor()
  await untilEqual(() => entry(page, 'Product demo').count(), 2)
  await checkScreen(page)

  await visit(page, `/calendar/${first}`)
  await page.getByText('Requested', { exact: true }).waitFor()
  await untilEqual(() => page.getByRole('button', { name: 'Cancel appointment' }).count(), 0)
  await checkScreen(page)
  await page.getByRole('button', { name: 'Accept request' }).click()
  await page.getByText('Scheduled', { exact: true }).waitFor()
  assert.equal((await web.read(`/appointments/${first}`)).status, 'scheduled')

  await visit(page, `/calendar/${second}`)
  await page.getByRole('button', { name: 'Decline request' }).click()
  const dialog = page.getByRole('dialog', { name: 'Decline Product demo?' })
  await dialog.getByLabel('Reason').fill('On holiday')
  await dialog.getByRole('button', { name: 'Decline request' }).click()
  await page.getByText('Declined', { exact: true }).waitFor()
  const { status, cancel_reason } = await web.read(`/appointments/${second}`)
  assert.deepEqual([status, cancel_reason], ['declined', 'On holiday'])
  await visit(page, '/')
  await page.getByRole('heading', { level: 2, name: /appointments/i }).waitFor()
  await page.getByRole('link', { name: /to answer/ }).waitFor({ state: 'detached' })
})

test('who may only read can change nothing, and everybody can use every view', async (t) => {
  await appointment('Look only', '2031-09-10T10:00:00Z', '2031-09-10T11:00:00Z')
  const title = 'Read only'
  const booking = await web.create('/booking-pages', { slug: 'read-only', title, time_zone: 'Europe/Berlin' })
  const session = await joinAs(web.rapport, 'rita@example.test', 'read_only')
  for (const [size, shows] of [
    [desk, ['month', 'week', 'day', 'list']],
    [phone, ['day', 'list']],
  ] as const) {
    const page = await web.open(t, '/', { session, ...size })
    for (const show of shows) {
      await visit(page, `/calendar?show=${show}&date=2031-09-10`)
      await entry(page, 'Look only').waitFor()
      await untilEqual(() => page.getByRole('button', { name: /Create/ }).count(), 0)
      await checkScreen(page)
    }
    await visit(page, `/booking-pages/${booking}`)
    await page.getByRole('heading', { name: 'Next free times' }).waitFor()
    await untilEqual(() => page.getByLabel('Title').isDisabled(), true)
    await untilEqual(() => page.getByRole('button', { name: /Save|Delete/ }).count(), 0)
    await checkScreen(page)
  }
})

test('no page jumps while it loads: its layout shifts add up to less than 0.05', async (t) => {
  const contact = await web.create('/contacts', { first_name: 'Ana', last_name: 'Belovsky-Ruiz' })
  const page = await web.open(t, null, { viewport: { width: 1440, height: 900 } })
  for (const path of [
    '/',
    '/contacts',
    `/contacts/${contact}`,
    '/deals',
    '/calendar',
    '/calendar?show=month',
  ]) {
    await page.goto(web.rapport.url + path)
    await settled(page)
    const shifted = await layoutShift(page)
    assert.ok(shifted < 0.05, `${path}: ${shifted}`)
  }
})
