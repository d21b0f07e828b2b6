import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openScratch, removeScratch } from '../../test/engine.ts'
import { turnableClock } from '../../test/harness.ts'
import type { Database } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { removeOver } from './cleaning.ts'
import { createThrottle, waitAfter } from './throttle.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
const clock = turnableClock()
let database: Database
before(async () => {
  database = await openScratch(folder)
  await migrate(database)
})
after(async () => {
  await database.close()
  await removeScratch(folder)
})

const second = 1000
const minute = 60 * second
let names = 0
const somebody = () => ({ address: `192.0.2.${++names}`, email: `${names}@example.com` })

/** Tries until it is refused; how often it was let in, and the seconds to wait. */
async function exhaust(who: { address: string; email?: string }) {
  const throttle = createThrottle(database.db, clock)
  for (let tries = 0; ; tries++) {
    const refused = await throttle.admit(who).then(
      () => null,
      (error) => error,
    )
    if (refused && refused.code !== 'rate_limited') throw refused
    if (refused) return { tries, wait: Number(refused.headers['retry-after']), code: refused.code }
  }
}

test('the wait begins at 30 s, doubles with each failure, and ends at 15 minutes', () => {
  const waits = Array.from({ length: 9 }, (_, failures) => waitAfter(failures + 3, 5) / second)
  assert.deepEqual(waits, [0, 0, 30, 60, 120, 240, 480, 900, 900])
  assert.equal(waitAfter(1e9, 5), 15 * minute)
})

test('an e-mail has five tries, from however many addresses, and then one after each wait', async () => {
  const { email } = somebody()
  const { tries, wait, code } = await exhaust({ address: '198.51.100.1', email })
  assert.deepEqual([tries, wait, code], [5, 30, 'rate_limited'])
  assert.equal((await exhaust({ address: '198.51.100.2', email: ` ${email.toUpperCase()}` })).tries, 0)
  clock.advance(30 * second - 1)
  assert.deepEqual(await exhaust({ address: '198.51.100.3', email }), { tries: 0, wait: 1, code })
  clock.advance(1)
  assert.deepEqual(await exhaust({ address: '198.51.100.3', email }), { tries: 1, wait: 60, code })
})

test('an address has twenty tries, of however many e-mails', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 20; n++) await throttle.admit({ address, email: `one-of-many-${n}@example.com` })
  await assert.rejects(throttle.admit({ address }), { code: 'rate_limited' })
  await throttle.admit({ address: '203.0.113.9', email: 'one-of-many-0@example.com' })
})

test('what was right is taken back: the e-mail begins anew, and the address keeps its other failures', async () => {
  const who = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 4; n++) await throttle.admit(who)
  const right = await throttle.admit(who)
  await right()
  assert.deepEqual((await exhaust(who)).tries, 5)
  const { address } = who
  // 4 and 5 failures are known of it.
  assert.equal((await exhaust({ address })).tries, 11)
})

test('what is right keeps no failures of the address in mind, and lengthens no wait', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 20; n++) await throttle.admit({ address })
  // Twenty failures, the last one now: each hour somebody signs in rightly, and the next one may at once.
  for (let hours = 0; hours < 24; hours++) {
    clock.advance(60 * minute)
    for (const email of ['ada@example.com', 'grace@example.com'])
      await (await throttle.admit({ address, email }))()
  }
  const row = () =>
    database.db
      .selectFrom('sign_in_failures')
      .selectAll()
      .where('name', '=', `address ${address}`)
      .executeTakeFirst()
  assert.equal((await row())?.failures, 20)
  clock.advance(1)
  assert.equal((await exhaust({ address })).tries, 20)
})

test('a failure beside a right try stays', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 18; n++) await throttle.admit({ address })
  const right = await throttle.admit({ address })
  await throttle.admit({ address })
  await assert.rejects(throttle.admit({ address }), { code: 'rate_limited' })
  await right()
  assert.deepEqual(await exhaust({ address }), { tries: 1, wait: 30, code: 'rate_limited' })
})

test('a link that is for something counts as no try, however many come at once; one for nothing does', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  const found = await Promise.all(
    Array.from({ length: 30 }, () => throttle.openLink(address, async () => 'it')),
  )
  assert.equal(found.filter((one) => one === 'it').length, 30)
  for (let n = 0; n < 20; n++) assert.equal(await throttle.openLink(address, async () => null), null)
  await assert.rejects(
    throttle.openLink(address, async () => 'it'),
    { code: 'rate_limited' },
  )
})

test('fifty at once, by two processes, get no more tries than one after the other', async () => {
  const other = await openScratch(folder)
  const throttles = [database, other].map(({ db }) => createThrottle(db, clock))
  const who = somebody()
  const tries = Array.from({ length: 50 }, (_, n) => throttles[n % 2]?.admit(who))
  const ends = await Promise.allSettled(tries)
  await other.close()
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 5)
})

test('failures are forgotten after a day without one, and then removed', async () => {
  const who = somebody()
  assert.equal((await exhaust(who)).tries, 5)
  clock.advance(24 * 60 * minute + 1)
  assert.equal((await exhaust(who)).tries, 5)
  clock.advance(24 * 60 * minute + 1)
  await removeOver(database.db, clock)
  assert.deepEqual(await database.db.selectFrom('sign_in_failures').selectAll().execute(), [])
})

test('what was typed as an e-mail is not kept', async () => {
  await createThrottle(database.db, clock).admit({ address: '192.0.2.200', email: 'my secret password' })
  const rows = await database.db.selectFrom('sign_in_failures').select('name').execute()
  assert.deepEqual(
    rows.filter(({ name }) => /secret/.test(name)),
    [],
  )
})
