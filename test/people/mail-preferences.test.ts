// runs: both
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { mailSettings, mailsOf, untilMail } from '../mails.ts'
import { ask, type Browser, join, keyCaller, setUp } from '../people.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { before, use } from '../use.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock(Date.now())
const server = use(startSmtpServer)
const rapport = useRapport(
  Object.defineProperty({ clock }, 'env', { get: () => mailSettings(server.url), enumerable: true }),
)
let ada: Browser
before(async () => {
  ada = await setUp(rapport)
})
afterEach(() => {
  server.accepted.length = 0
})
const key = keyCaller(rapport)
const of = ({ id }: { id: string }, kind: string) => mailsOf(rapport, `&kind=${kind}&user_id=${id}`)
const told = (member: { id: string }, kind: string, count = 1) =>
  until(
    () => of(member, kind),
    (all) => all.length === count && all.every(({ status }) => status === 'sent'),
  )
/** Waits until mails of all notifications so far are written: those of another member come last. */
async function caughtUp() {
  const last = await join(ada, rapport.url, 'member')
  await ask(key, 'POST', '/deals', { name: 'Last', owner_id: last.id })
  await told(last, 'assigned')
}

test('an assignment and a mention are mailed once, with the title and the address of the record', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const { id } = await ask(key, 'POST', '/companies', { name: 'Globex', owner_id: grace.id })
  const [assigned] = await told(grace, 'assigned')
  assert.match(assigned.subject, /Globex/)
  const mail = await untilMail(rapport, assigned.id, () => true)
  assert.ok(mail.text.includes(`${rapport.url}/companies/${id}`))
  assert.match(mail.text, /mail\/unsubscribe\/\*\*\*/)
  await ask(key, 'POST', `/companies/${id}/notes`, { body: `@${grace.email} please call.` })
  await told(grace, 'mentioned')
  await ask(grace.call, 'POST', '/companies', { name: 'Own', owner_id: grace.id })
  await caughtUp()
  assert.equal((await of(grace, 'assigned')).length, 1)
})

test('preferences are merged key by key; null is the default, and an unknown key is refused', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const all = { bookings: true, assigned: true, mentioned: true, webhook_failed: true, import_ended: true }
  assert.deepEqual((await ask(grace.call, 'GET', '/profile')).mail_preferences, all)
  const put = (mail_preferences: object) => grace.call('PUT', '/profile', { mail_preferences })
  await put({ assigned: false })
  assert.deepEqual((await put({ bookings: false })).body.data.mail_preferences, {
    ...all,
    assigned: false,
    bookings: false,
  })
  assert.deepEqual((await put({ assigned: null, bookings: null })).body.data.mail_preferences, all)
  assert.deepEqual(problems(await put({ weather: true })), { 'mail_preferences.weather': 'unknown_field' })
})

test('a kind that is switched off writes no mail', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(grace.call, 'PUT', '/profile', { mail_preferences: { assigned: false } })
  await ask(key, 'POST', '/deals', { name: 'Quiet', owner_id: grace.id })
  await caughtUp()
  assert.deepEqual(await of(grace, 'assigned'), [])
})

test('a link to unsubscribe works without a session, twice, and a GET changes nothing', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(key, 'POST', '/deals', { name: 'One', owner_id: grace.id })
  await told(grace, 'assigned')
  const raw = server.accepted.findLast(({ to }) => to.includes(grace.email))?.raw ?? ''
  const headers = raw.replaceAll(/\r\n[ \t]+/g, ' ')
  assert.match(headers, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  const url = /^List-Unsubscribe: <([^>]+)>\r$/m.exec(headers)?.[1] ?? ''
  const enabled = async () => (await ask(grace.call, 'GET', '/profile')).mail_preferences.assigned
  const shown = await fetch(url)
  assert.equal(shown.status, 200)
  assert.match(await shown.text(), /<button>/)
  assert.equal(await enabled(), true)
  for (let n = 0; n < 2; n++) {
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
    assert.equal((await fetch(url, { method: 'POST', body })).status, 200)
    assert.equal(await enabled(), false)
  }
  assert.equal((await ask(grace.call, 'GET', '/profile')).mail_preferences.mentioned, true)
  for (const wrong of [`${url}x`, `${url.slice(0, -1)}`, url.replace(/\/[^/]+$/, '/bm9ib2R5')])
    assert.equal((await fetch(wrong, { method: 'POST' })).status, 404)
  refused(
    await rapport.call('GET', '/api/v1/profile', undefined, {
      authorization: `Bearer ${url.split('/').at(-1)}`,
    }),
    401,
    'unauthorized',
  )
})
