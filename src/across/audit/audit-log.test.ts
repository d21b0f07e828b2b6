// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, readStored } from '../../../test/database.ts'
import { settingsOf } from '../../../test/engine.ts'
import { dataOf } from '../../../test/envelope.ts'
import { client, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { act, type Call, register, webhook } from '../../../test/webhooks.ts'
import { runCommand } from '../../cli/run.ts'

const clock = turnableClock(Date.parse('2026-11-21T08:30:00.000Z'))
const rapport = useRapport({ clock })

const path = '/api/v1/audit-log'
type Entry = {
  id: number
  occurred_at: string
  actor: { kind: string; id: string | null; name: string | null }
  action: string
  kind: string
  record_id: number | string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  request_id: string | null
}
const entries = async (call: Call, query = ''): Promise<Entry[]> =>
  dataOf(await call('GET', `${path}?per_page=100&${query}`), 200)
const done = async (call: Call, method: string, to: string, body?: object) =>
  dataOf(await call(method, `/api/v1${to}`, body))

test('before and after are what GET showed', async () => {
  const call = await newWorkspace(rapport)
  const company = await done(call, 'POST', '/companies', { name: 'Acme' })
  const first = await done(call, 'POST', '/contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    email: 'ana@example.com',
    company_id: company.id,
    custom_fields: { region: 'EMEA' },
  })
  const to = `/contacts/${first.id}`
  clock.advance(1000)
  const second = await done(call, 'PUT', to, { email: null, custom_fields: { size: 5 }, title: 'CEO' })
  await done(call, 'DELETE', to)
  await done(call, 'POST', `${to}/restore`)
  const [restored, deleted, updated, created] = await entries(call, `kind=contacts&record_id=${first.id}`)
  // The value of open deals follows from other records.
  const derived = ['company', 'open_deals_value']
  const not_audited = ['id', 'created_at', 'updated_at', 'created_by', 'updated_by', ...derived]
  const facts = (record: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(record).filter(([name, value]) => value !== null && !not_audited.includes(name)),
    )
  const sides = (entry?: Entry) => [entry?.action, entry?.before, entry?.after]
  assert.deepEqual(sides(created), ['created', null, facts(first)])
  const changed = (record: Record<string, unknown>) => ({
    email: record.email,
    title: record.title,
    custom_fields: record.custom_fields,
  })
  assert.deepEqual(sides(updated), ['updated', changed(first), changed(second)])
  assert.deepEqual(sides(deleted), ['deleted', facts(second), null])
  assert.deepEqual(sides(restored), ['restored', null, facts(second)])
  assert.equal(created?.record_id, first.id)
  assert.equal(updated?.occurred_at, second.updated_at)
})

test('entries of a webhook have the fields of GET, and never its secret', async () => {
  const call = await newWorkspace(rapport)
  const given = 'a-secret-that-nobody-may-read'
  const own = await register(call, { url: 'https://hooks.example/in', name: 'Billing', secret: given })
  const made = await register(call, { url: 'https://hooks.example/two' })
  const to = `/webhooks/${own.id}`
  // The same events in another order, and one of them twice, are the same.
  await done(call, 'PUT', to, { events: ['company.created', 'company.created'], name: 'Invoices' })
  await act(call, own.id, 'pause')
  await act(call, own.id, 'resume')
  const before = await webhook(call, own.id)
  const rotated = await act(call, own.id, 'rotate-secret', { secret: 'another-secret-of-somebody' })
  const again = await act(call, made.id, 'rotate-secret')
  await act(call, own.id, 'resend-failed')
  await done(call, 'DELETE', to)
  const told = await entries(call, `kind=webhooks&record_id=${own.id}`)
  assert.deepEqual(told.map(({ action, before, after }) => [action, before, after]).reverse(), [
    [
      'created',
      null,
      { name: 'Billing', url: 'https://hooks.example/in', events: ['company.created'], status: 'active' },
    ],
    ['updated', { name: 'Billing' }, { name: 'Invoices' }],
    ['paused', { status: 'active' }, { status: 'paused' }],
    ['resumed', { status: 'paused' }, { status: 'active' }],
    [
      'secret_rotated',
      { rotation_ends_at: before.rotation_ends_at },
      { rotation_ends_at: rotated.rotation_ends_at },
    ],
    [
      'deleted',
      {
        name: 'Invoices',
        url: 'https://hooks.example/in',
        events: ['company.created'],
        status: 'active',
        rotation_ends_at: rotated.rotation_ends_at,
      },
      null,
    ],
  ])
  const stored = await readStored(rapport.data_dir)
  const rows = JSON.stringify(await stored.rows('SELECT * FROM audit_log'))
  await stored.close()
  assert.ok(rows.includes(made.id))
  for (const secret of [given, made.secret, rotated.secret, again.secret, 'another-secret-of-somebody'])
    assert.equal(rows.includes(secret.replace('whsec_', '')), false)
})

test('entries of keys and workspaces name the start of the service or the command line as their author', async (t) => {
  const own = await startRapport()
  t.after(() => own.close())
  const run = async (...words: string[]) => {
    const out: string[] = []
    const io = { out: (line: string) => out.push(line), err: assert.fail }
    const code = await runCommand(words, { ...io, env: await settingsOf(own.data_dir) })
    assert.equal(code, 0)
    return out
  }
  const made = await run('keys', 'create', '--name', 'Script', '--scopes', 'contacts:read')
  const [, id = ''] = /key (key_\w+)/.exec(made.join(' ')) ?? []
  await run('keys', 'revoke', id)
  await run('keys', 'revoke', id)
  const told = await entries(own.call)
  assert.deepEqual(
    told.map(({ actor, action, kind, request_id }) => [actor, action, kind, request_id]).reverse(),
    [
      ...['workspaces', 'api_keys'].map((kind) => [
        { kind: 'service', id: null, name: null },
        'created',
        kind,
        null,
      ]),
      ...['created', 'revoked'].map((action) => [
        { kind: 'command_line', id: null, name: null },
        action,
        'api_keys',
        null,
      ]),
    ],
  )
  const [revoked, created, first, workspace] = told
  assert.deepEqual([revoked?.record_id, created?.record_id], [id, id])
  assert.deepEqual(created?.after, { name: 'Script', scopes: ['contacts:read'] })
  assert.deepEqual(revoked?.before, { revoked_at: null })
  assert.ok(revoked?.after?.revoked_at)
  assert.deepEqual(first?.after, { name: 'First key' })
  assert.deepEqual([workspace?.record_id, workspace?.after], [1, { name: 'My workspace' }])

  await run('workspaces', 'create', '--name', 'Second')
  const other = await makeKey(own, { workspace_id: 2 })
  const [, second] = await entries(other.call)
  assert.deepEqual([second?.kind, second?.after], ['workspaces', { name: 'Second' }])
  // Neither a key nor its stored hash.
  const stored = await readStored(own.data_dir)
  const rows = JSON.stringify(await stored.rows('SELECT * FROM audit_log'))
  const hashes = await stored.rows('SELECT hash FROM api_keys')
  await stored.close()
  for (const secret of [own.key, other.token, made.at(-1) ?? '', ...hashes.map(({ hash }) => String(hash))])
    assert.equal(rows.includes(secret), false)
})

test('with details=true, an entry has the present title of its record; a record in the trash has none', async () => {
  const call = await newWorkspace(rapport)
  const contact = await done(call, 'POST', '/contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    title: 'CEO',
  })
  const deal = await done(call, 'POST', '/deals', { name: 'Relaunch' })
  const hook = await register(call, { url: 'https://hooks.example/in', name: 'Billing' })
  await done(call, 'PUT', `/contacts/${contact.id}`, { title: 'CTO' })
  await done(call, 'PUT', `/contacts/${contact.id}`, { last_name: 'Ruiz de Luna' })
  await done(call, 'DELETE', `/deals/${deal.id}`)
  const titles = async (query: string) =>
    (await call('GET', `${path}?${query}`)).body.data.map(({ title }: { title?: unknown }) => title)
  const name = 'Ana Ruiz de Luna'
  assert.deepEqual(await titles('kind=contacts&details=true'), [name, name, name])
  assert.deepEqual(await titles(`kind=webhooks&record_id=${hook.id}&details=true`), ['Billing'])
  assert.deepEqual(await titles('kind=deals&details=true'), [null, null])
  assert.deepEqual(await titles('kind=deals'), [undefined, undefined])
})

test('filters, pages and cursors give what a model gives', async () => {
  const call = await newWorkspace(rapport)
  const reader = await done(call, 'POST', '/companies', { name: 'Zero' })
  for (let n = 1; n <= 12; n++) {
    // Several entries of one time.
    if (n % 4 === 0) clock.advance(1000)
    const { id } = await done(call, 'POST', '/companies', { name: `Company ${n}` })
    if (n % 2) await done(call, 'PUT', `/companies/${id}`, { phone: String(n) })
    if (n % 3 === 0) await done(call, 'DELETE', `/companies/${id}`)
    if (n % 5 === 0) await done(call, 'POST', '/contacts', { first_name: 'A', last_name: String(n) })
  }
  const all = await entries(call)
  assert.deepEqual(
    all,
    all.toSorted((a, b) => b.occurred_at.localeCompare(a.occurred_at) || b.id - a.id),
  )
  const [actor = ''] = all.flatMap((entry) => entry.actor.id ?? [])
  const times = [...new Set(all.map(({ occurred_at }) => occurred_at))]
  const [to = '', from = ''] = times.slice(1, 3)
  const cases: [string, (entry: Entry) => boolean][] = [
    ['', () => true],
    ['kind=companies', ({ kind }) => kind === 'companies'],
    ['kind=notes', () => false],
    ['kind=companies,contacts', ({ kind }) => kind === 'companies' || kind === 'contacts'],
    ['kind=!companies', ({ kind }) => kind !== 'companies'],
    ['action=created,deleted', ({ action }) => action === 'created' || action === 'deleted'],
    ['kind=companies&action=!created', ({ kind, action }) => kind === 'companies' && action !== 'created'],
    [`actor_id=${actor},key_of_nobody`, (entry) => entry.actor.id === actor],
    [`actor_id=!${actor}`, (entry) => entry.actor.id !== actor],
    ['actor_id=null', (entry) => entry.actor.id === null],
    ['actor_id=!null', (entry) => entry.actor.id !== null],
    [`actor_id=null,${actor}`, (entry) => entry.actor.id === null || entry.actor.id === actor],
    [
      `kind=companies&record_id=${reader.id + 3}`,
      ({ kind, record_id }) => kind === 'companies' && record_id === reader.id + 3,
    ],
    [
      `kind=companies&record_id=${reader.id + 3},${reader.id + 2}`,
      ({ kind, record_id }) =>
        kind === 'companies' && [reader.id + 3, reader.id + 2].includes(Number(record_id)),
    ],
    [
      `kind=companies&record_id=!${reader.id + 3}&action=created`,
      ({ kind, record_id, action }) =>
        kind === 'companies' && record_id !== reader.id + 3 && action === 'created',
    ],
    ['action=deleted', ({ action }) => action === 'deleted'],
    ['kind=contacts&action=created', ({ kind, action }) => kind === 'contacts' && action === 'created'],
    [`actor_id=${actor}`, (entry) => entry.actor.id === actor],
    ['actor_id=key_of_nobody', () => false],
    [`from=${to}`, ({ occurred_at }) => occurred_at >= to],
    [`to=${from}`, ({ occurred_at }) => occurred_at <= from],
    [`from=${from}&to=${to}&action=created`, (entry) => inside(entry) && entry.action === 'created'],
    // The same instants, written in another zone.
    [`from=${zoned(from)}&to=${zoned(to)}`, (entry) => inside(entry)],
  ]
  function inside({ occurred_at }: Entry) {
    return occurred_at >= from && occurred_at <= to
  }
  for (const [query, matches] of cases) {
    const expected = all.filter(matches)
    const paged: Entry[] = []
    for (let page = 1; page <= Math.ceil(expected.length / 4) + 1; page++) {
      const { body } = await call('GET', `${path}?per_page=4&page=${page}&${query}`)
      assert.equal(body.meta.total, expected.length, query)
      paged.push(...body.data)
    }
    assert.deepEqual(paged, expected, query)
    const followed: Entry[] = []
    let cursor: string | null = 'start'
    while (cursor !== null) {
      const { body } = await call('GET', `${path}?per_page=4&cursor=${cursor}&${query}`)
      followed.push(...body.data)
      assert.deepEqual(Object.keys(body.meta), ['per_page', 'next_cursor'])
      cursor = body.meta.next_cursor
    }
    assert.deepEqual(followed, expected, query)
  }
  assert.ok(cases.filter(([, matches]) => all.some(matches)).length > 8)
})

const zoned = (time: string) =>
  encodeURIComponent(new Date(Date.parse(time) + 3_600_000).toISOString().replace('Z', '+01:00'))

test('a filter that cannot be meant is refused with its field', async () => {
  for (const [query, field, code] of [
    ['record_id=1', 'kind', 'required'],
    ['record_id=1&kind=contacts,deals', 'kind', 'required'],
    ['action=', 'action', 'required'],
    ['kind=contact', 'kind', 'unknown_value'],
    ['from=yesterday', 'from', 'invalid_format'],
    ['cursor=nonsense', 'cursor', 'invalid_cursor'],
    [`cursor=${place('audit_log', 5, 'x')}`, 'cursor', 'invalid_cursor'],
    [`cursor=${place('audit_log', '2026\0', 5)}`, 'cursor', 'invalid_cursor'],
    [`cursor=${place('timeline', '2026-11-21T08:30:00.000Z', 5)}`, 'cursor', 'invalid_cursor'],
  ]) {
    const { status, body, text } = await rapport.call('GET', `${path}?${query}`)
    assert.equal(status, 422, text)
    assert.deepEqual(
      body.error.fields.map((one: Record<string, string>) => [one.field, one.code]),
      [[field, code]],
    )
  }
  assert.equal((await rapport.call('GET', `${path}?kinds=contacts`)).status, 400)
})

const place = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')

test('the log is read with its own scope, of the own workspace, and changed by no call', async () => {
  const reader = await makeKey(rapport, { scopes: ['audit_log:read'] })
  assert.equal((await reader.call('GET', path)).status, 200)
  const other = await makeKey(rapport, { scopes: ['contacts:read', 'trash:write', 'events:read'] })
  assert.equal((await other.call('GET', path)).status, 403)
  assert.equal((await client(rapport.url, null)('GET', path)).status, 401)
  const mine = await entries(await newWorkspace(rapport))
  assert.deepEqual(
    mine.map(({ kind, action }) => [kind, action]),
    [
      ['api_keys', 'created'],
      ['workspaces', 'created'],
    ],
  )
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.equal((await rapport.call(method, path, method === 'DELETE' ? undefined : {})).status, 405)
    assert.equal((await rapport.call(method, `${path}/1`)).status, 405)
  }
})
