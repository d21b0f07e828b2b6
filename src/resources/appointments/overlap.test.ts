// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { useStored } from '../../../test/database.ts'
import { dataOf, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'
import { unlessBusy } from '../../../test/webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/appointments'
const ok = async (method: string, url: string, body?: object) => dataOf(await call(method, url, body))
let pages = 0
const newPage = async (): Promise<number> =>
  (await ok('POST', '/api/v1/booking-pages', { slug: `page-${++pages}`, title: 'Demo', time_zone: 'UTC' })).id

// Times on a grid of minutes, from any hour on.
const time = (minute: number) =>
  new Date(Date.parse('2026-12-01T10:00:00.000Z') + minute * 60_000).toISOString()
const times = (from: number, to: number) => ({ start_at: time(from), end_at: time(to) })
const book = (booking_page_id: number | null, from: number, to: number) =>
  unlessBusy(() => call('POST', path, { title: 'Demo', ...times(from, to), booking_page_id }))
const taken = (reply: Awaited<ReturnType<typeof call>>) => {
  const { message } = refused(reply, 409, 'conflict')
  assert.match(message, /^This time is taken on the booking page/)
}
/** How many answers have each status. */
const counted = (replies: { status: number }[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(replies, ({ status }) => status)).map(([status, all]) => [
      status,
      all?.length,
    ]),
  )

/** The live scheduled appointments of a page, in order; fails when two of them overlap. */
async function scheduled(page: number) {
  const rows = await stored.rows(
    `SELECT id, start_at, end_at FROM appointments
     WHERE booking_page_id = ? AND status = 'scheduled' AND deleted_at IS NULL ORDER BY start_at, id`,
    page,
  )
  for (const [n, row] of rows.slice(1).entries())
    assert.ok(String(row.start_at) >= String(rows[n]?.end_at), JSON.stringify(rows))
  return rows
}

describe('one slot, many at once', () => {
  test('of fifty bookings one is made, with one event; the others are 409 because the time is taken', async () => {
    const page = await newPage()
    const replies = await Promise.all(Array.from({ length: 50 }, () => book(page, 0, 30)))
    assert.deepEqual(counted(replies), { 201: 1, 409: 49 })
    for (const reply of replies) if (reply.status === 409) taken(reply)
    const [row, ...others] = await scheduled(page)
    assert.deepEqual(others, [])
    assert.equal((await stored.events('appointment', Number(row?.id))).length, 1)
    const { meta } = (await call('GET', `${path}?booking_page_id=${page}`)).body
    assert.equal(meta.total, 1)
  })

  test('of fifty that overlap in part, those that remain do not', async () => {
    const page = await newPage()
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => book(page, n * 7, n * 7 + 30)))
    const rows = await scheduled(page)
    assert.deepEqual(counted(replies), { 201: rows.length, 409: 50 - rows.length })
    assert.ok(rows.length >= 5)
  })

  test('of twenty that are moved into one slot one gets there, and the others stay where they were', async () => {
    const page = await newPage()
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => book(page, 100 + n * 10, 105 + n * 10)),
    )
    const replies = await Promise.all(
      made.map((reply) => unlessBusy(() => call('PUT', `${path}/${reply.body.data.id}`, times(0, 30)))),
    )
    assert.deepEqual(counted(replies), { 200: 1, 409: 19 })
    assert.equal((await scheduled(page)).length, 20)
  })

  test('of twenty in the trash that want back into one slot one is restored', async () => {
    const page = await newPage()
    const ids: number[] = []
    for (let n = 0; n < 20; n++) {
      ids.push((await book(page, 0, 30)).body.data.id)
      await ok('DELETE', `${path}/${ids[n]}`)
    }
    const replies = await Promise.all(ids.map((id) => call('POST', `${path}/${id}/restore`)))
    assert.deepEqual(counted(replies), { 200: 1, 409: 19 })
    assert.equal((await scheduled(page)).length, 1)
  })

  test('while it is cancelled and booked again by many, it is never booked twice', async () => {
    const page = await newPage()
    for (let round = 0; round < 5; round++) {
      const { id } = (await scheduled(page))[0] ?? (await book(page, 0, 30)).body.data
      const replies = await Promise.all([
        ...Array.from({ length: 10 }, () => book(page, 0, 30)),
        call('POST', `${path}/${id}/cancel`),
        ...Array.from({ length: 10 }, () => book(page, 0, 30)),
      ])
      for (const { status, text } of replies) assert.ok([200, 201, 409].includes(status), text)
      assert.ok((await scheduled(page)).length <= 1)
    }
  })
})

test('a refused change leaves no trace: no event, no audit entry, the totals as they were', async () => {
  const page = await newPage()
  const { id } = (await book(page, 0, 30)).body.data
  const other = (await book(page, 60, 90)).body.data.id
  const state = () =>
    stored.rows(
      `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM audit_log) AS entries,
         (SELECT count(*) FROM appointments) AS appointments, (SELECT sum(n) FROM record_counts) AS n`,
    )
  const before = [await state(), await call('GET', `${path}/${other}`)].map((one) => JSON.stringify(one))
  taken(await book(page, 29, 31))
  taken(await call('PUT', `${path}/${other}`, { title: 'New', ...times(10, 20) }))
  const after = [await state(), await call('GET', `${path}/${other}`)].map((one) => JSON.stringify(one))
  assert.deepEqual(after, before)
  assert.equal((await scheduled(page))[0]?.id, id)
})

test('a group of transactions loses only the one that was refused', async () => {
  const page = await newPage()
  await book(page, 0, 30)
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 ? book(page, 0, 30) : book(page, 100 + n, 101 + n))),
  )
  assert.deepEqual(counted(replies), { 201: 20, 409: 20 })
  assert.equal((await scheduled(page)).length, 21)
})

type Known = { id: number; page: number | null; from: number; to: number; live: boolean; open: boolean }

test('after any sequence of changes a time is refused exactly when it is taken', async () => {
  const from = fc.nat(12)
  const length = fc.integer({ min: 1, max: 5 })
  const page = fc.constantFrom(0, 0, 0, 1, null)
  const one = fc.nat(9)
  const command = fc.oneof(
    fc.record({ act: fc.constant('book' as const), page, from, length }),
    fc.record({ act: fc.constant('move' as const), one, from, length }),
    fc.record({ act: fc.constant('turn' as const), one, page }),
    fc.record({ act: fc.constant('cancel' as const), one }),
    fc.record({ act: fc.constant('delete' as const), one }),
    fc.record({ act: fc.constant('restore' as const), one }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (commands) => {
      const ids = [await newPage(), await newPage()]
      const known: Known[] = []
      const free = (one: Omit<Known, 'id'>, id = 0) =>
        one.page === null ||
        !one.live ||
        !one.open ||
        !known.some(
          (other) =>
            other.id !== id &&
            other.live &&
            other.open &&
            other.page === one.page &&
            other.from < one.to &&
            one.from < other.to,
        )
      for (const command of commands) {
        if (command.act === 'book') {
          const booked = {
            page: command.page === null ? null : (ids[command.page] as number),
            live: true,
            open: true,
            from: command.from,
            to: command.from + command.length,
          }
          const reply = await book(booked.page, booked.from, booked.to)
          if (free(booked)) known.push({ ...booked, id: reply.body.data.id })
          else taken(reply)
          continue
        }
        const at = known[command.one]
        if (!at) continue
        const changed = { ...at }
        let reply: Awaited<ReturnType<typeof call>>
        if (command.act === 'delete' || command.act === 'restore') {
          changed.live = command.act === 'restore'
          reply = await (changed.live
            ? call('POST', `${path}/${at.id}/restore`)
            : call('DELETE', `${path}/${at.id}`))
          if (!changed.live && !at.live) {
            refused(reply, 404, 'not_found')
            continue
          }
        } else if (command.act === 'cancel') {
          changed.open = false
          reply = await call('POST', `${path}/${at.id}/cancel`)
        } else {
          if (command.act === 'turn')
            changed.page = command.page === null ? null : (ids[command.page] as number)
          else Object.assign(changed, { from: command.from, to: command.from + command.length })
          const body =
            command.act === 'turn' ? { booking_page_id: changed.page } : times(changed.from, changed.to)
          reply = await call('PUT', `${path}/${at.id}`, body)
        }
        if (!at.live && command.act !== 'restore') {
          refused(reply, 404, 'not_found')
          continue
        }
        if (!free(changed, at.id)) {
          taken(reply)
          continue
        }
        assert.equal(reply.status, 200, reply.text)
        Object.assign(at, changed)
      }
      for (const id of ids)
        assert.deepEqual(
          (await scheduled(id)).map((row) => row.id),
          known
            .filter(({ page, live, open }) => page === id && live && open)
            .sort((a, b) => a.from - b.from)
            .map((row) => row.id),
        )
    }),
    { numRuns: runs(15) },
  )
})

test('under concurrent writes, no two live scheduled appointments of a page overlap, and no answer is a 5xx', async () => {
  const command = fc.record({
    act: fc.constantFrom('book', 'book', 'move', 'turn', 'cancel', 'delete', 'restore'),
    one: fc.nat(9),
    page: fc.nat(1),
    from: fc.nat(12),
    length: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 40 }), async (commands) => {
      const ids = [await newPage(), await newPage()]
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, n) => book(ids[n % 2] as number, n * 2, n * 2 + 2)),
      )
      const replies = await Promise.all(
        commands.map(({ act, one, page, from, length }) => {
          const at = `${path}/${made[one]?.body.data.id}`
          if (act === 'book') return book(ids[page] as number, from, from + length)
          if (act === 'move') return call('PUT', at, times(from, from + length))
          if (act === 'turn') return call('PUT', at, { booking_page_id: ids[page] })
          return act === 'delete' ? call('DELETE', at) : call('POST', `${at}/${act}`)
        }),
      )
      for (const { status, text } of replies) assert.ok([200, 201, 404, 409].includes(status), text)
      for (const id of ids) await scheduled(id)
    }),
    { numRuns: runs(10) },
  )
})
