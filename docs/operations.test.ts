// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeConfig, readConfig } from '../src/config.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

test('the operations page lists every setting with its default, and none that does not exist', () => {
  const [, rows = ''] = /\n## Settings\n(.*?)\n## /s.exec(read('operations.md')) ?? []
  const listed = [...rows.matchAll(/^\| `([A-Z_]+)` \| (.*?) ?\|/gm)].map(
    ([, name, value]) => `${name}=${value}`,
  )
  const settings = describeConfig(readConfig({})).map((line) => line.split(/ +# /)[0] ?? '')
  assert.deepEqual(listed, settings)
})

/** The metrics that the service shows. */
function shownMetrics(): string[] {
  const source = read('../src/http/metrics.ts') + read('../src/http/process-metrics.ts')
  return [
    ...[...source.matchAll(/(?:head|single)\(\s*'(rapport_\w+)'/g)].map(([, name]) => String(name)),
    ...[...source.matchAll(/gauge\('(\w+)'/g)].map(([, name]) => `rapport_deliveries_${name}`),
  ]
}

test('the operations page lists every metric, and none that does not exist', () => {
  const listed = [...read('operations.md').matchAll(/^\| `(rapport_\w+)` \| /gm)].map(([, name]) => name)
  assert.deepEqual(listed.sort(), shownMetrics().sort())
})

test('the alerts and the dashboard ask for metrics that the service shows', () => {
  const shown = shownMetrics()
  for (const file of ['../ops/alerts.yml', '../ops/grafana.json']) {
    const asked = [...read(file).matchAll(/rapport_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    )
    assert.ok(asked.length >= 5)
    for (const name of asked) assert.ok(shown.includes(name), `${file}: ${name}`)
  }
})
