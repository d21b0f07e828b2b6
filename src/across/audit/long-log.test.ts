import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { engine } from '../../../test/engine.ts'
import { callOf, type Rapport, useRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { bestOfTen, measureStatements } from '../../../test/statements.ts'
import { before } from '../../../test/use.ts'
import { type Db, transaction } from '../../db/db.ts'

// On SQLite a statement holds the whole process. PostgreSQL needs only to give the same answers.
const count = engine === 'sqlite' ? 300_000 : 30_000
// A third of 50 ms, so that a log of a million entries does not block other requests, either.
const most_cpu_ms = 15
const per_page = 20
const from = '2026-11-01T00:30:00.000Z'
const to = '2026-11-01T01:30:00.000Z'

const rapport = useRapport({ roles: ['api'] })
const call = callOf(rapport)
/** Reads the entries of several kinds, and not those of companies. */
let limited: Rapport['call']
before(async () => {
  const scopes = ['audit_log:read', 'contacts:read', 'deals:read', 'views:read']
  limited = (await makeKey(rapport, { scopes })).call
  await beside(rapport.data_dir, seedEntries)
})

type Entry = { number: number; kind: string; action: string; actor: string; at: string }
/** The entry of a number, as the statement below makes it. */
function entryOf(number: number): Entry {
  const kind = number % 1000 === 0 ? 'views' : ['contacts', 'deals', 'companies'][number % 3]
  const action = number % 5000 === 7 ? 'restored' : number % 2 ? 'updated' : 'created'
  const actor = number % 10 === 3 ? 'key_rare' : 'key_common'
  const at = new Date(Date.parse('2026-11-01T00:00:00.000Z') + Math.floor(number / 4) * 1000).toISOString()
  return { number, kind: String(kind), action, actor, at }
}

/** By one statement: the API would take minutes. */
async function seedEntries(db: Db) {
  const two = (part: string) => `substr(CAST(100 + ${part} AS text), 2)`
  const second = `'2026-11-01T' || ${two('i / 4 / 3600')} || ':' || ${two('i / 4 / 60 % 60')} || ':' || ${two('i / 4 % 60')} || '.000Z'`
  await transaction(db, async (tx) => {
    await sql`DELETE FROM audit_log`.execute(tx)
    await sql`INSERT INTO audit_log
        (id, workspace_id, occurred_at, actor_kind, actor_id, action, kind, record_id, before, after)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(count)})
      SELECT i, 1, ${sql.raw(second)}, 'key', CASE WHEN i % 10 = 3 THEN 'key_rare' ELSE 'key_common' END,
        CASE WHEN i % 5000 = 7 THEN 'restored' WHEN i % 2 = 1 THEN 'updated' ELSE 'created' END,
        CASE WHEN i % 1000 = 0 THEN 'views' WHEN i % 3 = 0 THEN 'contacts' WHEN i % 3 = 1 THEN 'deals' ELSE 'companies' END,
        CAST(i AS text), NULL, '{"name":"A"}' FROM n`.execute(tx)
  })
}

const shown = ({ kind }: Entry) => kind !== 'companies'
const cases: [query: string, who: 'all' | 'limited', matches: (entry: Entry) => boolean][] = [
  ['', 'all', () => true],
  ['', 'limited', shown],
  ['kind=views', 'all', ({ kind }) => kind === 'views'],
  ['kind=deals', 'limited', ({ kind }) => kind === 'deals'],
  ['action=updated', 'all', ({ action }) => action === 'updated'],
  ['action=restored', 'limited', (one) => one.action === 'restored' && shown(one)],
  ['action=restored&kind=views', 'all', () => false],
  ['action=created&actor_id=key_rare', 'all', () => false],
  [
    'action=updated&actor_id=key_common&kind=deals',
    'limited',
    ({ action, actor, kind }) => action === 'updated' && actor === 'key_common' && kind === 'deals',
  ],
  ['actor_id=key_rare', 'limited', (one) => one.actor === 'key_rare' && shown(one)],
  [`from=${from}&to=${to}`, 'all', ({ at }) => at >= from && at <= to],
  [`from=${from}&to=${to}`, 'limited', (one) => one.at >= from && one.at <= to && shown(one)],
  [
    `to=${to}&action=created&kind=contacts`,
    'all',
    ({ at, action, kind }) => at <= to && action === 'created' && kind === 'contacts',
  ],
]

/** In ms. A slow machine may take as long as it takes there to look at each entry once. */
async function limit(): Promise<number> {
  if (engine !== 'sqlite') return most_cpu_ms
  const { slowest } = await measureStatements(() =>
    beside(rapport.data_dir, (db) => sql`SELECT count(*) FROM audit_log WHERE after = 'none'`.execute(db)),
  )
  return Math.max(most_cpu_ms, slowest.cpu_ms)
}

const everything = Array.from({ length: count }, (_, at) => entryOf(count - at))

for (const [query, who, matches] of cases)
  test(`a page of a long log is right and holds nobody up: ${query || 'no filter'}, a key for ${who === 'all' ? 'all' : 'some'} kinds`, async (t) => {
    const asking = who === 'all' ? call : limited
    const expected = everything.filter(matches)
    const read = async (place: string, from: number) => {
      const { status, body, text } = await asking(
        'GET',
        `/api/v1/audit-log?per_page=${per_page}&${place}&${query}`,
      )
      assert.equal(status, 200, text)
      if (place !== 'cursor=start') assert.equal(body.meta.total, expected.length)
      assert.deepEqual(
        body.data.map(({ record_id }: { record_id: number }) => record_id),
        expected.slice(from, from + per_page).map(({ number }) => number),
      )
    }
    const last = Math.max(1, Math.ceil(expected.length / per_page))
    const places: [string, number][] = [['cursor=start', 0]]
    for (const page of new Set([1, Math.ceil(last / 2), last, last + 1]))
      places.push([`page=${page}`, (page - 1) * per_page])
    for (const [place, from] of places) {
      const { slowest, limit_ms } = await bestOfTen(
        async () => ({ ...(await measureStatements(() => read(place, from))), limit_ms: await limit() }),
        (one) => one.slowest.cpu_ms < one.limit_ms,
      )
      t.diagnostic(`${place}: ${slowest.cpu_ms.toFixed(1)} ms of ${limit_ms.toFixed(1)}`)
      if (engine === 'sqlite') assert.ok(slowest.cpu_ms < limit_ms, JSON.stringify(slowest))
    }
  })
