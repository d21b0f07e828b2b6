import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, problems, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/booking-pages'
const now = () => new Date(clock.now()).toISOString()
const ok = async (method: string, url: string, body?: object) => dataOf(await call(method, url, body))
let pages = 0
const newSlug = () => `page-${++pages}`
const make = (body: object = {}) =>
  ok('POST', path, { slug: newSlug(), title: 'Demo', time_zone: 'Europe/Berlin', ...body })
const read = (id: number) => ok('GET', `${path}/${id}`)
const put = (id: number, body: object) => ok('PUT', `${path}/${id}`, body)
const refusedFields = async (method: string, url: string, body: unknown) =>
  problems(await call(method, url, body))
const entriesOf = (id: number) => stored.audit('booking_pages', id)

const day = [{ from: '09:00', to: '17:00' }]
const defaults = {
  description: null,
  duration_minutes: 30,
  buffer_minutes: 0,
  minimum_notice_minutes: 240,
  horizon_days: 60,
  availability: { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day },
  date_overrides: {},
  active: true,
  approval: false,
  open_bookings_per_email: 3,
  bookings_per_address_per_day: 10,
  bookings_per_hour: 30,
  hosts: [],
  assignment: 'fixed',
  stale_calendars: 'offer',
  durations: null,
  reminders_minutes: [1440],
  embed_origins: [],
  questions: [],
  links_in_events: false,
}
const everything = {
  description: 'Half an hour',
  duration_minutes: 45,
  buffer_minutes: 10,
  minimum_notice_minutes: 0,
  horizon_days: 1,
  availability: { sunday: [{ from: '00:00', to: '24:00' }], monday: [] },
  date_overrides: { '2026-12-24': [], '2026-12-25': day },
  active: false,
  approval: true,
  open_bookings_per_email: 1,
  bookings_per_address_per_day: 2,
  bookings_per_hour: 4,
  hosts: [],
  assignment: 'collective',
  stale_calendars: 'stop',
  durations: [20, 45],
  reminders_minutes: [60, 5],
  embed_origins: ['https://www.example.com:8443', 'http://localhost:3000'],
  questions: [
    { key: 'seats', label: 'How many?', type: 'number', required: true, options: [] },
    { key: 'size', label: 'Size', type: 'select', required: false, options: ['S', 'L'] },
  ],
  links_in_events: true,
}

describe('create', () => {
  test('with slug, title and zone alone it has the defaults, in exactly the detail view', async () => {
    const slug = newSlug()
    const reply = await call('POST', path, { slug, title: ' Demo ', time_zone: 'europe/berlin' })
    assert.equal(reply.status, 201)
    const { id, ...rest } = reply.body.data
    assert.equal(reply.headers.get('location'), `${path}/${id}`)
    const dates = { created_at: now(), updated_at: now() }
    assert.deepEqual(rest, {
      slug,
      title: 'Demo',
      time_zone: 'Europe/Berlin',
      ...defaults,
      ...dates,
      ...authorsOf(rest),
    })
    assert.deepEqual(await read(id), reply.body.data)
  })

  test('every field is kept as sent; there is no event, and one audit entry', async () => {
    const events = () => stored.rows('SELECT count(*) AS n FROM events')
    const before = await events()
    const slug = newSlug()
    const { id, created_at, updated_at, ...rest } = await make({ slug, ...everything })
    const sent = { slug, title: 'Demo', time_zone: 'Europe/Berlin', ...everything }
    assert.deepEqual(rest, { ...sent, ...authorsOf(rest) })
    assert.deepEqual(await entriesOf(id), [{ action: 'created', before: null, after: sent }])
    assert.deepEqual(await events(), before)
  })

  test('one answer names every failing field, the taken slug and the rules among them', async () => {
    assert.deepEqual(await refusedFields('POST', path, {}), {
      slug: 'required',
      title: 'required',
      time_zone: 'required',
    })
    const { slug } = await make()
    const wrong = {
      slug,
      title: '',
      description: 5,
      time_zone: '+01:00',
      active: 'yes',
      color: 'red',
      duration_minutes: 4,
      buffer_minutes: -1,
      minimum_notice_minutes: 525_601,
      horizon_days: 0.5,
      availability: { monday: [{ from: '9:00', to: '17:00' }], someday: [] },
      date_overrides: { '2026-02-30': [], '2026-12-24': [{ from: '10:00', to: '09:00' }] },
    }
    assert.deepEqual(await refusedFields('POST', path, wrong), {
      slug: 'taken',
      title: 'required',
      description: 'invalid_type',
      time_zone: 'unknown_time_zone',
      active: 'invalid_type',
      color: 'unknown_field',
      duration_minutes: 'out_of_range',
      buffer_minutes: 'out_of_range',
      minimum_notice_minutes: 'out_of_range',
      horizon_days: 'invalid_type',
      'availability.monday.0.from': 'invalid_format',
      'availability.someday': 'unknown_field',
      'date_overrides.2026-02-30': 'invalid_format',
      'date_overrides.2026-12-24.0.to': 'invalid_interval',
    })
  })

  test('a slug is of lower-case letters, digits and hyphens between them', async () => {
    for (const slug of ['Demo', 'two words', '-a', 'a-', 'ä', 'a_b', 'a/b', '.', 'x\n'])
      if (slug !== slug.trim()) assert.equal((await make({ slug })).slug, slug.trim())
      else
        assert.deepEqual(await refusedFields('PUT', `${path}/${(await make()).id}`, { slug }), {
          slug: 'invalid_format',
        })
    assert.deepEqual(await refusedFields('PUT', `${path}/${(await make()).id}`, { slug: 'a'.repeat(65) }), {
      slug: 'too_long',
    })
    for (const slug of ['a', '7', 'a--b', 'a'.repeat(64)]) assert.equal((await make({ slug })).slug, slug)
  })
})

describe('change', () => {
  test('only what is sent changes, hours as a whole; the audit log has both sides', async () => {
    const one = await make()
    clock.advance(1000)
    const changes = { availability: { sunday: day }, active: false }
    const changed = await put(one.id, { ...changes, title: 'Demo' })
    assert.deepEqual(changed, { ...one, ...changes, updated_at: now() })
    assert.deepEqual((await entriesOf(one.id)).at(-1), {
      action: 'updated',
      before: { availability: one.availability, active: true },
      after: changes,
    })
  })

  test('null puts a field back to its default', async () => {
    const one = await make(everything)
    const nothing = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]))
    const { id, slug, title, time_zone, created_at, updated_at, ...rest } = await put(one.id, nothing)
    assert.deepEqual(rest, { ...defaults, ...authorsOf(rest) })
    assert.deepEqual(
      await refusedFields('PUT', `${path}/${id}`, { slug: null, title: null, time_zone: null }),
      {
        slug: 'required',
        title: 'required',
        time_zone: 'required',
      },
    )
  })

  test('what GET showed can be put back, and a zone in other capitals is the same: nothing changes', async () => {
    const one = await make(everything)
    clock.advance(1000)
    for (const body of [one, {}, { time_zone: 'EUROPE/BERLIN' }])
      assert.deepEqual(await put(one.id, body), one)
    assert.equal((await entriesOf(one.id)).length, 1)
  })

  test('If-Match that is out of date changes nothing', async () => {
    const { id } = await make()
    const etag = { 'if-match': (await call('GET', `${path}/${id}`)).headers.get('etag') ?? '' }
    clock.advance(1000)
    assert.equal((await call('PUT', `${path}/${id}`, { title: 'New' }, etag)).status, 200)
    refused(await call('PUT', `${path}/${id}`, { title: 'Newer' }, etag), 412, 'precondition_failed')
    assert.equal((await read(id)).title, 'New')
  })
})

describe('slugs', () => {
  test('of fifty concurrent requests for one slug, one gets it, and the others are 422 at the field', async () => {
    const slug = newSlug()
    const body = { slug, title: 'Demo', time_zone: 'UTC' }
    const replies = await Promise.all(Array.from({ length: 50 }, () => call('POST', path, body)))
    assert.equal(replies.filter(({ status }) => status === 201).length, 1)
    for (const reply of replies)
      if (reply.status !== 201) assert.deepEqual(problems(reply), { slug: 'taken' })
    const others = await Promise.all([make(), make()])
    const moved = await Promise.all(others.map(({ id }) => call('PUT', `${path}/${id}`, { slug: newSlug() })))
    for (const { status } of moved) assert.equal(status, 200)
    const same = newSlug()
    const raced = await Promise.all(others.map(({ id }) => call('PUT', `${path}/${id}`, { slug: same })))
    assert.deepEqual(raced.map(({ status }) => status).sort(), [200, 422])
  })

  test('one of another workspace is taken too: the public address names no workspace', async () => {
    const other = await newWorkspace(rapport)
    const { slug, id } = await make()
    assert.deepEqual(problems(await other('POST', path, { slug, title: 'Demo', time_zone: 'UTC' })), {
      slug: 'taken',
    })
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/slots'],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const)
      refused(
        await other(method, `${path}/${id}${suffix}`, method === 'PUT' ? {} : undefined),
        404,
        'not_found',
      )
    assert.equal((await other('GET', path)).body.meta.total, 0)
  })

  test('a page in the trash gives its slug free; restoring it is refused while another has it', async () => {
    const one = await make(everything)
    await ok('DELETE', `${path}/${one.id}`)
    refused(await call('GET', `${path}/${one.id}`), 404, 'not_found')
    const second = await make({ slug: one.slug })
    const refusal = refused(await call('POST', `${path}/${one.id}/restore`), 409, 'conflict')
    assert.match(refusal.message, /slug/)
    await put(second.id, { slug: newSlug() })
    assert.deepEqual(await ok('POST', `${path}/${one.id}/restore`), one)
    assert.deepEqual(
      (await entriesOf(one.id)).map(({ action }) => action),
      ['created', 'deleted', 'restored'],
    )
  })
})

test('the list has every live page, newest first, in the detail view', async () => {
  const made = [await make(), await make(everything)]
  const { data, meta } = (await call('GET', `${path}?per_page=2`)).body
  assert.deepEqual(data, made.toReversed())
  await ok('DELETE', `${path}/${made[0].id}`)
  const after = (await call('GET', `${path}?per_page=2`)).body
  assert.deepEqual(after.data[0], made[1])
  assert.equal(after.meta.total, meta.total - 1)
  const first = (await call('GET', `${path}?per_page=1&sort=created_at`)).body
  assert.equal(first.data[0].id, 1)
})
