// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../test/database.ts'
import { refused } from '../../test/envelope.ts'
import { turnableClock, useRapport } from '../../test/harness.ts'
import { beside, makeKey } from '../../test/keys.ts'
import { before } from '../../test/use.ts'
import { transaction } from '../db/db.ts'
import { addWork, changeWork, workOf } from '../db/work.ts'
import { contextOf } from '../events/context.ts'

const clock = turnableClock()
// It only answers, so that nothing does the work.
const rapport = useRapport({ clock, roles: ['api'] })

before(async () => {
  const { id: key_id } = await makeKey(rapport, { name: 'Importer' })
  const author = { workspace_id: 1, actor: { kind: 'key', id: key_id }, request_id: 'req_1' } as const
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const context = contextOf(clock, author)
      addWork(
        tx,
        context,
        { kind: 'backfill', subject: 'wh_ended' },
        { kind: 'resend', subject: 'wh_1', position: ['dlv_1'] },
        { kind: 'merge', subject: '7', position: 'contacts', lease_ms: 10_000 },
        { kind: 'resend', subject: 'wh_2', position: ['dlv_2'] },
      )
      const [ended] = await workOf(tx, 1, 'backfill', 'wh_ended')
      if (ended) await changeWork(tx, ended, { state: 'succeeded', lease_ends_ms: null })
    }),
  )
  clock.advance(60_000)
})

const list = async (query = '') => (await rapport.call('GET', `/api/v1/work${query}`)).body

test('administrators see the unfinished work of their workspace, newest first, with its author', async () => {
  const { data, meta } = await list()
  assert.equal(meta.total, 3)
  assert.deepEqual(
    data.map(({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`),
    ['resend wh_2', 'merge 7', 'resend wh_1'],
  )
  const { id, created_by, ...first } = data[0]
  assert.match(id, /^wrk_/)
  assert.deepEqual([created_by.kind, created_by.name], ['key', 'Importer'])
  assert.deepEqual(first, {
    kind: 'resend',
    subject: 'wh_2',
    state: 'running',
    attempts: 0,
    last_error: null,
    leased_until: null,
    created_at: '2026-11-21T08:30:00.000Z',
  })
  const of_stranger = await newWorkspace(rapport)
  assert.equal((await of_stranger('GET', '/api/v1/work')).body.meta.total, 0)
})

test('the list has a filter by kind, pages and cursors', async () => {
  assert.equal((await list('?kind=resend')).meta.total, 2)
  assert.equal((await list('?kind=!resend')).meta.total, 1)
  const first = await list('?kind=resend&per_page=1&cursor=start')
  const second = await list(`?kind=resend&per_page=1&cursor=${first.meta.next_cursor}`)
  assert.deepEqual([first.data[0].subject, second.data[0].subject], ['wh_2', 'wh_1'])
  assert.equal(second.meta.next_cursor, null)
})

test('a lease shows until when another process does the work', async () => {
  clock.advance(-55_000)
  assert.equal((await list('?kind=merge')).data[0].leased_until, '2026-11-21T08:30:10.000Z')
  clock.advance(55_000)
})

test('work needs the scope of the audit log', async () => {
  const { call } = await makeKey(rapport, { scopes: ['webhooks:read', 'imports:read'] })
  refused(await call('GET', '/api/v1/work'), 403, 'forbidden')
})

test('the metrics have the age of the oldest unfinished work of each kind', async () => {
  const { text } = await rapport.call('GET', '/metrics')
  assert.match(text, /^rapport_work_oldest_seconds\{kind="resend"\} 60$/m)
  assert.match(text, /^rapport_work_oldest_seconds\{kind="backfill"\} 0$/m)
})
