// runs: both, apart
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killMails } from './faults/mail-kills.ts'

test('a service that is killed at random moments loses no mail of a booking, repeats no reminder and no digest, and has whole calendars', async (t) => {
  const seed = Date.now() % 100_000
  const { acknowledged, reminders, twice } = await killMails(t, { kills: 4, seed })
  t.diagnostic(
    `seed ${seed}: ${acknowledged} bookings, ${reminders} reminders, ${twice} mails more than once`,
  )
  assert.ok(acknowledged > 0 && reminders > 0)
})
