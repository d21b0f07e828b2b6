// runs: both
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { certificate } from '../../../test/certificate.ts'
import { readStored } from '../../../test/database.ts'
import { engine, openScratch, settingsOf } from '../../../test/engine.ts'
import { startRapport, useRapport } from '../../../test/harness.ts'
import { mailSettings } from '../../../test/mails.ts'
import { cannotLeaveRoot, nobody } from '../../../test/other-user.ts'
import { freePort } from '../../../test/ports.ts'
import { scratchFolder } from '../../../test/process.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { runRapport } from '../../../test/run-rapport.ts'
import { settableClock } from '../../../test/set-clock.ts'
import { startSmtpServer } from '../../../test/smtp-server.ts'
import { useFor } from '../../../test/use.ts'
import { company, register, until, webhook } from '../../../test/webhooks.ts'
import { transaction } from '../../db/db.ts'
import { keyBeside, writeBackup } from '../../db/engines/sqlite/backup.ts'
import { databaseFile } from '../../db/engines/sqlite/open.ts'
import { createSeal, keyFile } from '../../db/seal.ts'
import type { Finding } from './finding.ts'

const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: 'none' } })

// The PostgreSQL of the tests writes nothing through to the disk, and its key is in a file.
const isOfTestServer = ({ message }: Finding) => /^(PostgreSQL runs with|SECRET_KEY is not set)/.test(message)

async function examine(data_dir: string, env: Record<string, string> = {}) {
  const ran = await runRapport(['doctor', '--json'], { DATA_DIR: data_dir, ...env })
  const { status, findings } = JSON.parse(ran.last) as { status: string; findings: Finding[] }
  assert.equal(ran.code, status === 'fault' ? 1 : 0)
  const problems = findings.filter((one) => one.level !== 'ok' && !isOfTestServer(one))
  for (const { message, mend } of problems) assert.ok(mend, `${message} needs what mends it`)
  return {
    ...ran,
    findings,
    problems,
    told: (text: RegExp) => findings.find(({ message, mend }) => text.test(`${message} ${mend}`)),
  }
}

test('a service in order has no warning and no fault, and every area is reported', async () => {
  const { problems, findings } = await examine(rapport.data_dir)
  assert.deepEqual(problems, [])
  const areas = new Set(findings.map(({ area }) => area))
  const wanted = ['settings', 'database', 'clock', 'webhooks', 'queue', 'trash']
  for (const area of engine === 'sqlite' ? [...wanted, 'files', 'disk'] : wanted)
    assert.ok(areas.has(area as Finding['area']), area)
  const lines = (await runRapport(['doctor'], { DATA_DIR: rapport.data_dir })).stdout
  assert.match(lines, /^(ok {6}|warning ) settings {2}/m)
  assert.match(lines, /^ok {7}clock {5}The clock is right, and the last sign of life is \d+ seconds? old\.$/m)
})

test('it greets the SMTP server and signs in, sends nothing, and says how to mend what is refused', async (t) => {
  const server = await useFor(t, startSmtpServer({ allowInsecureAuth: true }))
  const at = (url: string) => examine(rapport.data_dir, mailSettings(url))
  const with_user = server.url.replace('://', '://crm:pa55word@')
  const found = await at(with_user)
  assert.equal(found.told(/The SMTP server 127\.0\.0\.1:\d+ takes mails/)?.level, 'ok')
  server.script.auth = 535
  const refused = await at(with_user)
  assert.equal(refused.told(/auth_error.*Check the user and the password in SMTP_URL/s)?.level, 'fault')
  assert.ok(!refused.stdout.includes('pa55word'))
  const nobody_there = await at(`smtp://127.0.0.1:${await freePort()}`)
  assert.equal(nobody_there.told(/connection_refused.*Check host and port in SMTP_URL/s)?.level, 'fault')
  assert.deepEqual(server.accepted, [])
})

test('it makes nothing: no folder, no database and no sign of life', async (t) => {
  const data_dir = join(scratchFolder(t), 'none')
  const { problems } = await examine(data_dir, engine === 'sqlite' ? {} : { DATABASE_URL: '' })
  assert.deepEqual(problems, [])
  assert.equal(existsSync(data_dir), false)
})

const on_postgres = engine === 'postgres' && 'the data of PostgreSQL is not in a file of the folder'

test('it leaves a restored file and its folder byte for byte', { skip: on_postgres }, async (t) => {
  const data_dir = scratchFolder(t)
  const file = databaseFile(data_dir)
  writeBackup(rapport.data_dir, file, true)
  renameSync(keyBeside(file), keyFile(data_dir))
  const bytes = () => readdirSync(data_dir).map((name) => [name, readFileSync(join(data_dir, name))])
  const before = bytes()
  const { findings, told } = await examine(data_dir)
  assert.equal(told(/the quick check found no damage/)?.level, 'ok')
  assert.ok(told(/records are in the trash/))
  assert.ok(findings.every(({ level }) => level !== 'fault'))
  assert.deepEqual(bytes(), before)
})

test('a misspelt setting is reported with the right name, a doubtful one with its remedy, and no secret is shown', async () => {
  const found = await examine(rapport.data_dir, {
    PUBILC_URL: 'https://crm.example.com',
    PUBLIC_URL: 'http://crm.example.com',
    HOST: '0.0.0.0',
    SECRET_KEY: 'hunter2-hunter2',
    TRUSTED_PROXIES: '0.0.0.0/0',
    WEBHOOK_ALLOWED_NETWORKS: '::/0',
    HOME: '/home/ana',
    RAPPORT_API_KEY: 'crm_x',
  })
  for (const text of [
    /SECRET_KEY has 15 characters.*openssl rand/,
    /PUBLIC_URL is http/,
    /TRUSTED_PROXIES has every address/,
    /WEBHOOK_ALLOWED_NETWORKS has every address/,
    /SECRET_KEY is not the key of this database/,
  ])
    assert.ok(found.told(text), `${text}`)
  assert.equal(found.code, 1)
  assert.ok(!found.stdout.includes('hunter2'))
  const misspelt = await examine(rapport.data_dir, { PUBILC_URL: 'https://crm.example.com' })
  assert.deepEqual(
    misspelt.problems.map(({ message, mend }) => [message, mend]),
    [['PUBILC_URL is not a setting.', 'Did you mean PUBLIC_URL? Set that.']],
  )
  const unread = await examine(rapport.data_dir, { OTEL_LOGS_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'crm' })
  assert.deepEqual(
    unread.problems.map(({ message }) => message),
    ['OTEL_LOGS_EXPORTER has no effect: this service does not read it.'],
  )
})

test('invalid settings are faults, all of them', async () => {
  const { problems } = await examine(rapport.data_dir, { PORT: 'none', TRASH_DAYS: '0' })
  assert.deepEqual(
    problems.map(({ level, message }) => [level, message.split(' ')[0]]),
    [
      ['fault', 'PORT'],
      ['fault', 'TRASH_DAYS'],
    ],
  )
})

test('a failing webhook is reported with its id, the time, the reason and the remedy', async (t) => {
  const receiver = await useFor(t, startReceiver({ answer: { status: 401 } }))
  const { id, url } = await register(rapport.call, { name: 'Billing', url: `${receiver.url}/secret-path` })
  await company(rapport.call)
  await until(() => webhook(rapport.call, id), { status: 'failed' })
  const failed = await examine(rapport.data_dir)
  const told = failed.told(
    new RegExp(`"Billing" \\(${id}\\).* fails since .*T.*, for 1 delivery: http_error`),
  )
  assert.equal(told?.level, 'fault')
  assert.match(told?.mend ?? '', /refuses the signature.*verify-receiver.*resend-failed/)
  assert.ok(!failed.stdout.includes('secret-path'), `the path of ${url} may be a secret`)
  receiver.answering = () => ({ status: 200 })
  await company(rapport.call)
  await until(() => webhook(rapport.call, id), { status: 'active' })
  assert.equal((await examine(rapport.data_dir)).told(new RegExp(id)), undefined)
})

test('twenty webhooks are reported, and a note says if there are more', async (t) => {
  const data_dir = scratchFolder(t)
  const { call, close } = await startRapport({ data_dir })
  t.after(close)
  const told = async () =>
    (await examine(data_dir)).problems.filter(({ area }) => area === 'webhooks').map(({ message }) => message)
  for (let n = 1; n <= 21; n++) {
    const { id } = await register(call, { name: `Paused ${n}`, url: 'http://127.0.0.1:9/' })
    await call('POST', `/api/v1/webhooks/${id}/pause`, {})
    if (n === 20) assert.equal((await told()).length, 20)
  }
  const all = await told()
  assert.deepEqual([all.length, all.at(-1)], [21, 'More webhooks fail.'])
})

test('a clock behind the last sign of life is a fault, and held removal a warning', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startRapport({ data_dir })
  await service.close()
  const { rows, close } = await readStored(data_dir)
  const [row] = await rows("SELECT value FROM settings WHERE name = 'clock'")
  await close()
  const sign = JSON.parse(String(row?.value))
  const database = await openScratch(data_dir)
  t.after(() => database.close())
  const set = (changes: object) =>
    transaction(database.db, (tx) =>
      tx
        .updateTable('settings')
        .set({ value: JSON.stringify({ ...sign, ...changes }) })
        .where('name', '=', 'clock')
        .execute(),
    )
  await set({ wall_ms: Date.now() })
  assert.equal((await examine(data_dir)).told(/last sign of life is \d+ seconds? old/)?.level, 'ok')
  // A minute more: the machine may be busy.
  await set({ wall_ms: Date.now() + 7_260_000 })
  assert.equal((await examine(data_dir)).told(/2 hours before the last sign.*clock confirm/)?.level, 'fault')
  await set({ wall_ms: Date.now() - 7_260_000 })
  assert.equal((await examine(data_dir)).told(/No service runs.* 2 hours ago.*serve/)?.level, 'warning')
  await set({ held_until_ms: sign.wall_ms - sign.offset_ms + 3_600_000, reason: 'The clock jumped.' })
  assert.equal((await examine(data_dir)).told(/Nothing is removed.*The clock jumped/)?.level, 'warning')
})

test('a clock of this machine that is not the one of PostgreSQL is a warning', {
  skip: engine !== 'postgres' && 'SQLite has no clock of its own',
}, async (t) => {
  const data_dir = scratchFolder(t)
  await (await startRapport({ data_dir })).close()
  const { set } = await settableClock(data_dir)
  await set(180_000)
  const behind = await examine(data_dir)
  assert.equal(
    behind.told(/This machine's clock is 3 minutes behind the clock of PostgreSQL/)?.level,
    'warning',
  )
  await set(-180_000)
  assert.ok((await examine(data_dir)).told(/3 minutes ahead of the clock of PostgreSQL.*NTP/))
  await set(1000)
  assert.equal((await examine(data_dir)).told(/clock of PostgreSQL/), undefined)
})

test('secrets that no key opens are a fault, and a key before that is no longer needed a warning', async (t) => {
  const data_dir = scratchFolder(t)
  const [before, after, lost] = ['one', 'two', 'six'].map(
    (word) => `key ${word}, which nobody can guess, ever`,
  )
  const keys = { SECRET_KEY: after as string, SECRET_KEY_OLD: before as string }
  const service = await startRapport({ data_dir, env: { SECRET_KEY: before as string } })
  const { id } = await register(service.call, { name: 'Billing', url: 'http://127.0.0.1:9/' })
  await service.close()
  const unfinished = await examine(data_dir, keys)
  assert.equal(unfinished.told(/still sealed with it.*rekey/)?.level, 'warning')
  assert.equal((await runRapport(['rekey'], { DATA_DIR: data_dir, ...keys })).code, 0)
  const finished = await examine(data_dir, keys)
  assert.equal(finished.told(/SECRET_KEY opens everything.*Remove SECRET_KEY_OLD/)?.level, 'warning')
  assert.ok((await examine(data_dir, { SECRET_KEY: keys.SECRET_KEY })).told(/The key opens the secrets/))

  const database = await openScratch(data_dir)
  t.after(() => database.close())
  const secret = createSeal(lost as string).seal('a secret of sixteen')
  await transaction(database.db, (tx) => tx.updateTable('webhooks').set({ secret }).execute())
  const found = await examine(data_dir, keys)
  const told = found.told(new RegExp(`No key opens webhooks.secret of ${id}.*rekey.*rotate-secret`))
  assert.equal(told?.level, 'fault')
  assert.equal(found.told(/SECRET_KEY_OLD is set/), undefined)
})

test('a file of authorities that cannot be read or has no certificate is a fault', async (t) => {
  const folder = scratchFolder(t)
  const [none, text, good] = ['none', 'text', 'good'].map((name) => join(folder, `${name}.pem`)) as [
    string,
    string,
    string,
  ]
  writeFileSync(text, 'Our authorities are in the other file.')
  const now = Date.now()
  writeFileSync(good, certificate({ dns: 'receiver.example' }, now, now + 3_600_000).cert)
  const told = async (WEBHOOK_CA_FILE: string) =>
    (await examine(rapport.data_dir, { WEBHOOK_CA_FILE })).told(/WEBHOOK_CA_FILE/)
  for (const [file, why] of [
    [none, /none\.pem, cannot be read: ENOENT/],
    [folder, /cannot be read: EISDIR/],
    [text, /text\.pem, has no certificate/],
  ] as const) {
    const found = await told(file)
    assert.equal(found?.level, 'fault')
    assert.match(found?.message ?? '', why)
  }
  assert.equal(await told(good), undefined)
})

test('a database that cannot be reached is a fault, and its password is not shown', async (t) => {
  const found = await examine(scratchFolder(t), {
    DATABASE_URL: 'postgres://rapport:open-sesame@127.0.0.1:9/rapport',
    SECRET_KEY: '0123456789abcdef0123456789abcdef',
  })
  assert.equal(found.told(/DATABASE_URL cannot be used.*Check DATABASE_URL/)?.level, 'fault')
  assert.ok(!found.stdout.includes('open-sesame'))
})

test('a damaged SQLite file and files that others can read are reported', {
  skip: on_postgres,
}, async (t) => {
  const data_dir = scratchFolder(t)
  await (await startRapport({ data_dir })).close()
  const { DATA_DIR } = await settingsOf(data_dir)
  const file = join(DATA_DIR, 'rapport.db')
  chmodSync(file, 0o644)
  assert.equal((await examine(data_dir)).told(/can read .*rapport\.db\. chmod 600/)?.level, 'warning')
  const handle = openSync(file, 'r+')
  const { size } = statSync(file)
  for (let at = 8192; at < size; at += 4096) writeSync(handle, Buffer.alloc(2048, 0x5a), 0, 2048, at)
  const found = await examine(data_dir)
  assert.equal(found.told(/(is damaged|cannot be read).*restore/)?.level, 'fault')
})

test('a database that this user cannot reach is not taken for a missing one', {
  skip: on_postgres,
}, async (t) => {
  const data_dir = scratchFolder(t)
  symlinkSync('rapport.db', join(data_dir, 'rapport.db'))
  assert.equal((await examine(data_dir)).told(/cannot be read: ELOOP.*user of the service/)?.level, 'fault')
  for (const words of [
    ['upgrade', '--check'],
    ['backup', join(data_dir, 'copy.db')],
  ]) {
    const { code, stderr } = await runRapport(words, { DATA_DIR: data_dir })
    assert.deepEqual([code, /ELOOP/.test(stderr)], [1, true], stderr)
  }
})

test('a folder that this user cannot write is a fault, beside the files that others can read', {
  skip: on_postgres || cannotLeaveRoot(),
}, (t) => {
  const data_dir = scratchFolder(t)
  writeFileSync(keyFile(data_dir), '', { mode: 0o644 })
  chmodSync(data_dir, 0o555)
  const script = `
    import { examineFiles } from ${JSON.stringify(new URL('storage.ts', import.meta.url))}
    if (process.getuid() === 0) process.setuid(${nobody.uid})
    console.log(JSON.stringify(examineFiles({ data_dir: process.argv[1], database_url: null })))`
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script, data_dir], {
    encoding: 'utf8',
  })
  const [found, other] = JSON.parse(told)
  assert.deepEqual([found.level, found.area], ['fault', 'files'])
  assert.match(`${found.message} ${found.mend}`, /cannot write to \S+ \(EACCES\)\. Run this as the user/)
  assert.deepEqual([other.level, other.message.includes(keyFile(data_dir))], ['warning', true])
})
