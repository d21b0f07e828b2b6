// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Tx, transaction } from '../src/db/db.ts'
import { endPending, removeOldMails } from '../src/mails/upkeep.ts'
import { newWorkspace } from './database.ts'
import { dataOf, refused } from './envelope.ts'
import { client, startRapport, turnableClock, useRapport } from './harness.ts'
import { makeKey } from './keys.ts'
import {
  besideMails,
  mailOf,
  mailSettings,
  mailsOf,
  mailsRest,
  mailsTo,
  queueMails,
  queueMailsOf,
  untilMail,
} from './mails.ts'
import { ask, join, keyCaller, setUp, useOwner } from './people.ts'
import { startSmtpServer, useSmtpServer } from './smtp-server.ts'
import { useFor } from './use.ts'
import { until } from './webhooks.ts'

const clock = turnableClock(Date.now())
const server = useSmtpServer()
const rapport = useRapport(mailsTo(server, clock, { MAIL_REPLY_TO: 'help@example.com' }))
const key = keyCaller(rapport)
const ada = useOwner(rapport)
const minute = 60_000
const queue = (...mails: Parameters<typeof queueMails>[2][]) => queueMails(rapport, clock, ...mails)
const ended = (id: string) => untilMail(rapport, id, ({ status }) => status !== 'pending')
const told = async () =>
  (await ask(ada, 'GET', '/notifications?unread=true')).filter(
    ({ kind }: { kind: string }) => kind === 'mail_failed',
  )
const readAll = () => ada('POST', '/notifications/read', { all: true })
/** The server refuses from now on. */
const failing = () => {
  server.script.connect = 421
  // An idle connection would go on.
  server.drop()
}
/** Time passes, while no mail is tried. */
const pass = async (ms: number) => {
  await mailsRest(rapport, clock)
  clock.advance(ms)
}
/** The server is well again, and the mails are sent. A try that began before still fails, so the next one waits, too. */
const recovered = async (...ids: string[]) => {
  server.heal()
  const later = async (id: string) => {
    await pass(minute)
    return mailOf(rapport, id)
  }
  for (const id of ids) await until(() => later(id), { status: 'sent' })
}
/** Runs the job of pending mails now. */
const upkeep = () => besideMails(rapport, (db) => endPending(db, clock))

describe('owners and administrators are notified', () => {
  test('of a mail that fails for good, in each way, once until they have read it; it makes no mail', async () => {
    const before = (await mailsOf(rapport)).length
    let written = 0
    const expect = async (id: string) => {
      written++
      const { reason } = await ended(id)
      const [one, ...more] = await until(told, (all) => all.length > 0)
      assert.deepEqual([one.record, more], [{ kind: 'mails', id, title: one.record.title }, []], reason)
      await readAll()
      return reason
    }
    server.script.end = 554
    assert.equal(await expect((await queue({ recipient: 'refused@example.com' }))[0] as string), 'smtp_5xx')
    server.heal()
    server.script.rcpt = 451
    const [late = ''] = await queue({ recipient: 'late@example.com' })
    await untilMail(rapport, late, ({ attempt_count }) => attempt_count === 1)
    await pass(73 * 60 * minute)
    await upkeep()
    assert.equal(await expect(late), 'expired')
    const [odd = ''] = await queue({ recipient: 'a@example.com\r\nBcc: b@example.com' })
    assert.equal(await expect(odd), 'address_unsupported')
    assert.equal((await mailsOf(rapport)).length, before + written)
  })

  test('of a server that has refused for 15 minutes, also while no try is due', async () => {
    failing()
    const [id = ''] = await queue({ recipient: 'waits@example.com' })
    await until(() => ask(key, 'GET', '/mails/server'), { status: 'failing' })
    await pass(14 * minute)
    await upkeep()
    assert.deepEqual(await told(), [])
    await pass(minute)
    await upkeep()
    assert.equal((await told()).length, 1)
    await readAll()
    await upkeep()
    assert.deepEqual(await told(), [])
    await recovered(id)
  })

  test('of such a server in each workspace, once in its outage, also if the first mail waits later', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const other = await newWorkspace(rapport)
    const { id: workspace_id } = dataOf(await other('GET', '/api/v1/workspace'))
    const now = new Date(clock.now()).toISOString()
    const member = {
      workspace_id,
      user_id: grace.id,
      role: 'owner',
      created_at: now,
      entered_at: now,
    } as const
    const stored = <T>(work: (tx: Tx) => Promise<T>) => besideMails(rapport, (db) => transaction(db, work))
    await stored((tx) => tx.insertInto('memberships').values(member).execute())
    const tellings = async () =>
      (
        await stored((tx) =>
          tx
            .selectFrom('notifications')
            .select('record_id')
            .where('workspace_id', '=', workspace_id)
            .execute(),
        )
      ).map(({ record_id }) => record_id)
    const failsFor15Minutes = async () => {
      failing()
      const ids = await queue({ recipient: 'first@example.com' })
      await until(() => ask(key, 'GET', '/mails/server'), { status: 'failing' })
      await pass(15 * minute)
      await upkeep()
      assert.equal((await told()).length, 1)
      await readAll()
      return String(ids)
    }
    const first = await failsFor15Minutes()
    assert.deepEqual(await tellings(), [])
    const waits = async () => {
      const [id = ''] = await queueMailsOf(rapport, workspace_id, clock, [{ recipient: 'late@example.com' }])
      await upkeep()
      return id
    }
    const late = await waits()
    assert.deepEqual(await tellings(), [late])
    await stored((tx) => tx.updateTable('notifications').set({ read_at: now }).execute())
    await waits()
    assert.deepEqual([await tellings(), await told()], [[late], []])
    await recovered(first)
    await until(
      async () => (await other('GET', '/api/v1/mails?status=pending')).body.data,
      (pending) => pending.length === 0,
    )
    const second = await failsFor15Minutes()
    assert.deepEqual(await tellings(), [late])
    const again = await waits()
    assert.deepEqual((await tellings()).sort(), [late, again])
    await recovered(second)
  })
})

describe('the log', () => {
  test('is filtered by kind, status, recipient, member and time, and read page by page', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const from = new Date(clock.now()).toISOString()
    const ids: string[] = []
    for (const recipient of ['Pages@example.com', 'pages@example.com', 'PAGES@EXAMPLE.COM']) {
      ids.push(...(await queue({ recipient, user_id: grace.id })))
      clock.advance(1000)
    }
    for (const id of ids) assert.equal((await ended(id)).status, 'sent')
    const found = async (query: string) =>
      (await mailsOf(rapport, `&recipient=pages%40Example.com&${query}`)).map(({ id }) => id)
    const newest = ids.toReversed()
    assert.deepEqual(await found(''), newest)
    assert.deepEqual(await found(`kind=test&status=sent&user_id=${grace.id}`), newest)
    assert.deepEqual(await found('kind=assigned'), [])
    assert.deepEqual(await found('status=failed,pending'), [])
    assert.deepEqual(await found('user_id=usr_nobody'), [])
    assert.deepEqual(await found(`from=${new Date(clock.now() - 2500).toISOString()}`), newest.slice(0, 2))
    assert.deepEqual(await found(`to=${from}`), newest.slice(2))
    const path = '/api/v1/mails?recipient=pages@example.com&per_page=2'
    const first = (await rapport.call('GET', `${path}&cursor=start`)).body
    const second = (await rapport.call('GET', `${path}&cursor=${first.meta.next_cursor}`)).body
    assert.deepEqual(
      [...first.data, ...second.data].map(({ id }: { id: string }) => id),
      newest,
    )
    assert.deepEqual((await rapport.call('GET', `${path}&page=2`)).body.data, second.data)
    const { attempts, text, message_id, has_calendar, ...mail } = await mailOf(rapport, newest[2] as string)
    assert.deepEqual(second.data, [mail])
  })

  test('shows a caller the mails whose cause they may read', async () => {
    const causes = {
      invitation: 'members:write',
      new_sign_in: 'members:write',
      password_reset: 'members:write',
      booking_confirmed: 'appointments:read',
      booking_reminder: 'appointments:read',
      webhook_failed: 'webhooks:read',
      import_ended: 'imports:read',
      assigned: 'members:read',
      daily_digest: 'members:read',
      test: 'members:read',
    } as const
    const kinds = Object.keys(causes) as (keyof typeof causes)[]
    const recipient = 'causes@example.com'
    const ids = await queue(...kinds.map((kind) => ({ kind, recipient })))
    for (const scope of new Set(Object.values(causes))) {
      const { call } = await makeKey(rapport, { scopes: ['mails:read', 'mails:write', scope] })
      const listed = dataOf(await call('GET', `/api/v1/mails?recipient=${recipient}`)) as { kind: string }[]
      const readable = kinds.filter((kind) => causes[kind] === scope)
      assert.deepEqual(listed.map(({ kind }) => kind).sort(), readable.toSorted())
      for (const [n, kind] of kinds.entries()) {
        const path = `/api/v1/mails/${ids[n]}`
        assert.equal(
          (await call('GET', path)).status,
          readable.includes(kind) ? 200 : 404,
          `${scope} ${kind}`,
        )
        if (!readable.includes(kind)) assert.equal((await call('POST', `${path}/resend`, {})).status, 404)
      }
    }
    const { call } = await makeKey(rapport, { scopes: ['appointments:read'] })
    refused(await call('GET', '/api/v1/mails'), 403, 'forbidden')
    const grace = await join(ada, rapport.url, 'member')
    refused(await grace.call('GET', '/mails'), 403, 'forbidden')
    refused(await grace.call('GET', '/mails/server'), 403, 'forbidden')
  })

  test('keeps finished mails for MAIL_LOG_DAYS, and pending ones longer', async () => {
    const [sent = ''] = await queue({ recipient: 'old@example.com' })
    assert.equal((await ended(sent)).status, 'sent')
    server.script.rcpt = 451
    const [waiting = ''] = await queue({ recipient: 'waiting@example.com' })
    await untilMail(rapport, waiting, ({ attempt_count }) => attempt_count === 1)
    const remove = (days: number) => besideMails(rapport, (db) => removeOldMails(db, clock, days))
    await pass(2 * 24 * 60 * minute - minute)
    await remove(2)
    assert.equal((await mailOf(rapport, sent)).attempts.length, 1)
    await pass(2 * minute)
    await remove(2)
    refused(await rapport.call('GET', `/api/v1/mails/${sent}`), 404, 'not_found')
    assert.equal((await mailOf(rapport, waiting)).status, 'pending')
  })

  test('is that of a workspace', async () => {
    const other = await newWorkspace(rapport)
    const { id: workspace_id } = dataOf(await other('GET', '/api/v1/workspace'))
    const [id] = await queueMailsOf(rapport, workspace_id, clock, [{ recipient: 'other@example.com' }])
    assert.equal((await other('GET', `/api/v1/mails/${id}`)).status, 200)
    refused(await rapport.call('GET', `/api/v1/mails/${id}`), 404, 'not_found')
    assert.deepEqual(await mailsOf(rapport, '&recipient=other@example.com'), [])
  })
})

test('mails have the address for replies, and metrics count them and their attempts', async () => {
  const sample = async (name: string) => {
    const { text } = await rapport.call('GET', '/metrics')
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    )
  }
  const sent = 'rapport_mail_attempts_total{outcome="sent"}'
  const [known, failed] = [await sample(sent), await sample('rapport_mails_failed')]
  const [id = ''] = await queue({ recipient: 'replies@example.com' })
  await ended(id)
  assert.match(server.accepted.at(-1)?.raw ?? '', /^Reply-To: help@example\.com\r$/m)
  assert.ok((await sample(sent)) > known)
  server.script.end = 554
  await ended((await queue({ recipient: 'counted@example.com' }))[0] as string)
  assert.ok((await sample('rapport_mails_failed')) > failed)
  server.heal()
  // Due while the server may not be tried.
  failing()
  await queue({ recipient: 'due@example.com' })
  await until(() => ask(key, 'GET', '/mails/server'), { status: 'failing' })
  await pass(30_000)
  assert.ok((await sample('rapport_mails_due')) >= 1)
  assert.ok((await sample('rapport_mails_oldest_due_seconds')) >= 30)
  server.heal()
  await until(
    async () => {
      await pass(30 * minute)
      return ask(key, 'GET', '/mails/server')
    },
    { status: 'ok' },
  )
})

test('urgent mails go first: resets, invitations and sign-ins, then bookings, then the others', async (t) => {
  const own = await useFor(t, startSmtpServer())
  const quiet = await startRapport({ clock, roles: ['api'], env: mailSettings(own.url) })
  t.after(quiet.close)
  const kinds = [
    'assigned',
    'booking_moved',
    'daily_digest',
    'invitation',
    'new_sign_in',
    'password_reset',
  ] as const
  await queueMails(quiet, clock, ...kinds.map((kind) => ({ kind, recipient: `${kind}@example.com` })))
  // A process of the API alone sends none of them.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  assert.equal(own.accepted.length, 0)
  // Over one connection, so that the order shows.
  const { createMailer } = await import('../src/mails/mailer.ts')
  const { createSmtp } = await import('../src/mails/smtp.ts')
  await besideMails(quiet, async (db) => {
    const nothing = { seal: () => '', open: () => '[]', mac: () => '' }
    const mailing = { configured: true, seal: nothing, address: 'crm@example.com', base: () => quiet.url }
    const mailer = createMailer({
      db,
      clock,
      seal: nothing,
      mailing: { ...mailing, mac: nothing.mac, mailNotices: async () => {} },
      from: { name: '', address: 'crm@example.com' },
      reply_to: null,
      retry_delays: [60],
      smtp: createSmtp({
        server: { host: '127.0.0.1', port: own.port, secure: false, auth: null },
        timeout_ms: 5000,
      }),
      onError: (error) => {
        throw error
      },
    })
    await mailer.sendDue(0, new AbortController().signal)
    mailer.close()
  })
  const order = own.accepted.flatMap(({ to }) => to).map((to) => to.split('@')[0])
  assert.deepEqual(order.slice(0, 3).sort(), ['invitation', 'new_sign_in', 'password_reset'])
  assert.equal(order[3], 'booking_moved')
  assert.deepEqual(order.slice(4).sort(), ['assigned', 'daily_digest'])
})

test('a process of the API alone sends a test mail and a resend, and setup says that mails are sent', async (t) => {
  const own = await useFor(t, startSmtpServer())
  const quiet = await startRapport({ clock, roles: ['api'], env: mailSettings(own.url) })
  t.after(quiet.close)
  assert.deepEqual((await quiet.call('GET', '/api/v1/setup')).body.data, { needed: true, mail: true })
  const by = await setUp(quiet)
  const sent = await ask(by, 'POST', '/mails/test', {})
  assert.equal(sent.status, 'sent')
  assert.equal((await ask(by, 'POST', `/mails/${sent.id}/resend`, {})).attempts.length, 2)
  assert.equal(own.accepted.length, 2)
})

test('without SMTP_URL a resend is refused, and setting it later sends no old mail', async (t) => {
  const quiet = await startRapport({ clock })
  t.after(quiet.close)
  const by = await setUp(quiet)
  const grace = await join(by, quiet.url, 'member')
  await ask(keyCaller(quiet), 'POST', '/companies', { name: 'Globex', owner_id: grace.id })
  const [{ id, status, reason }] = await mailsOf(quiet, '&kind=assigned')
  assert.deepEqual([status, reason], ['not_sent', 'no_smtp'])
  const refusal = refused(await quiet.call('POST', `/api/v1/mails/${id}/resend`, {}), 409, 'conflict')
  assert.equal((refusal as { reason?: string }).reason, 'mail_off')
  await quiet.stop()
  const own = await useFor(t, startSmtpServer())
  const later = await startRapport({ clock, data_dir: quiet.data_dir, env: mailSettings(own.url) })
  t.after(later.close)
  const call = client(later.url, quiet.key)
  const made = await call('POST', '/api/v1/invitations', { email: 'new@example.com', role: 'member' })
  assert.equal(made.status, 201, made.text)
  await until(
    async () => own.accepted.length,
    (count) => count > 0,
  )
  assert.deepEqual(
    own.accepted.map(({ to }) => to[0]),
    ['new@example.com'],
  )
  assert.equal((await call('GET', `/api/v1/mails/${id}`)).body.data.status, 'not_sent')
  // Somebody may send it all the same.
  const { data } = (await call('POST', `/api/v1/mails/${id}/resend`, {})).body
  assert.deepEqual([data.status, data.attempts.length], ['sent', 1])
})

test('the mails of a deleted account have no recipient, subject and text, and a pending one is cancelled', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(key, 'POST', '/companies', { name: 'Globex', owner_id: grace.id })
  const [assigned] = await until(
    () => mailsOf(rapport, `&kind=assigned&user_id=${grace.id}`),
    ([mail]) => mail?.status === 'sent',
  )
  server.script.rcpt = 451
  await ask(key, 'POST', '/deals', { name: 'Relaunch', owner_id: grace.id })
  const [waiting] = await until(
    () => mailsOf(rapport, `&kind=assigned&status=pending&user_id=${grace.id}`),
    ([mail]) => mail?.attempt_count === 1,
  )
  const password = 'correct horse battery'
  assert.equal((await grace.call('POST', '/profile/delete', { current_password: password })).status, 200)
  for (const { id } of [assigned, waiting]) {
    const { recipient, subject, text, attempts } = await until(() => mailOf(rapport, id), { recipient: '' })
    assert.deepEqual([recipient, subject, text], ['', '', ''])
    assert.ok(!JSON.stringify(attempts).includes(grace.email))
  }
  assert.equal((await mailOf(rapport, waiting.id)).status, 'cancelled')
  refused(await rapport.call('POST', `/api/v1/mails/${assigned.id}/resend`, {}), 409, 'conflict')
})
