// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startRapport } from '../test/harness.ts'

// Blocks marked sh are run as they stand. These pages have examples of whole installations, with placeholders.
const not_run = ['operations.md', 'receiving-webhooks.md', 'scaling.md']
// A page that loses its examples must not go unnoticed.
const known = [
  'activities.md',
  'appointments.md',
  'batch.md',
  'booking.md',
  'busy-calendars.md',
  'deals.md',
  'duplicates.md',
  'errors.md',
  'events-feed.md',
  'history.md',
  'how-to-bill-won-deals.md',
  'how-to-mirror-a-warehouse.md',
  'how-to-move-from-hubspot-or-pipedrive.md',
  'how-to-replace-a-booking-tool.md',
  'how-to-sync-a-shop.md',
  'idempotency.md',
  'keys.md',
  'limits.md',
  'notifications.md',
  'people.md',
  'reports.md',
  'trash.md',
  'views.md',
  'webhooks.md',
]

const folder = new URL('.', import.meta.url)
const pages = globSync('*.md', { cwd: folder }).sort()
const examples = pages
  .filter((page) => !not_run.includes(page))
  .map((page) => ({ page, script: scriptOf(readFileSync(new URL(page, folder), 'utf8')) }))
  .filter(({ script }) => script !== '')

/** All sh blocks of a page as one script. Each line keeps its line number, so that errors of bash name it. */
function scriptOf(page: string): string {
  let inside = false
  let any = false
  const lines = page.split('\n').map((line) => {
    const fence = line.startsWith('```')
    if (fence) inside = line.trimEnd() === '```sh'
    if (fence || !inside) return ''
    any = true
    return line
  })
  return any ? lines.join('\n') : ''
}

test('the pages with examples have them', () => {
  const found = examples.map(({ page }) => page)
  assert.deepEqual(
    known.filter((page) => !found.includes(page)),
    [],
  )
  assert.deepEqual(
    not_run.filter((page) => !pages.includes(page)),
    [],
  )
})

// Pages whose examples begin signed in, with the cookies in `jar`.
const signed_in = ['busy-calendars.md', 'notifications.md', 'views.md']
const sign_in = `curl -fsS -c jar -H "$J" $API/setup -d '{"token": "'$SETUP_TOKEN'", "name": "Ada Lovelace",
  "email": "ada@example.com", "password": "correct horse battery", "workspace_name": "Acme"}'
`

for (const { page, script } of examples)
  test(`the examples of ${page} work, in their order, on a new service`, async (t) => {
    const service = await startRapport()
    t.after(() => service.close())
    const cwd = mkdtempSync(join(tmpdir(), 'rapport-examples-'))
    t.after(() => rmSync(cwd, { recursive: true }))
    const { url, key, setup_url } = service
    const child = spawn(
      'bash',
      ['-euo', 'pipefail', '-c', signed_in.includes(page) ? sign_in + script : script],
      {
        cwd,
        env: {
          PATH: process.env.PATH,
          HOME: cwd,
          LC_ALL: 'C.UTF-8',
          URL: url,
          API: `${url}/api/v1`,
          KEY: key,
          SETUP_TOKEN: setup_url?.split('#')[1],
          H: `Authorization: Bearer ${key}`,
          J: 'Content-Type: application/json',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 300_000,
      },
    )
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    assert.equal(code, 0, `${page}: ${errors}\nThe last output: ${output.slice(-1000)}`)
  })
