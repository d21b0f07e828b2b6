import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { problems, refused } from '../../../test/envelope.ts'
import { follow } from '../../../test/follower.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { ask, type Browser, type Caller, join, keyCaller, password, useOwner } from '../../../test/people.ts'
import { until } from '../../../test/webhooks.ts'
import { day_ms } from '../../clock.ts'
import { type Tx, transaction } from '../../db/db.ts'
import { max_kept } from './queries.ts'
import { removeOldNotifications } from './retention.ts'

const clock = turnableClock(Date.now())
const rapport = useRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '1' } })
const stored = useStored(rapport)
const ada = useOwner(rapport)

const key = keyCaller(rapport)
async function listed(call: Caller, query = '') {
  const { status, body, text } = await call('GET', `/notifications${query}`)
  assert.equal(status, 200, text)
  return body
}
const member = (role: 'admin' | 'member' | 'read_only' = 'member') => join(ada, rapport.url, role)

const contact = (more: object = {}) => ({ first_name: 'Ana', last_name: 'Ruiz', ...more })

describe('the list', () => {
  const assign = async (to: string, count: number) => {
    for (let n = 0; n < count; n++) {
      await ask(key, 'POST', '/deals', { name: `Deal ${n}`, owner_id: to })
      clock.advance(1000)
    }
  }

  test('comes in pages, newest first, all of them or those that are unread', async () => {
    const grace = await member()
    await assign(grace.id, 7)
    const titles: string[] = []
    let cursor: string | null = 'start'
    let pages = 0
    while (cursor !== null) {
      const { data, meta } = await listed(grace.call, `?per_page=3&cursor=${cursor}`)
      titles.push(...data.map(({ record }: { record: { title: string } }) => record.title))
      cursor = meta.next_cursor
      pages++
    }
    assert.deepEqual([titles, pages], [Array.from({ length: 7 }, (_, n) => `Deal ${6 - n}`), 3])
    const { data } = await listed(grace.call)
    await ask(grace.call, 'POST', '/notifications/read', { ids: [data[0].id, data[1].id] })
    const unread = await listed(grace.call, '?unread=true')
    assert.deepEqual([unread.data.length, unread.meta.unread], [5, 5])
    assert.equal((await listed(grace.call, '?unread=false')).data.length, 2)
    assert.ok(problems(await grace.call('GET', '/notifications?unread=1')).unread)
    assert.ok(problems(await grace.call('GET', '/notifications?cursor=x')).cursor)
  })

  test('keeps what was read: by ids, or all up to a time', async () => {
    const grace = await member()
    await assign(grace.id, 4)
    const { data } = await listed(grace.call)
    const read = (body: object) => ask(grace.call, 'POST', '/notifications/read', body)
    assert.deepEqual(await read({ ids: [data[3].id, 987_654_321] }), { read: 1, unread: 3 })
    assert.deepEqual(await read({ ids: [data[3].id] }), { read: 0, unread: 3 })
    assert.deepEqual(await read({ all: true, before: data[1].occurred_at }), { read: 2, unread: 1 })
    const { data: after } = await listed(grace.call)
    assert.deepEqual(
      after.map(({ read_at }: { read_at: string | null }) => read_at !== null),
      [false, true, true, true],
    )
    assert.deepEqual(await read({ all: true }), { read: 1, unread: 0 })
    for (const body of [{}, { all: false }, { ids: [1], all: true }])
      assert.deepEqual(problems(await grace.call('POST', '/notifications/read', body)), { ids: 'required' })
    assert.ok(problems(await grace.call('POST', '/notifications/read', { ids: [] })).ids)
    const many = Array.from({ length: 101 }, (_, n) => n + 1)
    assert.ok(problems(await grace.call('POST', '/notifications/read', { ids: many })).ids)
  })

  test('is the own one: other people, other workspaces and keys neither see nor read it', async () => {
    const [grace, linus] = [await member(), await member()]
    await assign(grace.id, 1)
    const [{ id }] = (await listed(grace.call)).data
    assert.deepEqual(await ask(linus.call, 'POST', '/notifications/read', { ids: [id] }), {
      read: 0,
      unread: 0,
    })
    assert.equal((await ask(linus.call, 'POST', '/notifications/read', { all: true })).read, 0)
    assert.deepEqual((await listed(linus.call)).data, [])
    assert.equal((await listed(grace.call)).meta.unread, 1)
    refused(await rapport.call('GET', '/api/v1/notifications'), 403, 'forbidden')
    refused(await rapport.call('POST', '/api/v1/notifications/read', { all: true }), 403, 'forbidden')
    const other = await newWorkspace(rapport)
    refused(await other('GET', '/api/v1/notifications'), 403, 'forbidden')
  })

  test('keeps no text of a record: one that is in the trash or erased has no title', async () => {
    const grace = await member()
    const { id } = await ask(key, 'POST', '/contacts', contact({ owner_id: grace.id }))
    await ask(key, 'DELETE', `/contacts/${id}`)
    assert.deepEqual((await listed(grace.call)).data[0].record, { kind: 'contacts', id, title: null })
    await ask(key, 'POST', `/contacts/${id}/restore`)
    assert.equal((await listed(grace.call)).data[0].record.title, 'Ana Ruiz')
    await ask(key, 'DELETE', `/contacts/${id}`)
    await key('DELETE', `/trash/contacts/${id}`)
    assert.equal((await listed(grace.call)).data[0].record.title, null)
    const rows = await stored.rows(`SELECT * FROM notifications WHERE user_id = '${grace.id}'`)
    assert.ok(!JSON.stringify(rows).includes('Ruiz'))
  })

  test('goes with the member who is removed, and names no erased person', async () => {
    const [grace, linus] = [await member(), await member('admin')]
    await ask(linus.call, 'POST', '/deals', { name: 'Relaunch', owner_id: grace.id })
    await ask(key, 'POST', '/deals', { name: 'Relaunch', owner_id: linus.id })
    await ask(linus.call, 'POST', '/profile/delete', { current_password: password })
    const [{ actor }] = (await listed(grace.call)).data
    assert.deepEqual(actor, { kind: 'person', id: linus.id, name: null })
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    const ids = `'${grace.id}', '${linus.id}'`
    assert.deepEqual(await stored.rows(`SELECT id FROM notifications WHERE user_id IN (${ids})`), [])
  })

  test('moves in streams of its person alone, when it gets longer and when it is read', async (t) => {
    const [grace, linus] = [await member(), await member()]
    const listen = async (headers: Record<string, string>) => {
      const stream = await follow(rapport.url, rapport.key, { headers, query: '?changes=true' })
      t.after(stream.close)
      return (kind: string) =>
        stream
          .events()
          .filter(({ event, data = '' }) => event === 'changed' && JSON.parse(data).kinds.includes(kind))
          .length
    }
    const of = ({ call }: { call: Browser }) => ({ authorization: 'None', cookie: call.cookie() })
    const [graces, linuses, keys] = [await listen(of(grace)), await listen(of(linus)), await listen({})]
    await assign(grace.id, 1)
    await until(async () => graces('notifications'), 1)
    await ask(grace.call, 'POST', '/notifications/read', { all: true })
    await until(async () => graces('notifications'), 2)
    await ask(key, 'POST', '/companies', { name: 'Last' })
    for (const count of [linuses, keys]) {
      await until(async () => count('companies'), 1)
      assert.equal(count('notifications'), 0)
    }
  })

  test('is limited: the newest 500 of a member, 30 days after reading, 90 days at most', async () => {
    const [grace, linus] = [await member(), await member()]
    const write = (work: (tx: Tx) => Promise<unknown>) =>
      beside(rapport.data_dir, (db) => transaction(db, work))
    const insert = async (user_id: string, count: number, read_days: number | null, days = 1) => {
      const ago = (days: number) => new Date(clock.now() - days * day_ms).toISOString()
      await write((tx) =>
        tx
          .insertInto('notifications')
          .values(
            Array.from({ length: count }, (_, n) => ({
              workspace_id: 1,
              user_id,
              kind: 'assigned' as const,
              record_kind: 'deals',
              record_id: '1',
              actor: 'service',
              source: `assigned:${days}:${n}`,
              occurred_at: ago(days),
              changed_at: ago(read_days ?? days),
              read_at: read_days === null ? null : ago(read_days),
            })),
          )
          .execute(),
      )
    }
    await insert(grace.id, 3, null, 91)
    await insert(grace.id, 2, 31, 40)
    await insert(grace.id, 1, 29, 89)
    await insert(grace.id, 1, null, 89)
    await insert(linus.id, max_kept + 20, null, 2)
    await assign(linus.id, 1)
    await insert('usr_of_nobody', 1, null)
    await beside(rapport.data_dir, (db) => removeOldNotifications(db, clock))
    const kept = async (id: string) =>
      (await stored.rows(`SELECT id FROM notifications WHERE user_id = '${id}'`)).length
    assert.deepEqual([await kept(grace.id), await kept('usr_of_nobody')], [2, 0])
    assert.equal(await kept(linus.id), max_kept)
    assert.equal((await listed(linus.call)).data[0].record.title, 'Deal 0')
  })
})
