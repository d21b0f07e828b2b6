// runs: timed
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMember } from '../src/access/people/memberships.ts'
import { insertUser } from '../src/access/people/users.ts'
import { systemClock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { command_line, contextOf } from '../src/events/context.ts'
import { default_preferences, storedPreferences } from '../src/mails/preferences.ts'
import { dataOf } from './envelope.ts'
import { useRapport } from './harness.ts'
import { beside } from './keys.ts'
import { bestOfTen } from './statements.ts'
import { before } from './use.ts'

const rapport = useRapport()
const members = 2000
const most = 1.3

before(() =>
  beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const context = contextOf(systemClock, { workspace_id: 1, actor: command_line, request_id: null })
      for (let n = 0; n < members; n++) {
        const person = { name: `Ana Ruiz ${n}`, email: `ana.ruiz.${n}@acme.example`, password_hash: '' }
        await insertMember(tx, context, await insertUser(tx, context.now, person), 'member')
      }
      // A mail for each mention costs what a mail costs: it is rendered and stored.
      const mail_preferences = storedPreferences({ ...default_preferences, mentioned: false })
      await tx.updateTable('users').set({ mail_preferences }).execute()
    }),
  ),
)

const log = async (sign: '' | '@') => {
  const items = Array.from({ length: 1000 }, (_, n) => ({
    op: 'create',
    data: { subject: 'Call', body: `Ask ${sign}Ana Ruiz ${n % members}, who knows them.` },
  }))
  dataOf(await rapport.call('POST', '/api/v1/activities/batch', { items }))
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

/** The CPU time of the main thread: garbage collection and checkpoints in other threads vary. */
async function ownTime(work: () => Promise<void>): Promise<number> {
  const begun = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(begun)
  return user + system
}

/** The median ratio of the CPU time with mentions and without, in turn. */
async function ratioOfMentions(): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < 5; round++) {
    const plain_ms = await ownTime(() => log(''))
    ratios.push((await ownTime(() => log('@'))) / plain_ms)
  }
  return median(ratios)
}

test('a batch of 1,000 activities with a mention each costs at most 1.3 times one without, at 2,000 members', async (t) => {
  const ratio = await bestOfTen(ratioOfMentions, (one) => one <= most)
  t.diagnostic(`${ratio.toFixed(2)} times`)
  assert.ok(ratio <= most, `${ratio} times`)
})
