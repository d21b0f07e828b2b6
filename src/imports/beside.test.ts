// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { upload } from '../../test/imports.ts'

const rapport = useRapport()

const count = 3000

test('most writes beside an import wait for at most 50 of its rows', async (t) => {
  const { id: other } = (await rapport.call('POST', '/api/v1/companies', { name: 'Other' })).body.data
  const file = `name\n${Array.from({ length: count }, (_, n) => `Row ${n}`).join('\n')}\n`
  const { id } = (await upload(rapport, '?resource=companies', file)).body.data
  // How many rows are imported from one answer to the next one. It depends less on the machine than a time.
  const steps: number[] = []
  for (let before = 0, n = 0; before < count; n++) {
    assert.equal(
      (await rapport.call('PUT', `/api/v1/companies/${other}`, { industry: String(n) })).status,
      200,
    )
    const { rows_read, status } = (await rapport.call('GET', `/api/v1/imports/${id}`)).body.data
    assert.ok(['queued', 'running', 'succeeded'].includes(status), status)
    // The rows of the first batch are prepared before other work was seen.
    if (before >= 1000) steps.push(rows_read - before)
    before = rows_read
  }
  steps.sort((a, b) => a - b)
  t.diagnostic(`rows between two answers: ${steps.join(' ')}`)
  assert.ok((steps[Math.floor(steps.length / 2)] ?? Infinity) <= 50)
})
