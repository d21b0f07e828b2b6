import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { useStored } from '../../../test/database.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

const path = '/api/v1/activities'
const time = fc.constantFrom(null, '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z')
const outcome = fc.constantFrom(null, 'Done', 'Ordered')
const subject = fc.constantFrom('A', 'B')
const optional = { requiredKeys: [] as [] }
const command = fc.oneof(
  fc.record({
    act: fc.constant('complete' as const),
    body: fc.record({ outcome }, optional) as fc.Arbitrary<{ outcome?: string | null }>,
  }),
  fc.record({ act: fc.constantFrom('reopen' as const, 'delete' as const, 'restore' as const) }),
  fc.record({
    act: fc.constant('put' as const),
    body: fc.record({ completed_at: time, outcome, subject }, optional),
  }),
)

type State = { subject: string; completed_at: string | null; outcome: string | null }

test('after any sequence of changes the activity is what they add up to, and each completion is one event', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ subject, completed_at: time, outcome }),
      fc.array(command, { maxLength: 12 }),
      async (first, commands) => {
        let state: State = first
        let live = true
        let completions = first.completed_at ? 1 : 0
        let entries = 1
        const created = await rapport.call('POST', path, first)
        assert.equal(created.status, 201, created.text)
        const { id } = created.body.data
        const at = `${path}/${id}`

        for (const { act, ...rest } of commands) {
          clock.advance(1000)
          const now = new Date(clock.now()).toISOString()
          if (act === 'delete' || act === 'restore') {
            const reply = await (act === 'delete'
              ? rapport.call('DELETE', at)
              : rapport.call('POST', `${at}/restore`))
            assert.equal(reply.status, act === 'restore' || live ? 200 : 404)
            if (live !== (act === 'restore')) entries++
            live = act === 'restore'
            continue
          }
          const body = 'body' in rest ? rest.body : {}
          const reply =
            act === 'put'
              ? await rapport.call('PUT', at, body)
              : await rapport.call('POST', `${at}/${act}`, body)
          assert.equal(reply.status, live ? 200 : 404, reply.text)
          if (!live) continue
          const next: State = { ...state, ...body }
          if (act === 'complete') next.completed_at = state.completed_at ?? now
          if (act === 'reopen') next.completed_at = null
          const changed = JSON.stringify(next) !== JSON.stringify(state)
          if (changed) entries++
          if (!state.completed_at && next.completed_at) completions++
          state = next
          const { subject, completed_at, outcome, updated_at } = reply.body.data
          assert.deepEqual({ subject, completed_at, outcome }, state)
          assert.equal(updated_at === now, changed)
        }

        const events = (await stored.events('activity', id)).map(({ event }) => event)
        assert.deepEqual(events, ['activity.created', ...Array(completions).fill('activity.completed')])
        const log = await stored.rows(
          "SELECT id FROM audit_log WHERE kind = 'activities' AND record_id = ?",
          String(id),
        )
        assert.equal(log.length, entries)
      },
    ),
    { numRuns: runs(60) },
  )
})
