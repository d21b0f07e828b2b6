// runs: both, apart
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startRapport } from '../harness.ts'
import { mailSettings, queueMails } from '../mails.ts'
import { useFor } from '../use.ts'
import { until } from '../webhooks.ts'
import { missingPostfix, startPostfix } from './postfix.ts'
import { report } from './report.ts'

const count = 1000

test('a postfix that stops in the middle of 1,000 mails loses none, and each is in the mailbox once', {
  skip: missingPostfix() ?? false,
}, async (t) => {
  const postfix = await useFor(t, startPostfix())
  const rapport = await useFor(
    t,
    startRapport({ env: mailSettings(postfix.url, { MAIL_RETRY_DELAYS: '1', SMTP_TIMEOUT_MS: '5000' }) }),
  )
  const clock = { now: () => Date.now(), elapsed: () => Date.now(), advance: () => {}, set: () => {} }
  const wanted = Array.from({ length: count }, (_, n) => ({ recipient: `person${n}@example.com` }))
  const ids = await queueMails(rapport, clock, ...wanted)
  const total = async (query: string) =>
    (await rapport.call('GET', `/api/v1/mails?per_page=1&${query}`)).body.meta.total
  const began = performance.now()
  await until(
    () => total('status=sent'),
    (sent) => sent > count / 5,
  )
  await postfix.stop()
  await pause(3000)
  await postfix.start()
  await until(
    () => total('status=sent'),
    (sent) => sent === count,
  )
  const took_s = (performance.now() - began) / 1000
  const found = await until(
    async () => postfix.mails(),
    (mails) => new Set(mails.map((mail) => /^Message-ID: (\S+)/im.exec(mail)?.[1])).size === count,
  )
  const known = new Set(ids.map((id) => `<${id}@example.com>`))
  for (const mail of found) assert.ok(known.has(/^Message-ID: (\S+)/im.exec(mail)?.[1] ?? ''))
  // A second one only after an outcome that nobody knows.
  const { text } = await rapport.call('GET', '/metrics')
  const unknown = Number(/rapport_mail_attempts_total\{outcome="unknown"\} (\d+)/.exec(text)?.[1] ?? 0)
  assert.ok(found.length - count <= unknown, `${found.length} mails, ${unknown} unknown outcomes`)
  const figures = `${count} mails in ${took_s.toFixed(1)} s, ${found.length - count} of them twice`
  t.diagnostic(figures)
  report({ fault: 'mail', figures, events: count })
})
