import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDemo } from './demo.ts'

test('the demo loses no event and every signature is verified by foreign libraries', async () => {
  const lines: string[] = []
  assert.equal(await runDemo((line) => lines.push(line)), 0)
  assert.match(lines.at(-1) ?? '', /bad signatures: 0 {3}lost: 0/)
  assert.ok(lines.filter((line) => line.endsWith('signature ok')).length > 800)
})
