// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openMigrated, openScratch } from '../../../test/engine.ts'
import { turnableClock } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'
import { use } from '../../../test/use.ts'
import { removeExpiredAccess } from './cleaning.ts'
import { createThrottle, max_pair_failures, waitAfter } from './throttle.ts'

const clock = turnableClock()
const database = use(openMigrated)

const second = 1000
const minute = 60 * second
let names = 0
const somebody = () => ({ address: `192.0.2.${++names}`, email: `${names}@example.com` })
const wrong = async () => false
const right = async () => true
/** Another e-mail at each call, as in guesses for many accounts from one address. */
const many = (address: string) => ({ address, email: `one-of-many-${++names}@example.com` })

/** A check that runs until the test gives its result. */
function inFlight() {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  return { check: () => promise, end: resolve }
}

/** Tries until it is refused; how often it was let in, and the seconds to wait. Without an e-mail: another one each time. */
async function exhaust({ address, email }: { address: string; email?: string }) {
  const throttle = createThrottle(database.db, clock)
  for (let tries = 0; ; tries++) {
    const refused = await throttle
      .prove(email === undefined ? many(address) : { address, email }, wrong)
      .then(
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

test('an address has five tries for an e-mail, and then one after each wait', async () => {
  const { email } = somebody()
  const address = '198.51.100.1'
  const { tries, wait, code } = await exhaust({ address, email })
  assert.deepEqual([tries, wait, code], [5, 30, 'rate_limited'])
  assert.equal((await exhaust({ address, email: ` ${email.toUpperCase()}` })).tries, 0)
  clock.advance(30 * second - 1)
  assert.deepEqual(await exhaust({ address, email }), { tries: 0, wait: 1, code })
  clock.advance(1)
  assert.deepEqual(await exhaust({ address, email }), { tries: 1, wait: 60, code })
})

test('tries at one address keep nobody waiting at another one', async () => {
  const { email } = somebody()
  await exhaust({ address: '198.51.100.2', email })
  assert.equal(
    await createThrottle(database.db, clock).prove({ address: '198.51.100.3', email }, right),
    true,
  )
})

test('addresses that have used up their ten tries share one try in 15 minutes', async () => {
  const { email } = somebody()
  const addresses = Array.from({ length: 4 }, (_, n) => `198.51.100.${n + 10}`)
  for (const address of addresses) for (const n of [5, 1, 1, 1, 1, 1]) await tries(address, email, n)
  clock.advance(15 * minute)
  const later = await Promise.all(addresses.map(async (address) => (await exhaust({ address, email })).tries))
  assert.deepEqual(later.sort(), [0, 0, 0, 1])
  // An address with free attempts does not wait for it.
  assert.equal((await exhaust({ address: '198.51.100.20', email })).tries, 5)
})

/** Tries until it is refused, so often as is expected, and lets the wait go by. */
async function tries(address: string, email: string, expected: number) {
  const { tries, wait } = await exhaust({ address, email })
  assert.equal(tries, expected)
  clock.advance(wait * second)
}

test('a known browser and a session have five tries of their own, whatever others try', async () => {
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 5; n++) assert.equal(await throttle.proveIdentified('browser a', wrong), false)
  await assert.rejects(throttle.proveIdentified('browser a', right), { code: 'rate_limited' })
  assert.equal(await throttle.proveIdentified('browser b', right), true)
  clock.advance(30 * second)
  assert.equal(await throttle.proveIdentified('browser a', right), true)
  for (let n = 0; n < 5; n++) assert.equal(await throttle.proveIdentified('browser a', wrong), false)
})

// The promise of docs/people.md: ten for each address, and one in each 15 minutes for all of them.
const most_guesses = (addresses: number, days: number) =>
  days * (addresses * max_pair_failures + (24 * 60) / 15)

test('the guesses of an e-mail stay bounded, however many addresses try at full speed for two days', async () => {
  const throttle = createThrottle(database.db, clock)
  for (const n of [1, 20]) {
    const { email } = somebody()
    const addresses = Array.from({ length: n }, () => somebody().address)
    let guesses = 0
    let owner_waited = 0
    const counted = async () => {
      guesses++
      return false
    }
    for (let minutes = 0; minutes < 2 * 24 * 60; minutes += 15) {
      for (const address of addresses)
        while (
          await throttle.prove({ address, email }, counted).then(
            () => true,
            () => false,
          )
        );
      // A new browser at an address of its own.
      const owner = { address: somebody().address, email }
      await throttle.prove(owner, right).catch(() => owner_waited++)
      clock.advance(15 * minute)
    }
    assert.equal(owner_waited, 0)
    assert.ok(
      guesses > n * max_pair_failures && guesses <= most_guesses(n, 2),
      `${n} addresses: ${guesses} guesses`,
    )
  }
})

test('no order of tries and pauses gives more guesses in a day than are promised', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 3 }), fc.constantFrom(0, 10, 31, 900, 3600, 86_401)), {
        minLength: 60,
        maxLength: 120,
      }),
      async (schedule) => {
        const { email } = somebody()
        const addresses = Array.from({ length: 4 }, () => somebody().address)
        const throttle = createThrottle(database.db, clock)
        const times: number[] = []
        for (const [which, pause_s] of schedule) {
          const stranger = { address: addresses[which] ?? '', email }
          const check = async () => Boolean(times.push(clock.now())) && false
          await throttle.prove(stranger, check).catch(({ code }) => assert.equal(code, 'rate_limited'))
          clock.advance(pause_s * second)
        }
        const in_a_day = (from: number) =>
          times.filter((time) => time >= from && time < from + 24 * 60 * minute).length
        for (const time of times) assert.ok(in_a_day(time) <= most_guesses(4, 1) + 1)
        for (const time of times)
          assert.ok(times.filter((one) => one >= time && one < time + 30 * second).length <= 4 * 5 + 1)
      },
    ),
    { numRuns: runs(10) },
  )
})

test('an address has a hundred tries, of however many e-mails', async () => {
  const { address } = somebody()
  assert.equal((await exhaust({ address })).tries, 100)
  const throttle = createThrottle(database.db, clock)
  assert.equal(await throttle.prove(many('203.0.113.9'), wrong), false)
})

test('a hundred people sign in at the same time from one address', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  const ends: ((right: boolean) => void)[] = []
  const tries: Promise<boolean>[] = []
  for (let n = 0; n < 100; n++)
    await new Promise<void>((started, failed) => {
      const { check, end } = inFlight()
      const trying = throttle.prove(many(address), () => {
        started()
        return check()
      })
      trying.catch(failed)
      tries.push(trying)
      ends.push(end)
    })
  for (const [n, end] of ends.entries()) {
    end(true)
    assert.equal(await tries[n], true)
  }
  assert.equal((await exhaust({ address })).tries, 100)
})

test('what the service itself cannot check counts as no try, neither of the e-mail nor of the address', async () => {
  const who = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 4; n++) await throttle.prove(who, wrong)
  const busy = () => Promise.reject(new Error('busy'))
  for (let n = 0; n < 10; n++) await assert.rejects(throttle.prove(who, busy), /busy/)
  assert.equal((await exhaust(who)).tries, 1)
  // Five failures are known of it.
  assert.equal((await exhaust({ address: who.address })).tries, 95)
})

test('a person moves to ten e-mails a day without a wait, also when they are taken', async () => {
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 10; n++) await throttle.countEmailChange('usr_moving')
  await assert.rejects(throttle.countEmailChange('usr_moving'), { code: 'rate_limited' })
  await throttle.countEmailChange('usr_other')
})

test('what was right is taken back: the e-mail begins anew, and the address keeps its other failures', async () => {
  const who = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 4; n++) await throttle.prove(who, wrong)
  assert.equal(await throttle.prove(who, right), true)
  assert.deepEqual((await exhaust(who)).tries, 5)
  const { address } = who
  // 4 and 5 failures are known of it.
  assert.equal((await exhaust({ address })).tries, 91)
})

test('what is right for one of several accounts stays counted, and takes nothing with it', async () => {
  const who = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 2; n++) await throttle.prove(who, wrong)
  for (let n = 0; n < 2; n++) assert.equal(await throttle.prove(who, async () => 'shared'), true)
  assert.equal((await exhaust(who)).tries, 1)
})

test('what is right keeps no failures of the address in mind, and lengthens no wait', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  await exhaust({ address })
  // A hundred failures, the last one now: each hour somebody signs in rightly, and the next one may at once.
  for (let hours = 0; hours < 24; hours++) {
    clock.advance(60 * minute)
    for (const email of ['ada@example.com', 'grace@example.com'])
      await throttle.prove({ address, email }, right)
  }
  const row = () =>
    database.db
      .selectFrom('sign_in_failures')
      .selectAll()
      .where('name', '=', `address ${address}`)
      .executeTakeFirst()
  assert.equal((await row())?.failures, 100)
  clock.advance(1)
  assert.equal((await exhaust({ address })).tries, 100)
})

test('a failure beside a right try stays', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  for (let n = 0; n < 98; n++) await throttle.prove(many(address), wrong)
  const started = Promise.withResolvers<void>()
  const { check, end } = inFlight()
  const trying = throttle.prove(many(address), () => {
    started.resolve()
    return check()
  })
  await started.promise
  await throttle.prove(many(address), wrong)
  await assert.rejects(throttle.prove(many(address), wrong), { code: 'rate_limited' })
  end(true)
  await trying
  assert.deepEqual(await exhaust({ address }), { tries: 1, wait: 30, code: 'rate_limited' })
})

test('a link that is for something counts as no try, however many come at once; one for nothing does', async () => {
  const { address } = somebody()
  const throttle = createThrottle(database.db, clock)
  const found = await Promise.all(
    Array.from({ length: 30 }, () => throttle.checkLink(address, async () => 'it')),
  )
  assert.equal(found.filter((one) => one === 'it').length, 30)
  for (let n = 0; n < 100; n++) assert.equal(await throttle.checkLink(address, async () => null), null)
  await assert.rejects(
    throttle.checkLink(address, async () => 'it'),
    { code: 'rate_limited' },
  )
})

test('fifty at once, by two processes, get no more tries than one after the other', async () => {
  const other = await openScratch(database.data_dir)
  const throttles = [database, other].map(({ db }) => createThrottle(db, clock))
  const who = somebody()
  const tries = Array.from({ length: 50 }, (_, n) => throttles[n % 2]?.prove(who, wrong))
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
  await removeExpiredAccess(database.db, clock)
  assert.deepEqual(await database.db.selectFrom('sign_in_failures').selectAll().execute(), [])
})

test('what was typed as an e-mail is not kept', async () => {
  const typed = { address: '192.0.2.200', email: 'my secret password' }
  await createThrottle(database.db, clock).prove(typed, wrong)
  const rows = await database.db.selectFrom('sign_in_failures').select('name').execute()
  assert.deepEqual(
    rows.filter(({ name }) => /secret/.test(name)),
    [],
  )
})
