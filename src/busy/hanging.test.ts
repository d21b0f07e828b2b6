// runs: both
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { calendarFile, hourAt, startCalendars } from '../../test/calendar-server.ts'
import { engine } from '../../test/engine.ts'
import { startRapport, turnableClock, useRapport } from '../../test/harness.ts'
import { beside } from '../../test/keys.ts'
import { ask, join, setUp, useOwner } from '../../test/people.ts'
import { use } from '../../test/use.ts'
import { until } from '../../test/webhooks.ts'
import { transaction } from '../db/db.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const calendars = use(startCalendars)
const path = '/busy-calendars'
const ada = useOwner(rapport)

test('nine calendars of a member that hang, and a change of the zone, delay no calendar of another member', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const held: ServerResponse[] = []
  let ended = 0
  calendars.serve('/hangs.ics', (_, response) => {
    held.push(response.once('close', () => ended++))
  })
  for (let n = 0; n < 9; n++) await ask(grace.call, 'POST', path, { url: `${calendars.url}/hangs.ics` })
  // Each change makes all nine due again.
  for (const time_zone of ['America/New_York', 'Asia/Tokyo', 'Europe/Berlin'])
    await ask(grace.call, 'PUT', '/profile', { time_zone })
  await until(
    async () => held.length,
    (count) => count >= 2,
  )
  calendars.serve('/well.ics', calendarFile(hourAt(clock.now())))
  const { id } = await ask(ada, 'POST', path, { url: `${calendars.url}/well.ics` })
  const { busy_count } = await until(() => ask(ada, 'GET', `${path}/${id}`), { status: 'ok' })
  // Two of the nine were asked, and their requests still wait.
  assert.deepEqual([busy_count, held.length, ended], [1, 2, 0])
  await ask(ada, 'DELETE', `/members/${grace.id}`)
  for (const response of held) response.destroy()
})

test('of the calendars of a member that are due together, those that failed last time come last', async () => {
  const { call, id: member_id } = await join(ada, rapport.url, 'member')
  const held: ServerResponse[] = []
  let ended = 0
  const make = (file: string) => ask(call, 'POST', path, { url: calendars.url + file })
  const untilRead = ({ id }: { id: string }, wanted: object) =>
    until(
      () => ask(call, 'GET', `${path}/${id}`),
      (shown) => Object.entries(wanted).every(([name, value]) => shown[name] === value),
    )
  calendars.serve('/down.ics', (_, response) => response.writeHead(500).end())
  for (let n = 0; n < 4; n++) await untilRead(await make('/down.ics'), { status: 'failing' })
  calendars.serve('/well.ics', calendarFile(hourAt(clock.now())))
  const well = await make('/well.ics')
  await untilRead(well, { status: 'ok' })
  calendars.serve('/down.ics', (_, response) => {
    held.push(response.once('close', () => ended++))
  })
  clock.advance(60 * 60_000)
  await untilRead(well, { last_read_at: new Date(clock.now()).toISOString() })
  // No request that hangs has ended before.
  assert.equal(ended, 0)
  await ask(ada, 'DELETE', `/members/${member_id}`)
  for (const response of held) response.destroy()
})

test('a poll that a crash ended is made anew by the next process that is alone', async (t) => {
  if (engine === 'postgres') return t.skip('Another process may poll: the lease must end.')
  const own = '/crashed.ics'
  calendars.serve(own, calendarFile(hourAt(clock.now())))
  const first = await startRapport({ clock })
  t.after(first.close)
  const by = await setUp(first)
  const { id } = await ask(by, 'POST', path, { url: calendars.url + own })
  await until(() => ask(by, 'GET', `${path}/${id}`), { status: 'ok' })
  const lease = { claim_id: 'clm_crashed', run_at_ms: clock.elapsed() + 75_000 }
  await beside(first.data_dir, (db) =>
    transaction(db, (tx) => tx.updateTable('busy_calendars').set(lease).execute()),
  )
  await first.stop()
  const asked = () => calendars.requests.filter(({ path: one }) => one === own).length
  const known = asked()
  const second = await startRapport({ clock, data_dir: first.data_dir })
  t.after(second.close)
  await until(
    async () => asked(),
    (count) => count > known,
    10_000,
  )
})

test('a stop ends a poll that hangs, and leaves its calendar due for another process', async (t) => {
  const first = await startRapport({ clock })
  t.after(first.close)
  const by = await setUp(first)
  const asked = Promise.withResolvers<void>()
  calendars.serve('/stopped.ics', () => asked.resolve())
  const { id } = await ask(by, 'POST', path, { url: `${calendars.url}/stopped.ics` })
  await asked.promise
  await first.stop()
  const [row] = await beside(first.data_dir, (db) =>
    db.selectFrom('busy_calendars').selectAll().where('id', '=', id).execute(),
  )
  const { claim_id, failures, error_code, run_at_ms } = row ?? {}
  assert.deepEqual([claim_id, Number(failures), error_code], [null, 0, null])
  assert.ok(Number(run_at_ms) <= clock.elapsed())
})
