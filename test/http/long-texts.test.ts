import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestHold } from '../calm-time.ts'
import { callOf, useRapport } from '../harness.ts'
import { useOwner } from '../people.ts'
import { bestOfTen } from '../statements.ts'

// Normal forms of Unicode sort the marks behind a letter, in a time that grows with the square of their number. An expression
// that looks for blanks at an end may look at each blank again. The service runs in this process, so measure this event loop.

const rapport = useRapport()
const call = callOf(rapport)
const owner = useOwner(rapport)

const most_ms = 100
const marks = (length: number) => `a${'\u0301\u0323'.repeat(length / 2)}`
const long = marks(400_000)
const blanks = `a${' '.repeat(40_000)}a`
const note = `@${marks(65_000)}`

const company = { name: 'Acme' }
const requests: [what: string, path: string, body: object, status: number][] = [
  ['a tag of marks', 'companies', { ...company, tags: [long] }, 422],
  ['tags of marks', 'companies', { ...company, tags: Array(200).fill(marks(2000)) }, 422],
  ['an event of marks', 'webhooks', { name: 'A', url: 'http://127.0.0.1:9/', events: [long] }, 422],
  ['an address with blanks', 'webhooks', { name: 'A', url: blanks, events: ['deal.won'] }, 422],
  ['an address of a calendar with blanks', 'busy-calendars', { url: blanks }, 422],
  [
    'an option of marks',
    'custom-fields',
    { resource: 'deals', key: 'k', label: 'K', type: 'select', options: [long] },
    422,
  ],
  ['a note of marks that may mention a member', 'companies/1/notes', { body: note }, 201],
  ['an activity of marks that may mention a member', 'activities', { subject: 'Call', body: note }, 201],
]

for (const [what, path, body, status] of requests)
  test(`no text holds the loop for 100 ms: ${what}`, async () => {
    assert.equal((await call('POST', '/api/v1/companies', company)).status, 201)
    // The delay may be a garbage collection.
    const { value, longest_ms } = await bestOfTen(
      () =>
        longestHold(() =>
          path === 'busy-calendars' ? owner('POST', `/${path}`, body) : call('POST', `/api/v1/${path}`, body),
        ),
      (one) => one.longest_ms <= most_ms,
    )
    assert.equal(value.status, status, value.text.slice(0, 200))
    assert.ok(longest_ms <= most_ms, `${longest_ms} ms`)
  })
