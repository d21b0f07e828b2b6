import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Caller, data, exported, imported, workspaceOf } from '../../test/archives.ts'
import { refused } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { archiveOf, upload } from '../../test/imports.ts'
import { makeKey } from '../../test/keys.ts'
import { readArchive } from '../files/archive.ts'

const from = useRapport()

const newWorkspace = () => workspaceOf(from)

const kinds = [
  'companies',
  'contacts',
  'deals',
  'activities',
  'booking_pages',
  'appointments',
  'notes',
  'company_notes',
  'deal_notes',
] as const
const own = [
  'id',
  'created_at',
  'updated_at',
  'closed_at',
  'created_by',
  'updated_by',
  'stage_entered_at',
  // Another page of the installation has it, so the copy gets a number.
  'slug',
  'company',
  'contact',
  'deal',
]

/** The lines of a kind in an archive, by its own reader. */
async function archivedRows(caller: Caller, kind: string): Promise<Record<string, unknown>[]> {
  const parts = (async function* () {
    yield gunzipSync(await exported(caller))
  })()
  const rows: Record<string, unknown>[] = []
  for await (const { name, content } of readArchive(parts, () => true))
    if (name.startsWith(`${kind}-`))
      rows.push(
        ...content
          .toString()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      )
  return rows
}

/** All records, with the places of what they refer to in place of ids. */
async function comparable(caller: Caller) {
  const rowsOf = (kind: string) => archivedRows(caller, kind)
  const places = new Map<string, string>()
  const all: Record<string, object[]> = {}
  for (const kind of kinds) {
    const rows = await rowsOf(kind)
    for (const [n, { id }] of rows.entries()) places.set(`${kind}/${id}`, `${kind} ${n}`)
    all[kind] = rows.map((row) => {
      const fields = Object.entries(row).filter(([name]) => !own.includes(name))
      const linked = {
        company_id: 'companies',
        contact_id: 'contacts',
        deal_id: 'deals',
        booking_page_id: 'booking_pages',
      } as Record<string, string>
      return Object.fromEntries(
        fields.map(([name, value]) => {
          if (name === 'guest_ids')
            return [name, (value as number[]).map((id) => places.get(`contacts/${id}`))]
          return [name, linked[name] ? places.get(`${linked[name]}/${value}`) : value]
        }),
      )
    })
  }
  return all
}

let pages = 0
async function fill(to: Caller) {
  // Two companies of one name: a link by name would take the wrong one.
  const twins = [
    await data(to, 'POST', 'companies', { name: 'Twin' }),
    await data(to, 'POST', 'companies', { name: 'Twin', tags: ['=1+1', 'a;b'] }),
  ]
  const company_id = twins[1].id
  const hostile = {
    first_name: "'=cmd|x",
    last_name: '\u202eÅÍ 田中 👩‍👩‍👧',
    custom_fields: { 'a"b': '\r\n', n: 1.5, yes: true },
  }
  const contact = await data(to, 'POST', 'contacts', { ...hostile, company_id, tags: ['"', 'null'] })
  const other = await data(to, 'POST', 'contacts', { first_name: 'No', last_name: 'Company' })
  const deal = await data(to, 'POST', 'deals', {
    name: '#REF!',
    value: 12.5,
    stage: 'lost',
    company_id,
    contact_id: contact.id,
  })
  await data(to, 'PUT', `deals/${deal.id}`, { lost_reason: '<script>' })
  await data(to, 'POST', 'deals', { name: 'Won', stage: 'won', contact_id: contact.id })
  await data(to, 'POST', 'activities', {
    subject: 'Call',
    body: 'two\nlines',
    due_at: '2030-01-31T09:00:00.000Z',
    deal_id: deal.id,
  })
  for (const body of ['=1+1', '\u202e\n"quoted", 👩‍👩‍👧', 'null'])
    await data(to, 'POST', `contacts/${contact.id}/notes`, { body })
  await data(to, 'POST', `companies/${company_id}/notes`, { body: '+49 30 1234\nfront desk' })
  await data(to, 'POST', `deals/${deal.id}/notes`, { body: '@cmd' })
  const page = await data(to, 'POST', 'booking-pages', {
    slug: `demo-${++pages}`,
    title: '<script>',
    time_zone: 'Europe/Berlin',
    availability: { monday: [{ from: '09:00', to: '12:00' }] },
    date_overrides: { '2030-12-25': [] },
    active: false,
  })
  // A cancelled one and its successor have the same time of the page.
  const time = { start_at: '2030-01-31T09:00:00.000Z', end_at: '2030-01-31T09:30:00.000Z' }
  const booked = {
    title: '+cmd|x',
    ...time,
    contact_id: contact.id,
    booking_page_id: page.id,
    deal_id: deal.id,
    guest_ids: [other.id, contact.id],
  }
  const { id } = await data(to, 'POST', 'appointments', booked)
  await data(to, 'POST', `appointments/${id}/cancel`, { reason: "'=x" })
  await data(to, 'POST', 'appointments', { ...booked, tags: ['a;b'], custom_fields: { n: 1.5 } })
}

test('an archive of a workspace gives another one equal records, linked by their old ids, and undo removes them', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  await fill(source)
  // Strangers have the ids or names that the archive refers to.
  await data(target, 'POST', 'companies', { name: 'Twin' })
  const stranger = await comparable(target)
  const done = await imported(target, await exported(source))
  const errors = (await target.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  assert.deepEqual(
    [done.status, done.resource, done.created, done.failed, done.message],
    ['succeeded', 'workspace', 15, 0, null],
    errors,
  )
  await target.call('DELETE', `/api/v1/companies/${(await data(target, 'GET', 'companies?sort=id'))[0].id}`)
  assert.deepEqual(await comparable(target), await comparable(source))
  const [note] = await archivedRows(target, 'notes')
  assert.deepEqual(note?.created_by, done.created_by)
  const empty = await newWorkspace()
  await imported(empty, await exported(target))
  assert.deepEqual(await comparable(empty), await comparable(source))
  assert.deepEqual(await data(target, 'POST', `imports/${done.id}/undo`), { restored: 15, left: [] })
  const { companies: _, ...left } = await comparable(target)
  const { companies: __, ...before } = stranger
  assert.deepEqual(left, before)
  const [listed] = await data(target, 'GET', 'imports')
  assert.equal(listed.status, 'undone')
})

test('a dry run of an archive counts, and writes nothing', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  await fill(source)
  const done = await imported(target, await exported(source), '&dry_run=true')
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 15, 0])
  assert.deepEqual(
    done.kinds.map(({ kind, rows_read, created }: Record<string, unknown>) => [kind, rows_read, created]),
    [
      ['companies', 2, 2],
      ['contacts', 2, 2],
      ['notes', 3, 3],
      ['company_notes', 1, 1],
      ['deals', 2, 2],
      ['deal_notes', 1, 1],
      ['activities', 1, 1],
      ['booking_pages', 1, 1],
      ['appointments', 2, 2],
    ],
  )
  for (const rows of Object.values(await comparable(target))) assert.deepEqual(rows, [])
})

test('a line with an error, an unknown owner and a missing company are reported with their file and line', async () => {
  const target = await newWorkspace()
  const contact = { first_name: 'Ana', last_name: 'Ruiz', owner_id: 'usr_gone', company_id: 7 }
  const lines = `${JSON.stringify({ id: 1, ...contact })}\n{"id":2,"first_name":"Zoë","owner_id":"usr_gone"}\nnot JSON\n${'x'.repeat(5_000_000)}\n`
  const done = await imported(target, archiveOf({ 'contacts-0001.ndjson': lines }))
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 1, 3])
  assert.deepEqual(done.kinds, [
    { kind: 'contacts', rows_read: 4, created: 1, updated: 0, skipped: 0, failed: 3 },
  ])
  const { text } = await target.call('GET', `/api/v1/imports/${done.id}/errors`)
  assert.match(text, /company_id,"contacts-0001\.ndjson, line 1: .*,not_in_archive\r/)
  assert.match(text, /owner_id,"contacts-0001\.ndjson, line 1: .*,no_such_member\r/)
  assert.match(text, /last_name,"contacts-0001\.ndjson, line 2: /)
  // It is not imported at all.
  assert.doesNotMatch(text, /owner_id,"contacts-0001\.ndjson, line 2: /)
  assert.match(text, /contacts-0001\.ndjson, line 3: The line is not valid JSON/)
  assert.match(text, /contacts-0001\.ndjson, line 4: The line has more than 2097152 characters/)
})

test('a record far longer than a row of other files comes back from its archive', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  const hours = Array.from({ length: 9 }, (_, n) => ({ from: `0${n}:00`, to: `0${n}:30` }))
  const days = Array.from({ length: 1000 }, (_, n) =>
    new Date(Date.UTC(2030, 0, 1 + n)).toISOString().slice(0, 10),
  )
  const date_overrides = Object.fromEntries(days.map((day) => [day, hours]))
  const page = { slug: `demo-${++pages}`, title: 'Demo', time_zone: 'Europe/Berlin', active: false }
  const { id } = await data(source, 'POST', 'booking-pages', { ...page, date_overrides })
  await data(source, 'PUT', `booking-pages/${id}`, { description: `1${'\n'.repeat(65_000)}2` })
  const done = await imported(target, await exported(source))
  assert.deepEqual([done.status, done.created, done.failed, done.message], ['succeeded', 1, 0, null])
  assert.deepEqual(await comparable(target), await comparable(source))
})

test('a cut, foreign or hostile archive fails with a message that says why', async () => {
  const target = await newWorkspace()
  const whole = archiveOf({ 'companies-0001.ndjson': '{"id":1,"name":"Whole"}\n' })
  const broken: [Uint8Array, RegExp][] = [
    [whole.subarray(0, whole.length - 20), /cut off/],
    [gzipSync(Buffer.alloc(100, 'x')), /cut off/],
    [gzipSync(Buffer.alloc(5000, 'x')), /not a \.tar\.gz archive/],
    [Buffer.from('name\nAcme\n'), /not a \.tar\.gz archive/],
    [archiveOf({ '../companies-0001.ndjson': '' }), /unknown/],
    [archiveOf({ 'companies-0001.ndjson': ' '.repeat(17 * 1024 * 1024) }), /larger than 16 MiB/],
  ]
  for (const [file, message] of broken) {
    const done = await imported(target, file)
    assert.equal(done.status, 'failed')
    assert.match(done.message, message)
  }
})

test('an archive needs its own content type, every write scope, and no options of rows', async () => {
  const file = archiveOf({ 'companies-0001.ndjson': '' })
  const gzip = { 'content-type': 'application/gzip' }
  refused(await upload(from, '?resource=workspace', file), 415, 'unsupported_media_type')
  refused(await upload(from, '?resource=contacts', file, gzip), 415, 'unsupported_media_type')
  refused(await upload(from, '?resource=workspace&on_match=skip', file, gzip), 422, 'validation_failed')
  const { token: key } = await makeKey(from, { scopes: ['imports:write', 'contacts:write'] })
  refused(await upload({ url: from.url, key }, '?resource=workspace', file, gzip), 403, 'forbidden')
  const kinds = ['contacts', 'companies', 'deals', 'activities'].map((kind) => `${kind}:write`)
  const { token } = await makeKey(from, { scopes: ['imports:write', ...kinds] })
  refused(await upload({ url: from.url, key: token }, '?resource=workspace', file, gzip), 403, 'forbidden')
})

test('the preview of an archive counts its rows by kind, and writes nothing', async () => {
  const to = await newWorkspace()
  const line = (n: number) => `${JSON.stringify({ id: n, name: 'Nordwind\nLogistik' })}\n`
  const lines = (count: number) => Array.from({ length: count }, (_, n) => line(n + 1)).join('')
  const archive = archiveOf({
    'workspace-0001.ndjson': lines(1),
    'members-0001.ndjson': lines(3),
    'contacts-0001.ndjson': lines(1200),
    'contacts-0002.ndjson': lines(4).trimEnd(),
    'companies-0001.ndjson': lines(88),
    'deals-0001.ndjson': '',
    'notes-0001.ndjson': lines(7),
  })
  const gzip = { 'content-type': 'application/gzip' }
  const preview = (file: Uint8Array) => upload(to, '/preview?resource=workspace', file, gzip)
  const { body } = await preview(archive)
  assert.deepEqual(body.data.kinds, [
    { kind: 'companies', rows: 88 },
    { kind: 'contacts', rows: 1204 },
    { kind: 'notes', rows: 7 },
  ])
  assert.equal(body.data.complete, true)
  assert.equal((await to.call('GET', '/api/v1/imports')).body.meta.total, 0)
  refused(await preview(archive.subarray(0, 200)), 400, 'bad_request')
  refused(await preview(Buffer.from('no archive')), 400, 'bad_request')
  refused(await preview(archiveOf({ 'strange.txt': 'x' })), 400, 'bad_request')
  refused(
    await upload(to, '/preview?resource=workspace', 'a,b', { 'content-type': 'text/csv' }),
    415,
    'unsupported_media_type',
  )
})

test('the progress of an archive grows through the readings of all kinds, up to 1', async () => {
  const to = await newWorkspace()
  const rows = Array.from(
    { length: 6000 },
    (_, n) => `${JSON.stringify({ id: n + 1, name: `Nordwind ${n}` })}\n`,
  )
  const archive = archiveOf({ 'companies-0001.ndjson': rows.join(''), 'deals-0001.ndjson': rows.join('') })
  const { body } = await upload(to, '?resource=workspace', archive, { 'content-type': 'application/gzip' })
  const seen: number[] = [body.data.progress]
  let status = body.data.status
  while (status === 'queued' || status === 'running') {
    const shown = await data(to, 'GET', `imports/${body.data.id}`)
    status = shown.status
    seen.push(shown.progress)
  }
  assert.equal(status, 'succeeded')
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    seen,
  )
  assert.equal(seen[0], 0)
  assert.equal(seen.at(-1), 1)
  assert.ok(seen.some((share) => share > 0 && share < 1))
})
