import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace } from '../../../test/database.ts'
import { startRapport, turnableClock } from '../../../test/harness.ts'
import { type Stage, stages, statusOf } from '../../resources/deals/stages.ts'
import { highest_value } from '../../resources/decimal.ts'

// Values as whole ten-thousandths, so that the recomputation needs no fractions.
const highest = Math.round(highest_value * 10_000)
const value = fc.oneof(fc.constant(null), fc.nat(100_000), fc.integer({ min: highest - 1000, max: highest }))
const deal = fc.record({
  value,
  stage: fc.constantFrom(...stages),
  probability: fc.option(fc.integer({ min: 0, max: 100 })),
  hours: fc.nat(1500),
  trash: fc.boolean(),
})

/** A decimal with four places as JSON has it: the number nearest to it. */
const number = (units: bigint) => Number(`${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`)

test('for any deals, the reports say what a plain recomputation of the listed deals says, to the last decimal', async (t) => {
  const clock = turnableClock(Date.parse('2026-09-20T00:00:00Z'))
  const service = await startRapport({ clock })
  t.after(() => service.close())
  await fc.assert(
    fc.asyncProperty(fc.array(deal, { maxLength: 12 }), async (wanted) => {
      const call = await newWorkspace(service)
      const kept: { stage: Stage; units: bigint; shown: bigint; month: string }[] = []
      for (const { value, hours, trash, ...rest } of wanted) {
        clock.advance(hours * 3_600_000)
        const body = { name: 'A', ...rest, value: value === null ? null : value / 10_000 }
        const reply = await call('POST', '/api/v1/deals', body)
        assert.equal(reply.status, 201, reply.text)
        const { id, probability } = reply.body.data
        if (trash) await call('DELETE', `/api/v1/deals/${id}`)
        else
          kept.push({
            ...{ stage: rest.stage, units: BigInt(value ?? 0), shown: BigInt(probability) },
            month: new Date(clock.now()).toISOString().slice(0, 7),
          })
      }
      const summed = (those: typeof kept) => ({
        count: those.length,
        value: number(those.reduce((sum, { units }) => sum + units, 0n)),
        weighted_value: number(
          (those.reduce((sum, { units, shown }) => sum + units * shown, 0n) + 50n) / 100n,
        ),
      })
      const { data } = (await call('GET', '/api/v1/reports/pipeline')).body
      assert.deepEqual(data, {
        stages: stages.map((stage) => ({
          ...{ stage, status: statusOf(stage) },
          ...summed(kept.filter((deal) => deal.stage === stage)),
        })),
        total_open: summed(kept.filter(({ stage }) => statusOf(stage) === 'open')),
      })

      const { months } = (await call('GET', '/api/v1/reports/outcomes?months=36')).body.data
      const found = months.filter((month: Record<string, number>) => month.won_count || month.lost_count)
      const closed = kept.filter(({ stage }) => statusOf(stage) !== 'open')
      // No more than three years of them: 12 deals, 1500 hours each.
      assert.deepEqual(
        found,
        [...new Set(closed.map(({ month }) => month))].map((month) => {
          const of = (stage: Stage) =>
            summed(closed.filter((deal) => deal.month === month && deal.stage === stage))
          return {
            month,
            ...{ won_count: of('won').count, won_value: of('won').value },
            ...{ lost_count: of('lost').count, lost_value: of('lost').value },
          }
        }),
      )
    }),
    { numRuns: 15 },
  )
})
