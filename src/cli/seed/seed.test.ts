import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { client, useRapport } from '../../../test/harness.ts'
import { join, setUp } from '../../../test/people.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { runRapport } from '../../../test/run-rapport.ts'
import { useFor } from '../../../test/use.ts'
import { register } from '../../../test/webhooks.ts'
import { stages } from '../../resources/deals/stages.ts'
import { mainOf } from '../../resources/derived.ts'
import { resources } from '../../resources/index.ts'
import { planOf } from './plan.ts'

// The job that removes old events and deliveries starts 10 s after the service.
const rapport = useRapport({ env: { DELIVERY_LOG_DAYS: '400' } })

const seed = (...words: string[]) => runRapport(['seed', ...words], { DATA_DIR: rapport.data_dir })
const read = async (path: string, call = rapport.call) => {
  const { status, body, text } = await call('GET', `/api/v1/${path}`)
  assert.equal(status, 200, text)
  return body
}

let person: Awaited<ReturnType<typeof setUp>>

test('it fills an empty workspace beside a running service, and the API shows all of it', async () => {
  person = await setUp(rapport)
  await join(person, rapport.url, 'member')
  // Late in the day, some of what is due today may be overdue when it is read.
  const now = new Date().toISOString()
  const { code, stdout } = await seed()
  assert.equal(code, 0)
  const made = ['24 companies', '80 contacts', '60 deals', '145 activities', '30 appointments', '120 notes']
  for (const kind of made) assert.match(stdout, new RegExp(`^Made .*\\b${kind}\\b`))
  const counts = {
    companies: 24,
    contacts: 80,
    deals: 60,
    activities: 145,
    appointments: 30,
    'booking-pages': 1,
    'custom-fields': 8,
    [`activities?completed_at=null&due_at_to=${now}`]: 15,
  }
  for (const [path, total] of Object.entries(counts)) assert.equal((await read(path)).meta.total, total, path)
  for (const { table } of mainOf(resources)) assert.ok((await read(table)).meta.total > 0, table)
  const today = await read(
    `activities?completed_at=null&due_at_from=${now}&due_at_to=${now.slice(0, 10)}T23:59:59.999Z`,
  )
  assert.ok(today.meta.total >= 5)
  for (const stage of stages) assert.ok((await read(`deals?stage=${stage}`)).meta.total > 0, stage)
  const { data } = await read('deals?per_page=100')
  const values: number[] = data.map(({ value }: { value: number | null }) => value ?? 0)
  assert.ok(values.some((value) => !Number.isInteger(value * 100)))
  const owned = await read('contacts?owner_id=!null')
  assert.ok(owned.meta.total > 50)
  assert.equal(new Set(owned.data.map(({ owner_id }: { owner_id: string }) => owner_id)).size, 2)
})

test('a member has one notification of all deals that are theirs, and so of each other kind', async () => {
  const { data } = (await person('GET', '/notifications?per_page=100')).body
  const assigned = data.filter(({ kind }: { kind: string }) => kind === 'assigned')
  const kinds = assigned.map(({ record }: { record: { kind: string } }) => record.kind)
  // The contacts were made more than 90 days ago. A job removes notifications that are so old.
  assert.ok(kinds.includes('deals'))
  assert.deepEqual(kinds, [...new Set(kinds)])
})

test('records, events and entries have times of the last months, each event after the one before', async () => {
  const { data: feed } = await read('events?per_page=100')
  const times = feed.map(({ timestamp }: { timestamp: string }) => timestamp)
  assert.deepEqual(times, [...times].sort())
  const { data: moved } = await read('events?event=deal.stage_changed&per_page=100')
  assert.ok(moved.length > 30)
  const [deal] = (await read('deals?stage=won&per_page=1')).data
  const history = await read(`deals/${deal.id}/stages`)
  assert.ok(history.data.length > 1)
  const { data: entries } = await read(`audit-log?kind=deals&record_id=${deal.id}`)
  assert.equal(entries.at(-1).action, 'created')
  assert.ok((await read('appointments?status=cancelled')).meta.total > 0)
})

test('a record, its event and its entry name the same author', async () => {
  const [event] = (await read('events?event=deal.created')).data
  const { id } = event.data
  const { data: deal } = await read(`deals/${id}`)
  const [entry] = (await read(`audit-log?kind=deals&record_id=${id}`)).data
  const author = { kind: 'service', id: null, name: null }
  assert.deepEqual([deal.created_by, event.actor, entry.actor], [author, author, author])
})

test('contacts, companies and deals have notes, some of them edited later, and some mention a member', async () => {
  const notes: { body: string; created_at: string; updated_at: string }[] = []
  for (const kind of ['contacts', 'companies', 'deals']) {
    const { data: records } = await read(`${kind}?per_page=100`)
    const before = notes.length
    for (const { id } of records) notes.push(...(await read(`${kind}/${id}/notes`)).data)
    assert.ok(notes.length - before >= 20, kind)
  }
  assert.ok(notes.filter(({ created_at, updated_at }) => created_at < updated_at).length > 10)
  assert.ok(notes.some(({ body }) => body.includes('@Ada Lovelace ')))
})

test('a workspace with records is refused, unless they are to be added to', async () => {
  const refused = await seed()
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /Workspace 1 has 24 companies\. .*--add\. .*: \S.* workspaces create --name N$/m,
  )
  assert.equal((await read('companies')).meta.total, 24)
  const added = await seed('--add', '--seed', '7')
  assert.equal(added.code, 0, added.stderr)
  assert.match(added.stdout, /\/book\/intro-call-2/)
  assert.equal((await read('companies')).meta.total, 48)
  for (const wrong of [
    ['--size', 'huge'],
    ['--seed', '0'],
    ['--seed', 'x'],
  ])
    assert.equal((await seed(...wrong)).code, 2, wrong.join(' '))
})

test('it fills the workspace that is named, and its webhooks get the events', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const call = await newWorkspace(rapport)
  await register(call, { url: receiver.url, events: ['deal.won'] })
  const { code, stderr } = await seed('--workspace', '2')
  assert.equal(code, 0, stderr)
  const { data } = await call('GET', '/api/v1/events?event=deal.won&per_page=100').then(({ body }) => body)
  await receiver.waitFor(data.length)
  assert.ok(data.length > 5)
  assert.equal((await client(rapport.url, rapport.key)('GET', '/api/v1/companies')).body.meta.total, 48)
})

test('one seed makes the same plan, another one another plan, and every number works at both sizes', () => {
  const wish = {
    size: 'small',
    now_ms: Date.parse('2026-11-23T09:30:00Z'),
    owners: [],
    names: [],
    slug: 'x',
  } as const
  const made = (seed: number) => JSON.stringify(planOf({ ...wish, seed }))
  assert.equal(made(5), made(5))
  assert.notEqual(made(5), made(6))
  for (const seed of [1, 2, 99, 0xffffffff])
    for (const size of ['small', 'large'] as const)
      for (const at of ['2026-11-23T00:00:00Z', '2028-02-29T23:59:59.999Z']) {
        const now_ms = Date.parse(at)
        const steps = planOf({ ...wish, seed, size, now_ms, owners: ['usr_1'], names: ['Ana Ruiz'] })
        assert.ok(steps.every(({ at_ms }) => at_ms <= now_ms))
        const known = new Set<string | undefined>([undefined])
        for (const { key, of } of steps) {
          for (const name of Object.values(of)) assert.ok(known.has(name), `${name} comes before`)
          known.add(key)
        }
      }
})
