// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysOf, ownDays } from '../../web/src/reports/periods.ts'

test('periods are those of the calendar, over the turn of a year and in leap years', () => {
  const of = (period: Parameters<typeof daysOf>[0], today: string) =>
    Object.values(daysOf(period, today)).join()
  assert.equal(of('this_month', '2028-02-10'), '2028-02-01,2028-02-29')
  assert.equal(of('last_month', '2027-01-31'), '2026-12-01,2026-12-31')
  assert.equal(of('this_quarter', '2026-11-23'), '2026-10-01,2026-12-31')
  assert.equal(of('last_quarter', '2026-02-01'), '2025-10-01,2025-12-31')
  assert.equal(of('this_year', '2028-11-23'), '2028-01-01,2028-12-31')
  assert.equal(of('last_year', '2026-01-01'), '2025-01-01,2025-12-31')
  assert.equal(of('last_30', '2026-03-01'), '2026-01-31,2026-03-01')
  assert.deepEqual(ownDays({ from: '2026-01-01', to: '2026-12-31' }, 365), {
    from: '2026-01-01',
    to: '2026-12-31',
  })
  assert.equal(ownDays({ from: '2026-01-01', to: '2027-01-01' }, 365), null)
  assert.equal(ownDays({ from: '2026-02-30', to: '2026-03-01' }, 365), null)
})
