// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DigestDeps, writeDigests } from '../../src/across/notifications/digests.ts'
import { role_scopes } from '../../src/app.ts'
import { transaction } from '../../src/db/db.ts'
import { createReadRights } from '../../src/http/scopes.ts'
import { resources } from '../../src/resources/index.ts'
import { openPage } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { besideMails, mailOf, mailsOf } from '../mails.ts'
import { ask, join, keyCaller, useOwner } from '../people.ts'

// The service stands at this time, and its own job has nothing to write: the digests of that day are over.
const clock = turnableClock(Date.parse('2026-11-21T23:30:00.000Z'))
const rapport = useRapport({ clock })
const key = keyCaller(rapport)
const ada = useOwner(rapport)

const rights = createReadRights(resources)
const readableKinds = (role: string) => rights.readableKinds(role_scopes.of(role as 'member'))

async function member(time_zone: string, daily_digest_at = '07:00') {
  const grace = await join(ada, rapport.url, 'member')
  const mail_preferences = { daily_digest: true, daily_digest_at, assigned: false }
  await ask(grace.call, 'PUT', '/profile', { time_zone, mail_preferences })
  return grace
}
/** Runs the job at a time, as two processes at once. */
const runAt = (time: string | number, more: Partial<DigestDeps> = {}) =>
  besideMails(rapport, async (db) => {
    const now_ms = typeof time === 'number' ? time : Date.parse(time)
    const at = { now: () => now_ms, elapsed: clock.elapsed }
    const run = () =>
      writeDigests({ db, clock: at, resources, readableKinds, ...more }, new AbortController().signal)
    const ended = await Promise.allSettled([run(), run()])
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  })
const digests = ({ id }: { id: string }) => mailsOf(rapport, `&kind=daily_digest&user_id=${id}`)
/** An activity that the owner made, so that nothing notifies of it. */
const due = (
  { id, call }: Pick<Awaited<ReturnType<typeof member>>, 'id' | 'call'>,
  subject: string,
  due_at: string,
) => ask(call, 'POST', '/activities', { subject, due_at, owner_id: id })

test('a digest has overdue and today’s activities, today’s appointments and unread notifications of the person alone', async () => {
  const grace = await member('Europe/Berlin')
  const other = await join(ada, rapport.url, 'member')
  await due(grace, 'Late call', '2026-11-20T09:00:00Z')
  await due(grace, 'Call of today', '2026-11-23T22:59:00Z')
  await due(grace, 'Call of tomorrow', '2026-11-23T23:00:00Z')
  await due(other, 'Call of another', '2026-11-23T09:00:00Z')
  const { id } = await due(grace, 'Call that is done', '2026-11-23T09:00:00Z')
  await ask(key, 'PUT', `/activities/${id}`, { completed_at: '2026-11-21T09:00:00Z' })
  const at = { start_at: '2026-11-23T13:00:00Z', end_at: '2026-11-23T13:30:00Z' }
  await ask(key, 'POST', '/appointments', { title: 'Demo', owner_id: grace.id, ...at })
  await ask(key, 'POST', '/deals', { name: 'Relaunch', owner_id: grace.id })
  await runAt('2026-11-23T05:59:00Z')
  assert.deepEqual(await digests(grace), [])
  await runAt('2026-11-23T06:00:00Z')
  const [found, ...more] = await digests(grace)
  assert.deepEqual(more, [])
  const { text, subject } = await mailOf(rapport, found.id)
  assert.match(subject, /23 November 2026/)
  for (const one of ['Late call', '23:59 Call of today', '14:00 Demo', 'Relaunch', 'Europe/Berlin'])
    assert.ok(text.includes(one), `${one} in ${text}`)
  for (const one of ['tomorrow', 'another', 'done']) assert.ok(!text.includes(one), one)
  await runAt('2026-11-23T20:00:00Z')
  assert.equal((await digests(grace)).length, 1)
})

test('a digest that cannot be written holds up no digest of another member', async () => {
  const members = [await member('Europe/Berlin'), await member('Europe/Berlin')]
  const [first, second] = members.sort((a, b) => (a.id < b.id ? -1 : 1))
  if (!first || !second) throw new Error('There are two.')
  const setZone = (time_zone: string) =>
    besideMails(rapport, (db) =>
      transaction(db, (tx) =>
        tx.updateTable('users').set({ time_zone }).where('id', '=', first.id).execute(),
      ),
    )
  for (const one of members) await due(one, 'Late call', '2026-11-20T09:00:00Z')
  await setZone('Mars/Olympus')
  await assert.rejects(runAt('2026-11-24T06:00:00Z'), RangeError)
  assert.deepEqual([(await digests(first)).length, (await digests(second)).length], [0, 1])
  await setZone('Europe/Berlin')
  await runAt('2026-11-24T06:01:00Z')
  assert.deepEqual([(await digests(first)).length, (await digests(second)).length], [1, 1])
})

test('a digest has the appointments of today whose host the person is', async () => {
  const [owner, host] = [await member('UTC'), await member('UTC')]
  const hosts = [owner, host].map(({ id }) => ({ user_id: id }))
  const { page } = await openPage(rapport, { assignment: 'collective', hosts })
  const booked = (title: string, start_at: string, end_at: string) =>
    ask(key, 'POST', '/appointments', {
      title,
      booking_page_id: page.id,
      owner_id: owner.id,
      start_at,
      end_at,
    })
  await booked('Demo', '2026-11-24T13:00:00Z', '2026-11-24T13:30:00Z')
  const { id } = await booked('Cancelled', '2026-11-24T14:00:00Z', '2026-11-24T14:30:00Z')
  await ask(key, 'POST', `/appointments/${id}/cancel`, {})
  await runAt('2026-11-24T07:00:00Z')
  for (const person of [owner, host]) {
    const [found] = await digests(person)
    const { text } = await mailOf(rapport, found.id)
    assert.match(text, /13:00 Demo/)
    assert.doesNotMatch(text, /14:00/)
  }
})

test('a digest with nothing to say is not written, nor one for which the role may read nothing', async () => {
  const grace = await member('UTC')
  await runAt('2026-12-01T07:00:00Z')
  assert.deepEqual(await digests(grace), [])
  await due(grace, 'Hidden', '2026-12-01T09:00:00Z')
  await runAt('2026-12-02T07:00:00Z', { readableKinds: () => [] })
  assert.deepEqual(await digests(grace), [])
  await runAt('2026-12-03T07:00:00Z')
  assert.equal((await digests(grace)).length, 1)
})

test('a digest comes once on the day of a clock change, also at a time that the clock skips or shows twice', async () => {
  const grace = await member('Europe/Berlin', '02:30')
  await due(grace, 'Late', '2026-11-20T09:00:00Z')
  for (const [day, expected] of [
    ['2027-03-28', '2027-03-28T01:00:00.000Z'],
    ['2027-10-31', '2027-10-31T00:30:00.000Z'],
  ] as const) {
    const known = (await digests(grace)).length
    const start_ms = Date.parse(`${day}T00:00:00Z`)
    const times: number[] = []
    for (let at_ms = start_ms; at_ms < start_ms + 4 * 3_600_000; at_ms += 600_000) {
      const count = (await digests(grace)).length
      await runAt(at_ms)
      if ((await digests(grace)).length > count) times.push(at_ms)
    }
    assert.deepEqual(
      times.map((at_ms) => new Date(at_ms).toISOString()),
      [expected],
    )
    assert.equal((await digests(grace)).length, known + 1)
  }
})

test('a person who moves to a zone behind, or switches digests off and on, gets none twice on a day', async () => {
  const grace = await member('Pacific/Auckland')
  await due(grace, 'Late', '2026-11-20T09:00:00Z')
  await runAt('2028-01-10T18:30:00Z')
  assert.equal((await digests(grace)).length, 1)
  await ask(grace.call, 'PUT', '/profile', { time_zone: 'America/Los_Angeles' })
  await ask(grace.call, 'PUT', '/profile', { mail_preferences: { daily_digest: false } })
  await runAt('2028-01-11T16:00:00Z')
  await ask(grace.call, 'PUT', '/profile', { mail_preferences: { daily_digest: true } })
  await runAt('2028-01-11T17:00:00Z')
  assert.equal((await digests(grace)).length, 1)
  await runAt('2028-01-12T15:30:00Z')
  assert.equal((await digests(grace)).length, 2)
})
