// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { engine } from '../../../test/engine.ts'
import { startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { importFile, upload } from '../../../test/imports.ts'
import { ask, type Browser, type Caller, join, keyCaller, setUp } from '../../../test/people.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { before, useFor } from '../../../test/use.ts'
import { attemptsNothing, register, until, webhook } from '../../../test/webhooks.ts'
import { role_scopes } from '../../app.ts'

const clock = turnableClock(Date.now())
const rapport = useRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '1' } })
const stored = useStored(rapport)
let ada: Browser
let ada_id: string
before(async () => {
  ada = await setUp(rapport)
  ada_id = (await ada('GET', '/session')).body.data.user.id
})

const key = keyCaller(rapport)
async function listed(call: Caller, query = '') {
  const { status, body, text } = await call('GET', `/notifications${query}`)
  assert.equal(status, 200, text)
  return body
}
const member = (role: 'admin' | 'member' | 'read_only' = 'member') => join(ada, rapport.url, role)

const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
const kinds = {
  contacts: [{ first_name: 'Zoë', last_name: "O'Brien-Łukasiewicz" }, "Zoë O'Brien-Łukasiewicz"],
  companies: [{ name: 'Größe & Söhne GmbH' }, 'Größe & Söhne GmbH'],
  deals: [{ name: 'Relaunch 2027' }, 'Relaunch 2027'],
  activities: [{ subject: 'Call back about the offer' }, 'Call back about the offer'],
  appointments: [{ title: 'Demo', ...times }, 'Demo'],
} as const
const contact = (more: object = {}) => ({ first_name: 'Ana', last_name: 'Ruiz', ...more })

describe('an assignment', () => {
  test('of each kind of record notifies its owner, by a person or a key, when created or changed', async () => {
    const grace = await member()
    const expected: object[] = []
    for (const [kind, [body, title]] of Object.entries(kinds)) {
      const { id } = await ask(ada, 'POST', `/${kind}`, { ...body, owner_id: grace.id })
      const by_ada = { kind: 'person', id: ada_id, name: 'Ada Lovelace' }
      expected.unshift({ kind: 'assigned', record: { kind, id, title }, records: 1, actor: by_ada })
      clock.advance(1)
      const made = await ask(key, 'POST', `/${kind}`, body)
      await ask(key, 'PUT', `/${kind}/${made.id}`, { owner_id: grace.id })
      expected.unshift({ kind: 'assigned', record: { kind, id: made.id, title }, records: 1, actor: 'key' })
      clock.advance(1)
      // The owner stays the same: nothing to tell.
      await ask(key, 'PUT', `/${kind}/${made.id}`, { owner_id: grace.id, tags: ['vip'] })
    }
    const { data, meta } = await listed(grace.call)
    const shown = data.map(({ kind, record, records, actor }: Record<string, { kind: string }>) => ({
      kind,
      record,
      records,
      actor: actor?.kind === 'key' ? 'key' : actor,
    }))
    assert.deepEqual(shown, expected)
    assert.deepEqual(meta, { per_page: 25, next_cursor: null, unread: 10 })
    const { id, occurred_at, ...rest } = data[0]
    assert.equal(typeof id, 'number')
    assert.match(occurred_at, /^\d{4}-.*Z$/)
    assert.deepEqual([rest.note_id, rest.outcome, rest.read_at], [null, null, null])
  })

  test('of a record to oneself notifies nobody, and so does one that is refused or only tried', async () => {
    const grace = await member()
    const { id } = await ask(grace.call, 'POST', '/contacts', contact())
    await ask(grace.call, 'PUT', `/contacts/${id}`, { owner_id: null })
    await ask(grace.call, 'PUT', `/contacts/${id}`, { owner_id: grace.id })
    await ada('POST', '/contacts', { owner_id: grace.id })
    const items = [{ op: 'create', data: contact({ owner_id: grace.id }) }]
    await ask(ada, 'POST', '/contacts/batch?dry_run=true', { items })
    assert.equal((await listed(grace.call)).meta.unread, 0)
  })

  test('of 500 records in one batch is one notification for each owner', async () => {
    const [grace, linus] = [await member(), await member()]
    const items = Array.from({ length: 500 }, (_, n) => ({
      op: 'create',
      data: contact({ owner_id: n % 5 ? grace.id : linus.id }),
    }))
    await ask(ada, 'POST', '/contacts/batch', { items })
    for (const [{ call }, records] of [
      [grace, 400],
      [linus, 100],
    ] as const) {
      const { data, meta } = await listed(call)
      assert.deepEqual([data.length, meta.unread, data[0].records], [1, 1, records])
    }
  })

  test('of an item that fails in a batch counts for nothing', async () => {
    const grace = await member()
    const data = contact({ owner_id: grace.id })
    const items = [
      { op: 'create', data },
      { op: 'create', data: { ...data, email: 'no address' } },
      { op: 'update', id: 987_654_321, data: { owner_id: grace.id } },
    ]
    await ask(ada, 'POST', '/contacts/batch', { items, atomic: false })
    const { data: all } = await listed(grace.call)
    assert.deepEqual(
      all.map(({ records }: { records: number }) => records),
      [1],
    )
  })

  test('of all records of a member who leaves is one notification, however many transactions it takes', async () => {
    const [grace, linus] = [await member(), await member()]
    const items = Array.from({ length: 120 }, () => ({ op: 'create', data: contact({ owner_id: linus.id }) }))
    await ask(ada, 'POST', '/contacts/batch', { items })
    await ask(ada, 'POST', `/members/${linus.id}/reassign`, { to: grace.id })
    const { data } = await until(
      () => listed(grace.call),
      ({ data }) => data[0]?.records === 120,
    )
    assert.equal(data.length, 1)
  })

  test('by two requests at the same time notifies of both', async (t) => {
    const grace = await member()
    // SQLite has one process.
    const second = engine === 'postgres' ? await startRapport({ data_dir: rapport.data_dir }) : rapport
    if (second !== rapport) t.after(() => second.close())
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? rapport : second).call(
          'POST',
          '/api/v1/deals',
          { name: `Deal ${n}`, owner_id: grace.id },
          {
            authorization: `Bearer ${rapport.key}`,
          },
        ),
      ),
    )
    assert.ok(made.every(({ status }) => status === 201))
    const { data, meta } = await listed(grace.call)
    assert.equal(meta.unread, 20)
    assert.deepEqual(
      new Set(data.map(({ record }: { record: { id: number } }) => record.id)),
      new Set(made.map(({ body }) => body.data.id)),
    )
  })
})

describe('an import', () => {
  const file = (owner: string, rows: number) =>
    `first_name,last_name,owner_id\n${`Ana,Ruiz,${owner}\n`.repeat(rows)}`
  const by = ({ call }: { call: Browser }) => ({ cookie: call.cookie(), authorization: 'None' })

  test('notifies its author of its outcome, and each owner once, at its end', async () => {
    const [grace, linus] = [await member(), await member()]
    const done = await importFile(rapport, { resource: 'contacts' }, file(grace.id, 2500), by(linus))
    assert.deepEqual([done.status, done.created], ['succeeded', 2500])
    const { data } = await listed(grace.call)
    assert.deepEqual(
      data.map(({ kind, records, actor }: Record<string, { id: string }>) => [kind, records, actor?.id]),
      [['assigned', 2500, linus.id]],
    )
    assert.equal(data[0].occurred_at, done.finished_at)
    const [own, ...others] = (await listed(linus.call)).data
    assert.deepEqual(others, [])
    assert.deepEqual([own.kind, own.outcome, own.record.id], ['import_ended', 'succeeded', done.id])
    assert.equal(own.actor.kind, 'service')
  })

  test('of a key notifies nobody of its end', async () => {
    const grace = await member()
    await importFile(rapport, { resource: 'contacts' }, file(grace.id, 1))
    const { data } = await listed(grace.call)
    assert.deepEqual(
      data.map(({ kind }: { kind: string }) => kind),
      ['assigned'],
    )
  })

  test('that somebody else cancels notifies its author of who it was, and shows what was assigned', async () => {
    const [grace, linus] = [await member(), await member()]
    const { body } = await upload(rapport, '?resource=contacts', file(grace.id, 60_000), by(linus))
    const path = `/imports/${body.data.id}`
    await until(
      () => ask(ada, 'GET', path),
      ({ created }) => created > 0,
    )
    assert.deepEqual((await listed(grace.call)).data, [])
    assert.equal((await ask(ada, 'POST', `${path}/cancel`)).status, 'cancelled')
    const [{ outcome, actor }] = (await listed(linus.call)).data
    assert.deepEqual([outcome, actor.id], ['cancelled', ada_id])
    const [{ records }] = (await listed(grace.call)).data
    const [{ n }] = (await stored.rows(
      `SELECT count(*) AS n FROM contacts WHERE owner_id = '${grace.id}'`,
    )) as [{ n: number }]
    assert.equal(records, Number(n))
  })
})

describe('a webhook that fails', () => {
  test('notifies those who manage webhooks once, until they have read it', async (t) => {
    const [eve, grace] = [await member('admin'), await member()]
    const receiver = await useFor(t, startReceiver({ answer: { status: 500 } }))
    const { id } = await register(rapport.call, { url: receiver.url, name: 'Billing' })
    const failAgain = async (times: number) => {
      await ask(key, 'POST', '/companies', { name: 'Acme' })
      await until(
        async () => {
          if (await attemptsNothing(rapport.call)) clock.advance(2000)
          rapport.wake()
          return stored.rows(`SELECT id FROM webhook_deliveries WHERE status = 'failed'`)
        },
        (failed) => failed.length === times,
      )
    }
    await failAgain(1)
    await failAgain(2)
    const { data } = await listed(eve.call)
    assert.deepEqual(
      data.map(({ kind, record, actor }: Record<string, { kind: string }>) => [kind, record, actor?.kind]),
      [['webhook_failed', { kind: 'webhooks', id, title: 'Billing' }, 'service']],
    )
    assert.equal((await listed(ada)).data[0].record.id, id)
    assert.deepEqual((await listed(grace.call)).data, [])
    await ask(key, 'PUT', `/webhooks/${id}`, { name: null })
    assert.equal((await listed(ada)).data[0].record.title, receiver.url)

    // It works again, and fails again: still one while it is unread, and a new one after that.
    const worksAndFails = async (times: number) => {
      receiver.answering = () => ({ status: 200 })
      await ask(key, 'POST', '/companies', { name: 'Acme' })
      await until(() => webhook(rapport.call, id), { status: 'active' })
      receiver.answering = () => ({ status: 500 })
      await failAgain(times)
    }
    await worksAndFails(3)
    const [again, ...others] = (await listed(eve.call)).data
    assert.deepEqual([again.id, again.records, others], [data[0].id, 2, []])
    await ask(eve.call, 'POST', '/notifications/read', { ids: [again.id] })
    await worksAndFails(4)
    assert.deepEqual(
      (await listed(eve.call)).data.map(({ read_at }: { read_at: string | null }) => read_at === null),
      [true, false],
    )

    // A role that may not read webhooks does not see it.
    await ask(ada, 'PUT', `/members/${eve.id}`, { role: 'member' })
    const { data: none, meta } = await until(
      () => listed(eve.call),
      ({ data }) => !data.length,
    )
    assert.deepEqual([none, meta.unread], [[], 0])
  })

  test('is for the roles with the scope webhooks:write', () => {
    const managing = (['owner', 'admin', 'member', 'read_only'] as const).filter((role) =>
      role_scopes.named(role).includes('webhooks:write'),
    )
    assert.deepEqual(managing, ['owner', 'admin'])
  })
})
