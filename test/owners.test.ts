import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makePage } from './booking.ts'
import { newWorkspace, useStored } from './database.ts'
import { problems, refused } from './envelope.ts'
import { useRapport } from './harness.ts'
import { makeKey } from './keys.ts'
import { ask, type Browser, type Caller, join, keyCaller, setUp } from './people.ts'
import { before } from './use.ts'
import { until } from './webhooks.ts'

type Owned = { id: number; owner_id: string | null }

const rapport = useRapport()
const stored = useStored(rapport)
let ada: Browser
let ada_id: string
before(async () => {
  ada = await setUp(rapport)
  ada_id = (await ada('GET', '/session')).body.data.user.id
})

const key = keyCaller(rapport)
const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
const kinds = {
  contacts: { first_name: 'Zoë', last_name: "O'Brien-Łukasiewicz" },
  companies: { name: 'Größe & Söhne GmbH, Niederlassung Süd' },
  deals: { name: 'Relaunch 2027', value: 753_505.2402 },
  activities: { subject: 'Call back about the offer' },
  appointments: { title: 'Demo', ...times },
}
const each = Object.entries(kinds)

describe('the owner', () => {
  test('is the person who creates the record, if the body names none; a key owns nothing', async () => {
    for (const [kind, body] of each) {
      const owner = async (call: Caller, more: object) =>
        (await ask(call, 'POST', `/${kind}`, { ...body, ...more })).owner_id
      assert.equal(await owner(ada, {}), ada_id, kind)
      assert.equal(await owner(ada, { owner_id: null }), null, kind)
      assert.equal(await owner(ada, { owner_id: '' }), null, kind)
      assert.equal(await owner(key, {}), null, kind)
      assert.equal(await owner(key, { owner_id: ada_id }), ada_id, kind)
    }
  })

  test('is an active member of the workspace: 422 not_found otherwise, beside every other problem', async () => {
    const grace = await join(ada, rapport.url, 'member')
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    const other = await newWorkspace(rapport)
    for (const [kind, body] of each) {
      const refused = async (call: Caller, owner_id: unknown) =>
        problems(await call('POST', `/${kind}`, { ...body, owner_id, tags: ['x'.repeat(65)] }))
      const tag = { 'tags.0': 'too_long' }
      for (const unknown of [
        grace.id,
        'usr_unknown',
        'me',
        "' OR 1=1",
        'key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b',
      ])
        assert.deepEqual(await refused(ada, unknown), { owner_id: 'not_found', ...tag }, unknown)
      assert.deepEqual(await refused(ada, 5), { owner_id: 'invalid_type', ...tag })
      assert.deepEqual(await refused(ada, 'usr_\0'), { owner_id: 'invalid_characters', ...tag })
      const elsewhere: Caller = (method, path, sent) => other(method, `/api/v1${path}`, sent)
      assert.deepEqual(await refused(elsewhere, ada_id), { owner_id: 'not_found', ...tag })
    }
  })

  test('changes with an event and an audit entry; a record keeps the id of a member who left', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const { id } = await ask(grace.call, 'POST', '/companies', kinds.companies)
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    assert.equal((await ask(ada, 'GET', `/companies/${id}`)).owner_id, grace.id)
    // The answer of GET can be sent back.
    const shown = await ask(ada, 'GET', `/companies/${id}`)
    assert.deepEqual(await ask(ada, 'PUT', `/companies/${id}`, shown), shown)
    const changed = await ask(ada, 'PUT', `/companies/${id}`, { owner_id: ada_id })
    assert.equal(changed.owner_id, ada_id)
    const [, event] = await stored.events('company', id)
    assert.deepEqual(
      [event?.event, event?.changed_fields, event?.previous],
      ['company.updated', ['owner_id'], { owner_id: grace.id }],
    )
    const [entry] = (await ada('GET', `/audit-log?kind=companies&record_id=${id}`)).body.data
    assert.deepEqual(
      [entry.action, entry.before, entry.after],
      ['updated', { owner_id: grace.id }, { owner_id: ada_id }],
    )
  })

  test('is in every list', async () => {
    for (const [kind, body] of each) {
      const { id } = await ask(ada, 'POST', `/${kind}`, body)
      const [newest] = await ask(ada, 'GET', `/${kind}?per_page=1`)
      assert.deepEqual([newest.id, newest.owner_id], [id, ada_id], kind)
    }
  })
})

describe('a reassignment', () => {
  test('gives every live record of a member to another one, with an event and an audit entry each', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const made: [string, number][] = []
    for (let n = 0; n < 24; n++)
      for (const [kind, body] of each) made.push([kind, (await ask(grace.call, 'POST', `/${kind}`, body)).id])
    const [[, trashed], [, company]] = made as [[string, number], [string, number]]
    await ask(ada, 'DELETE', `/contacts/${trashed}`)
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    const to = { to: ada_id }
    assert.deepEqual(await ask(ada, 'POST', `/members/${grace.id}/reassign`, to), { count: 119 })
    const owners = async () => {
      const shown = made
        .slice(1)
        .map(async ([kind, id]) => (await ask(ada, 'GET', `/${kind}/${id}`)).owner_id)
      return new Set(await Promise.all(shown))
    }
    while ((await owners()).has(grace.id));
    assert.deepEqual(await owners(), new Set([ada_id]))
    const [, event] = await stored.events('company', company)
    assert.deepEqual([event?.event, event?.previous], ['company.updated', { owner_id: grace.id }])
    const [entry] = (await ada('GET', `/audit-log?kind=companies&record_id=${company}`)).body.data
    assert.deepEqual([entry.actor.id, entry.after], [ada_id, { owner_id: ada_id }])
    const [whole] = (await ada('GET', `/audit-log?kind=members&record_id=${grace.id}`)).body.data
    assert.deepEqual([whole.action, whole.after], ['reassigned', { to: ada_id, count: 119 }])
    assert.equal((await ask(ada, 'POST', `/contacts/${trashed}/restore`)).owner_id, grace.id)
    assert.deepEqual(await ask(ada, 'POST', `/members/${grace.id}/reassign`, { to: null }), { count: 1 })
    assert.equal((await ask(ada, 'GET', `/contacts/${trashed}`)).owner_id, null)
  })

  test('leaves the bookings at whose times the new owner is busy, now and later, and gives all others', async () => {
    const [grace, linus] = [await join(ada, rapport.url, 'member'), await join(ada, rapport.url, 'member')]
    const page = await makePage(rapport, { slug: 'reassigned', hosts: [{ user_id: grace.id }] })
    const hours = Array.from({ length: 60 }, (_, n) => Date.parse('2027-01-04T08:00:00.000Z') + n * 3_600_000)
    const spanOf = (start: number) => ({
      start_at: new Date(start).toISOString(),
      end_at: new Date(start + 1_800_000).toISOString(),
    })
    const ids: number[] = []
    for (const start of hours)
      ids.push(
        (
          await ask(key, 'POST', '/appointments', {
            title: 'Demo',
            booking_page_id: page.id,
            ...spanOf(start),
          })
        ).id,
      )
    const busy = [3, 55]
    for (const n of busy)
      await ask(key, 'POST', '/appointments', { title: 'Away', owner_id: linus.id, ...spanOf(hours[n] ?? 0) })
    // One of the first 50 stays at once. The other one stays later.
    const given = await ask(ada, 'POST', `/members/${grace.id}/reassign`, { to: linus.id })
    assert.deepEqual(given, { count: 59 })
    const left = async () => {
      const all = (await key('GET', `/appointments?booking_page_id=${page.id}&per_page=100`)).body.data
      return all
        .filter(({ owner_id }: Owned) => owner_id === grace.id)
        .map(({ id }: Owned) => ids.indexOf(id))
    }
    await until(left, ({ length }) => length <= busy.length)
    assert.deepEqual((await left()).sort(), busy)
    await until(
      () => stored.rows("SELECT id FROM work WHERE kind = 'reassignment' AND subject = ?", grace.id),
      ({ length }) => length === 0,
    )
    assert.deepEqual(await ask(ada, 'POST', `/members/${grace.id}/reassign`, { to: linus.id }), { count: 0 })
  })

  test('is refused without a new owner, for a stranger, and without the scopes of every kind', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const path = `/members/${grace.id}/reassign`
    assert.deepEqual(problems(await ada('POST', path, {})), { to: 'required' })
    assert.deepEqual(problems(await ada('POST', path, { to: 'usr_unknown' })), { to: 'not_found' })
    assert.equal((await ada('POST', '/members/usr_unknown/reassign', { to: null })).status, 404)
    const matched = await ada('POST', path, { to: null }, { 'if-match': '"stale"' })
    refused(matched, 412, 'precondition_failed')
    assert.equal((await grace.call('POST', path, { to: null })).status, 403)
    const scopes = ['members:write', 'contacts:write', 'companies:write', 'deals:write', 'activities:write']
    const { call: limited } = await makeKey(rapport, { scopes })
    const reply = await limited('POST', `/api/v1${path}`, { to: null })
    assert.match(reply.body.error.message, /appointments:write/)
  })
})

describe('the authors', () => {
  test('are who made a record and who changed it last, by their present names', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const person = { kind: 'person', id: grace.id, name: 'Grace Hopper' }
    for (const [kind, body] of each) {
      const made = await ask(key, 'POST', `/${kind}`, body)
      assert.deepEqual([made.created_by.kind, made.created_by.name], ['key', 'First key'], kind)
      assert.deepEqual(made.updated_by, made.created_by)
      const changed = await ask(grace.call, 'PUT', `/${kind}/${made.id}`, { tags: ['seen'] })
      assert.deepEqual([changed.created_by, changed.updated_by], [made.created_by, person])
      // Nothing changes, so nobody changed it.
      assert.deepEqual(await ask(key, 'PUT', `/${kind}/${made.id}`, { tags: ['seen'] }), changed)
      // They cannot be set.
      const forged = { created_by: person, updated_by: { kind: 'key', id: 'key_x', name: 'x' } }
      assert.deepEqual(await ask(key, 'PUT', `/${kind}/${made.id}`, forged), changed)
    }
    const { id } = await ask(grace.call, 'POST', '/contacts', kinds.contacts)
    const note = await ask(grace.call, 'POST', `/contacts/${id}/notes`, { body: 'Wants a quote.' })
    assert.deepEqual([note.created_by, note.updated_by], [person, person])
    await ask(grace.call, 'PUT', '/profile', { name: 'Rear Admiral Hopper' })
    const renamed = { ...person, name: 'Rear Admiral Hopper' }
    assert.deepEqual((await ask(ada, 'GET', `/contacts/${id}`)).created_by, renamed)
    assert.deepEqual((await ask(ada, 'GET', `/contacts/${id}/notes`))[0].created_by, renamed)
  })
})

describe('tags and custom fields', () => {
  test('are on every record as on contacts: merged key by key, with the limits of the contract', async () => {
    for (const [kind, body] of each) {
      const sent = { tags: [' Ünï ', 'a,b'], custom_fields: { region: 'EMEA', seats: 12.5, vip: true } }
      const { id, tags, custom_fields } = await ask(key, 'POST', `/${kind}`, { ...body, ...sent })
      assert.deepEqual([tags, custom_fields], [['Ünï', 'a,b'], sent.custom_fields], kind)
      const put = (more: object) => key('PUT', `/${kind}/${id}`, more)
      const { data } = (await put({ custom_fields: { region: null, seats: 13 } })).body
      assert.deepEqual(data.custom_fields, { seats: 13, vip: true })
      assert.deepEqual(problems(await put({ custom_fields: { nested: {} } })), {
        'custom_fields.nested': 'invalid_type',
      })
      const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'x'.repeat(4096)]))
      assert.deepEqual(problems(await put({ custom_fields: large })), { custom_fields: 'too_large' })
      assert.deepEqual(problems(await put({ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) })), {
        tags: 'too_many',
      })
    }
  })
})

test('the events that the interface specifies keep exactly their keys', async () => {
  const { id } = await ask(ada, 'POST', '/contacts', kinds.contacts)
  const [event] = await stored.events('contact', id)
  assert.deepEqual(Object.keys(event?.data ?? {}), [
    'id',
    'first_name',
    'last_name',
    'email',
    'phone',
    'company_id',
    'stage',
    'created_at',
  ])
  const deal = await ask(ada, 'POST', '/deals', { ...kinds.deals, stage: 'won' })
  const won = (await stored.events('deal', deal.id)).find((one) => one.event === 'deal.won')
  assert.deepEqual(Object.keys(won?.data ?? {}), [
    'id',
    'name',
    'value',
    'contact_id',
    'company_id',
    'stage',
    'closed_at',
  ])
})
