import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { importFile } from '../imports.ts'
import { arrivedMail, mailOf, mailsOf, mailsTo, untilMail } from '../mails.ts'
import { ask, join, keyCaller, useOwner } from '../people.ts'
import { startReceiver } from '../receiver.ts'
import { useSmtpServer } from '../smtp-server.ts'
import { useFor } from '../use.ts'
import { register, until } from '../webhooks.ts'

const clock = turnableClock(Date.now())
const server = useSmtpServer()
const rapport = useRapport(mailsTo(server, clock, { WEBHOOK_RETRY_DELAYS: 'none' }))
const ada = useOwner(rapport)
const key = keyCaller(rapport)
const of = ({ id }: { id: string }, kind: string) => mailsOf(rapport, `&kind=${kind}&user_id=${id}`)
const told = (member: { id: string }, kind: string, count = 1) =>
  until(
    () => of(member, kind),
    (all) => all.length === count && all.every(({ status }) => status === 'sent'),
  )
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
  assert.equal((await of(grace, 'assigned')).length, 1)
})

test('the mail of a notification is there when the change is acknowledged, one for all records of a request', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const items = ['One', 'Two', 'Three'].map((name) => ({ op: 'create', data: { name, owner_id: grace.id } }))
  await ask(key, 'POST', '/deals/batch', { items })
  const [mail, ...more] = await of(grace, 'assigned')
  assert.deepEqual(more, [])
  assert.match(mail.subject, /3 records/)
  // It counts up, so it makes no second mail.
  const { id } = await ask(key, 'POST', '/companies', { name: 'Globex' })
  const { id: note } = await ask(key, 'POST', `/companies/${id}/notes`, { body: `@${grace.email}` })
  assert.equal((await of(grace, 'mentioned')).length, 1)
  await ask(key, 'PUT', `/companies/${id}/notes/${note}`, { body: `Again, @${grace.email}` })
  assert.equal((await of(grace, 'mentioned')).length, 1)
})

test('an import that ended is mailed to its author, and a webhook that failed to those who manage webhooks; each kind can be off', async (t) => {
  const [linus, eve] = [await join(ada, rapport.url, 'member'), await join(ada, rapport.url, 'admin')]
  await ask(ada, 'PUT', '/profile', { mail_preferences: { webhook_failed: false } })
  const file = 'first_name,last_name\nAna,Ruiz\n'
  const by = { cookie: linus.call.cookie(), authorization: 'None' }
  const done = await importFile(rapport, { resource: 'contacts' }, file, by)
  const [ended] = await told(linus, 'import_ended')
  assert.deepEqual(ended.record, { kind: 'imports', id: done.id })
  const { text } = await mailOf(rapport, ended.id)
  assert.ok(text.includes(`${rapport.url}/settings/imports/${done.id}`))

  const receiver = await useFor(t, startReceiver({ answer: { status: 500 } }))
  const { id } = await register(rapport.call, { url: receiver.url, name: 'Billing' })
  for (const name of ['Globex', 'Initech']) await ask(key, 'POST', '/companies', { name })
  const [failed] = await told(eve, 'webhook_failed')
  assert.deepEqual(failed.record, { kind: 'webhooks', id })
  await until(
    async () => receiver.received.length,
    (count) => count >= 2,
  )
  // The second failure counts up the notification, and makes no second mail.
  assert.equal((await of(eve, 'webhook_failed')).length, 1)
  for (const { id: user_id } of [linus, { id: (await ask(ada, 'GET', '/session')).user.id }])
    assert.deepEqual(await of({ id: user_id }, 'webhook_failed'), [])
  await ask(ada, 'PUT', '/profile', { mail_preferences: { webhook_failed: null } })
  await rapport.call('DELETE', `/api/v1/webhooks/${id}`)
})

test('a change that is rolled back has no mail', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const items = [{ name: 'Kept out', owner_id: grace.id }, { name: '' }].map((data) => ({
    op: 'create',
    data,
  }))
  await key('POST', '/deals/batch', { items, atomic: true })
  assert.deepEqual(await of(grace, 'assigned'), [])
})

test('preferences are merged key by key; null is the default, and an unknown key is refused', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const all = {
    bookings: true,
    assigned: true,
    mentioned: true,
    webhook_failed: true,
    import_ended: true,
    daily_digest: false,
    daily_digest_at: '07:00',
  }
  assert.deepEqual((await ask(grace.call, 'GET', '/profile')).mail_preferences, all)
  const put = (mail_preferences: object) => grace.call('PUT', '/profile', { mail_preferences })
  await put({ assigned: false })
  assert.deepEqual((await put({ bookings: false })).body.data.mail_preferences, {
    ...all,
    assigned: false,
    bookings: false,
  })
  assert.deepEqual((await put({ assigned: null, bookings: null })).body.data.mail_preferences, all)
  await put({ daily_digest: true, daily_digest_at: '18:30' })
  assert.deepEqual((await put({ daily_digest: null, daily_digest_at: null })).body.data.mail_preferences, all)
  assert.deepEqual(problems(await put({ weather: true })), { 'mail_preferences.weather': 'unknown_field' })
  for (const daily_digest_at of ['24:00', '7:00', '', 7])
    assert.deepEqual(Object.keys(problems(await put({ daily_digest_at }))), [
      'mail_preferences.daily_digest_at',
    ])
})

test('a kind that is switched off writes no mail', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(grace.call, 'PUT', '/profile', { mail_preferences: { assigned: false } })
  await ask(key, 'POST', '/deals', { name: 'Quiet', owner_id: grace.id })
  assert.deepEqual(await of(grace, 'assigned'), [])
})

test('a link to unsubscribe works without a session, twice, and a GET changes nothing', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(key, 'POST', '/deals', { name: 'One', owner_id: grace.id })
  const [mail] = await told(grace, 'assigned')
  const raw = arrivedMail(server, mail)
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
