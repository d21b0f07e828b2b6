// runs: once
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { catalogue } from '../src/app.ts'
import { removeScratch, settingsOf } from '../test/engine.ts'
import { runDemo } from './demo.ts'

// The names of the interface, written down here and nowhere else.
const seventeen =
  `contact.created contact.updated contact.deleted company.created company.updated company.deleted
  deal.created deal.updated deal.stage_changed deal.won deal.lost deal.deleted activity.created activity.completed
  appointment.created appointment.updated appointment.cancelled`.split(/\s+/)

test('a day of work makes each of the 17 events arrive in its documented shape, and none is lost', async () => {
  const ajv = addFormats.default(new Ajv({ strict: false, formats: { day: true, email_address: true } }))
  const shapes = new Map(
    catalogue.map(({ name, data }) => [
      name,
      { keys: Object.keys((data as unknown as { properties: object }).properties), fits: ajv.compile(data) },
    ]),
  )
  const arrived = new Set<string>()
  const wrong: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'rapport-demo-test-'))
  const lines: string[] = []
  const code = await runDemo({
    env: await settingsOf(folder),
    print: (line) => lines.push(line),
    onReceived({ event, body }) {
      arrived.add(event)
      const { id, event: named, timestamp, webhook_id, data } = JSON.parse(body)
      const shape = shapes.get(event)
      const keys = Object.keys(data).toSorted().join()
      const whole =
        named === event && /^evt_/.test(id) && /^wh_/.test(webhook_id) && Date.parse(timestamp) > 0
      if (!whole || !shape?.fits(data) || keys !== shape.keys.toSorted().join())
        wrong.push(`${body} ${JSON.stringify(shape?.fits.errors)}`)
    },
  })
  await removeScratch(folder)
  assert.equal(code, 0, lines.at(-1))
  assert.deepEqual(wrong.slice(0, 3), [])
  assert.deepEqual([...arrived].toSorted(), seventeen.toSorted())
  assert.match(lines.at(-1) ?? '', /bad signatures: 0 {3}lost: 0/)
  assert.ok(lines.filter((line) => line.endsWith('signature ok')).length > 800)
})
