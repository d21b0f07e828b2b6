// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ana, fieldOf, visitor } from '../booking.ts'
import { joinAs } from '../web/people.ts'
import { desk, owner, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

const entry = (page: Page, title: string) =>
  page.locator('.calendar-grid .calendar-event').filter({ hasText: title })

test('a booking page is made and changed, visitors book on it, and the open calendar shows it by itself', async (t) => {
  const page = await web.open(t, '/booking-pages', { allow: /status of 422/ })
  await page.getByRole('heading', { name: 'Booking pages' }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create booking page' })
  await dialog.getByLabel('Title').waitFor()
  await page.keyboard.type('Größere Führung')
  await untilEqual(() => dialog.getByLabel('Address').inputValue(), 'grossere-fuhrung')
  await dialog.getByLabel('Address').fill('tour')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Größere Führung' }).waitFor()

  // A preview of the public page is beside it.
  const preview = page.frameLocator('iframe')
  await preview.getByRole('heading', { name: 'Größere Führung' }).waitFor()
  await untilEqual(() => page.locator('iframe').getAttribute('sandbox'), '')
  assert.equal(await preview.locator('script').count(), 0)
  // Its style is there, and its months and days are links.
  const width = await preview
    .locator('main')
    .evaluate((main) => main.ownerDocument.defaultView?.getComputedStyle(main).maxWidth)
  assert.equal(width, '704px')
  const from = page.getByLabel('Monday, from')
  await untilEqual(() => from.inputValue(), '09:00')
  await from.fill('18:00')
  await page.getByLabel('Duration in minutes').fill('4')
  await page.getByRole('button', { name: 'Save changes' }).click()
  // The service is heard at the fields.
  await page.getByText('The end must be after the start.').waitFor()
  await page.getByText(/This must be (from|at least) 5/).waitFor()
  await from.fill('10:00')
  await page.getByLabel('Duration in minutes').fill('45')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  await preview.getByText('45 minutes').waitFor()
  const { id, availability, duration_minutes } = (await web.read('/booking-pages?sort=-created_at'))[0]
  assert.deepEqual(availability.monday, [{ from: '10:00', to: '17:00' }])
  assert.equal(duration_minutes, 45)

  const [{ start_at: slot }] = await web.read(`/booking-pages/${id}/slots`)
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date(slot))
  // From when the page hears of changes elsewhere.
  const listening = page.waitForResponse(/events\/stream/)
  await page.goto(`${web.rapport.url}/calendar?show=week&date=${day}`)
  await page.getByText('Times in Europe/Berlin').waitFor()
  await listening
  await untilEqual(() => entry(page, 'Größere Führung').count(), 0)
  const { get, post } = visitor(web.rapport.url)
  const form = await get(`/book/tour?slot=${encodeURIComponent(slot)}`)
  const fields = Object.fromEntries(
    ['slot', 'minutes', 'zone'].map((name) => [name, fieldOf(form.text, name)]),
  )
  const booked = await post('/book/tour', { ...fields, ...ana, slot })
  assert.equal(booked.status, 303, booked.text)
  await entry(page, 'Größere Führung').waitFor()

  await entry(page, 'Größere Führung').focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('article', { name: 'Größere Führung' })
  await panel.getByRole('link', { name: 'Ana Ruiz' }).waitFor()
  await panel.getByRole('link', { name: 'Größere Führung' }).waitFor()
})

test('an appointment names the hosts of its booking page who receive the visitor, one host once', async (t) => {
  await joinAs(web.rapport, 'hanna@example.test', 'member', { name: 'Hanna Host' })
  const members: { id: string; name: string }[] = await web.read('/members')
  const hosts = [owner.name, 'Hanna Host'].map((name) => ({
    user_id: members.find((one) => one.name === name)?.id,
  }))
  const fields = { slug: 'together', title: 'Together', time_zone: 'Europe/Berlin' }
  const id = await web.create('/booking-pages', { ...fields, hosts, assignment: 'collective' })
  const [{ start_at: slot }] = await web.read(`/booking-pages/${id}/slots`)
  const { get, post } = visitor(web.rapport.url)
  const form = await get(`/book/together?slot=${encodeURIComponent(slot)}`)
  const hidden = Object.fromEntries(
    ['slot', 'minutes', 'zone'].map((name) => [name, fieldOf(form.text, name)]),
  )
  assert.equal((await post('/book/together', { ...hidden, ...ana, slot })).status, 303)
  const [made] = await web.read(`/appointments?booking_page_id=${id}`)
  const page = await web.open(t, `/calendar/${made.id}`)
  await page.getByRole('heading', { level: 1, name: 'Together' }).waitFor()
  await page.getByText(`${owner.name}, Hanna Host`, { exact: true }).waitFor()
  const alone = await web.create('/booking-pages', { ...fields, slug: 'alone', hosts: hosts.slice(0, 1) })
  const [time] = await web.read(`/booking-pages/${alone}/slots`)
  const own = await web.create('/appointments', { ...time, booking_page_id: alone, title: 'Alone' })
  await visit(page, `/calendar/${own}`)
  await page.getByRole('heading', { level: 1, name: 'Alone' }).waitFor()
  await page.getByRole('button', { name: 'Host: Edit' }).waitFor()
  assert.equal(await page.getByText('Hosts', { exact: true }).count(), 0)
})

test('a host who has left the workspace is named where the change of the hosts is refused', async (t) => {
  await joinAs(web.rapport, 'lea@example.test', 'member', { name: 'Lea Leaver' })
  const members: { id: string; name: string }[] = await web.read('/members')
  const idOf = (name: string) => members.find((one) => one.name === name)?.id
  const id = await web.create('/booking-pages', {
    slug: 'left',
    title: 'Left',
    time_zone: 'Europe/Berlin',
    hosts: [{ user_id: idOf('Lea Leaver') }],
  })
  await web.rapport.call('DELETE', `/api/v1/members/${idOf('Lea Leaver')}`)
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/, load: true })
  await page.getByRole('combobox', { name: 'Add host' }).fill(owner.name)
  await page.getByRole('option', { name: owner.name }).click()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Former member: This record is gone.').waitFor()
  await page.getByRole('button', { name: 'Remove Former member' }).click()
  await page.getByText('This record is gone.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const { hosts } = await web.read(`/booking-pages/${id}`)
  assert.deepEqual(
    hosts.map(({ user_id }: { user_id: string }) => user_id),
    [idOf(owner.name)],
  )
})

test('a booking page says why it offers a time or does not, and leads to what takes it', async (t) => {
  const id = await web.create('/booking-pages', { slug: 'asked', title: 'Asked', time_zone: 'Europe/Berlin' })
  const [taken, free] = await web.read(`/booking-pages/${id}/slots`)
  const appointment = await web.create('/appointments', { ...taken, booking_page_id: id, title: 'Visit' })
  const wall = (at: string) =>
    new Date(at).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' }).slice(0, 16).replace(' ', 'T')
  const page = await web.open(t, `/booking-pages/${id}`)
  const time = page.getByLabel('Why a time is offered, or is not')
  const ask = async (text: string) => {
    await time.fill(text)
    await time.press('Enter')
  }
  await ask(wall(free.start_at))
  const answer = page.getByText('The page offers this time.')
  await answer.waitFor()
  await untilEqual(async () => {
    const box = await answer.boundingBox()
    return box && box.y + box.height <= desk.viewport.height
  }, true)
  await ask(`${wall(free.start_at).slice(0, 10)}T20:00`)
  await page.getByText('The page does not offer this time.').waitFor()
  await page.getByText('Outside the opening hours').waitFor()
  await ask(wall(taken.start_at))
  await page.getByRole('link', { name: /^Appointment · / }).click()
  await page.waitForURL(`**/calendar/${appointment}`)
})

test('what is written on a booking page outlives other pages, and takes back nothing that a colleague has saved', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'shared',
    title: 'Shared',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`)
  await page.getByLabel('Description').fill('Bring a map')
  await page.getByRole('link', { name: 'Contacts' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  await web.rapport.call('PUT', `/api/v1/booking-pages/${id}`, { title: 'Renamed', duration_minutes: 45 })
  await page.goto(`${web.rapport.url}/booking-pages/${id}`)
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  await untilEqual(() => page.getByLabel('Description').inputValue(), 'Bring a map')
  await untilEqual(() => page.getByLabel('Duration in minutes').inputValue(), '45')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const { title, description, duration_minutes } = await web.read(`/booking-pages/${id}`)
  assert.deepEqual([title, description, duration_minutes], ['Renamed', 'Bring a map', 45])
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
})

test('how much visitors may book, and whether somebody answers first, is set on the booking page', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'limited',
    title: 'Limited',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/ })
  await page.getByLabel('Bookings are requests that somebody accepts').check()
  const numbers = {
    'Open bookings of one e-mail, at most': '2',
    'Bookings a day from one network, at most': '5',
    'Bookings an hour in all, at most': '0',
  }
  for (const [label, value] of Object.entries(numbers)) await page.getByLabel(label).fill(value)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText(/from 1 to 10,?000|at least 1/).waitFor()
  await page.getByLabel('Bookings an hour in all, at most').fill('20')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const saved = await web.read(`/booking-pages/${id}`)
  assert.deepEqual(
    [
      saved.approval,
      saved.open_bookings_per_email,
      saved.bookings_per_address_per_day,
      saved.bookings_per_hour,
    ],
    [true, 2, 5, 20],
  )
})

test('a question is added on the booking page, and the service is heard at its fields', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'asking',
    title: 'Asking',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/ })
  await page.getByRole('button', { name: 'Add question' }).click()
  const question = page.getByRole('group', { name: 'Question 1' })
  await question.getByLabel('What visitors read').fill('Which size?')
  await question.getByLabel('Type').click()
  await page.getByRole('option', { name: 'Choice' }).click()
  await question.getByLabel('Key of the custom field').fill('size')
  await question.getByLabel('Needs an answer').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  const options = question.getByLabel('Answers to choose from')
  await untilEqual(() => options.getAttribute('aria-invalid'), 'true')
  for (const option of ['S', 'L']) {
    await options.fill(option)
    await options.press('Enter')
  }
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const asked = { key: 'size', label: 'Which size?', type: 'select', required: true, options: ['S', 'L'] }
  assert.deepEqual((await web.read(`/booking-pages/${id}`)).questions, [asked])
  await page.getByRole('button', { name: 'Remove question 1' }).click()
  await question.waitFor({ state: 'detached' })
})

test('the keyboard stays in the form when a host, a question or hours are added or removed', async (t) => {
  await joinAs(web.rapport, 'nora@example.test', 'member', { name: 'Nora Nine' })
  const id = await web.create('/booking-pages', { slug: 'keys', title: 'Keys', time_zone: 'Europe/Berlin' })
  const page = await web.open(t, `/booking-pages/${id}`)
  const focused = (role: 'button' | 'combobox', name: string) =>
    page.getByRole(role, { name, exact: true }).and(page.locator(':focus')).waitFor()
  const press = async (name: string) => {
    await page.getByRole('button', { name }).focus()
    await page.keyboard.press('Enter')
  }
  const add = page.getByRole('combobox', { name: 'Add host' })
  await add.focus()
  await page.locator('.booking-part').getByRole('combobox', { name: 'Add host' }).fill('Nora')
  await page.getByRole('option', { name: 'Nora Nine' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove Nora Nine' }).waitFor()
  await focused('combobox', 'Add host')
  assert.equal(await page.getByRole('option').count(), 0)
  await press('Remove Nora Nine')
  await focused('combobox', 'Add host')
  await press('Add question')
  await press('Remove question 1')
  await focused('button', 'Add question')
  await press('Remove hours: Friday, 09:00 to 17:00')
  await focused('button', 'Add hours: Friday')
})

test('a weight that is cleared takes a new number, and a length that is not a number stays as typed', async (t) => {
  const members: { id: string; name: string }[] = await web.read('/members')
  const hosts = members
    .filter(({ name }) => name === owner.name)
    .map(({ id }) => ({ user_id: id, weight: 3 }))
  const fields = { slug: 'weighed', title: 'Weighed', time_zone: 'Europe/Berlin' }
  const id = await web.create('/booking-pages', { ...fields, assignment: 'round_robin', hosts })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/ })
  const weight = page.getByLabel(`Weight of ${owner.name}`)
  await weight.fill('')
  await weight.pressSequentially('5')
  await untilEqual(() => weight.inputValue(), '5')
  const lengths = page.getByRole('combobox', { name: 'Lengths to choose from, in minutes' })
  await lengths.fill('1 h')
  await lengths.press('Enter')
  await page.getByText('1 h', { exact: true }).waitFor()
  // The page is longer than the screen: the refused field comes into sight.
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Write a whole number such as 50.').waitFor()
  await lengths.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Backspace')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Booking page saved').waitFor()
  const saved = await web.read(`/booking-pages/${id}`)
  assert.deepEqual([saved.hosts[0].weight, saved.durations], [5, null])
  await weight.fill('')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await weight.and(page.locator('[aria-invalid=true]')).waitFor()
  assert.equal(await page.locator('[aria-invalid=true]').count(), 1)
})

test('a conflict on a booking page, and its change in the audit log, name the fields as the form does', async (t) => {
  const id = await web.create('/booking-pages', { slug: 'both', title: 'Both', time_zone: 'Europe/Berlin' })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 412/ })
  await page.getByRole('combobox', { name: 'Lengths to choose from, in minutes' }).fill('45')
  await page.keyboard.press('Enter')
  await page.getByText('Not saved yet').waitFor()
  const [member] = await web.read('/members')
  const hosts = [{ user_id: member.id, weight: 3 }]
  const theirs = { durations: [30, 60], assignment: 'collective', buffer_minutes: 10, hosts }
  await web.rapport.call('PUT', `/api/v1/booking-pages/${id}`, theirs)
  await page.keyboard.press('Control+s')
  const clash = page.getByRole('dialog').getByRole('row', { name: /^Lengths to choose from/ })
  await untilEqual(() => clash.getByRole('cell').allInnerTexts(), ['30, 60', '45'])
  await page.getByRole('button', { name: 'Keep theirs' }).click()

  await visit(page, '/audit-log')
  await page
    .getByRole('button', { name: /booking page.*Both/ })
    .first()
    .click()
  await page.getByText('Free time before and after, in minutes').waitFor()
  await page.getByText('All together').waitFor()
  await page.getByText(member.name).first().waitFor()
  assert.equal(await page.getByText('[object Object]').count(), 0)
})

test('a refused booking page shows the invalid field, wherever the page was scrolled to', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'refused',
    title: 'Refused',
    time_zone: 'Europe/Berlin',
  })
  const page = await web.open(t, `/booking-pages/${id}`, { allow: /status of 422/ })
  const hourly = page.getByLabel('Bookings an hour in all, at most')
  await hourly.fill('0')
  const title = page.getByRole('textbox', { name: 'Title', exact: true })
  await title.scrollIntoViewIfNeeded()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await hourly.and(page.locator(':focus')).waitFor()
  // The shortcut leaves the focus where the person writes.
  await title.fill('Still refused')
  await page.keyboard.press('ControlOrMeta+s')
  await untilEqual(() => isInView(hourly), true)
  await title.and(page.locator(':focus')).waitFor()
})

const isInView = (field: Locator) =>
  field.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect()
    return top >= 0 && bottom <= (one.ownerDocument.defaultView?.innerHeight ?? 0)
  })

test('on a narrow phone, the form of a booking page does not scroll sideways', async (t) => {
  const name = 'Maximiliana of the house of Hohenstein and Wolkenkuckucksheim'
  await joinAs(web.rapport, 'maximiliana@example.test', 'member', { name })
  const members: { id: string; name: string }[] = await web.read('/members')
  const hosts = members.filter((one) => one.name === name).map(({ id }) => ({ user_id: id }))
  const id = await web.create('/booking-pages', {
    slug: 'narrow',
    title: 'Narrow',
    time_zone: 'Europe/Berlin',
    assignment: 'round_robin',
    hosts,
    embed_origins: ['https://a-very-long-name-of-a-host.of-a-company-with-a-long-name.example.com'],
    questions: [{ key: 'size', type: 'select', options: ['a choice with many words that is rather long'] }],
  })
  const session = await joinAs(web.rapport, 'dora@example.test', 'admin', { language: 'de' })
  const page = await web.open(t, `/booking-pages/${id}`, {
    session,
    viewport: { width: 360, height: 740 },
    // The preview is without scripts, also those of this browser.
    allow: /Blocked script execution/,
  })
  await page.getByLabel(`Gewicht von ${name}`).waitFor()
  // The inputs with lists are there.
  await page.getByText('https://a-very-long-name').waitFor()
  const form = page.locator('.booking-editor')
  await untilEqual(() => form.evaluate((one) => one.scrollWidth - one.clientWidth), 0)
})
