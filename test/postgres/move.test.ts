import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { settingsOf } from '../engine.ts'
import { client, startRapport } from '../harness.ts'
import { browser, setUp } from '../people.ts'
import { main, runRapport, scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { act, attempted, type Call, delivery, log, onlyDelivery, register, until } from '../webhooks.ts'

/** A data folder that is served on SQLite, whatever these tests run on. */
async function serveSqlite(t: TestContext, data_dir: string, env: Record<string, string> = {}) {
  const rapport = await startRapport({
    data_dir,
    env: { DATABASE_URL: '', WEBHOOK_RETRY_DELAYS: 'none', ...env },
  })
  t.after(() => rapport.close())
  return rapport
}

/** The same on PostgreSQL; the data folder has the key file alone. */
const servePostgres = (t: TestContext, data_dir: string, url: string) =>
  serveSqlite(t, data_dir, { DATABASE_URL: url })

/** The URL of a database without tables, which is removed after the test. */
async function emptyDatabase(t: TestContext): Promise<string> {
  const { DATABASE_URL = '' } = await settingsOf(scratchFolder(t), { migrated: false })
  return DATABASE_URL
}

const move = (from: string, to: string, env: Record<string, string> = {}) =>
  runRapport(['move', '--from', from, '--to', to], env)

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    return (await connection.query(text)).rows
  } finally {
    await connection.end()
  }
}

/** A folder with a number of companies, written without the service. No server uses it. */
async function companies(t: TestContext, count: number): Promise<string> {
  const data_dir = scratchFolder(t)
  await (await serveSqlite(t, data_dir)).close()
  change(
    data_dir,
    `WITH RECURSIVE list (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM list WHERE i < ${count})
    INSERT INTO companies (workspace_id, name, created_at, updated_at) SELECT 1, 'Company ' || i, '', '' FROM list`,
  )
  return data_dir
}

function change(data_dir: string, text: string) {
  const database = new DatabaseSync(`${data_dir}/rapport.db`)
  database.exec(text)
  database.close()
}

const texts = ['Ada "the first" O\'Neil', 'Zoë 👩‍💻 \\ \\u0000', '%_{"a":[null]}\n\ttab', '日本語 مرحبا']

/** Something of everything, written over HTTP. */
async function fill(call: Call, hooks: { good: string; bad: string; paused: string }) {
  async function post<T = { id: number }>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T> {
    const reply = await call('POST', `/api/v1/${path}`, body, headers)
    assert.ok(reply.status < 300, reply.text)
    return reply.body.data
  }
  const good = await register(call, { url: hooks.good, events: ['contact.created', 'deal.won'] })
  const bad = await register(call, { url: hooks.bad, events: ['company.created'] })
  const company = await post('companies', { name: texts[1], custom_fields: { region: texts[2], n: 1.5 } })
  for (const [at, text] of texts.entries()) {
    const names = { first_name: text, last_name: `Nr ${at}`, tags: [text], company_id: company.id }
    const contact = await post('contacts', { ...names, custom_fields: { [text]: text } })
    await post(`contacts/${contact.id}/notes`, { body: text.repeat(100) })
    const deal = await post('deals', { name: text, value: 1234.5678, contact_id: contact.id })
    await post(`deals/${deal.id}/change-stage`, { stage: 'won' })
  }
  const gone = await post('contacts', { first_name: 'In', last_name: 'Trash' })
  await call('DELETE', `/api/v1/contacts/${gone.id}`)
  await until(
    () => log(call, 'status=pending&per_page=100'),
    (list) => list.length === 0,
  )
  const paused = await register(call, { url: hooks.paused, events: ['company.updated'] })
  await act(call, paused.id, 'pause')
  await call('PUT', `/api/v1/companies/${company.id}`, { industry: 'Tests' })
  return { gone, company, good, bad, paused }
}

const lists = [
  'contacts',
  'companies',
  'deals',
  'webhooks',
  'deliveries',
  'contacts?search=zoe',
  'contacts?search=nr',
]

/** Everything that a key can read, as the bytes of the answers and their tags. */
async function readAll(call: Call): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  const read = async (path: string) => {
    const reply = await call('GET', `/api/v1/${path}`)
    answers[path] = `${reply.status} ${reply.headers.get('etag')} ${reply.text}`
    return reply.body.data as { id: string | number }[]
  }
  for (const list of lists)
    for (const { id } of await read(`${list}${list.includes('?') ? '&' : '?'}per_page=100`)) {
      const one = `${list.split('?')[0]}/${id}`
      await read(one)
      if (one.startsWith('contacts/')) await read(`${one}/notes`)
    }
  return answers
}

test('a moved installation answers every GET as before, byte by byte, there and back again', async (t) => {
  const [data_dir, url, back] = [scratchFolder(t), await emptyDatabase(t), scratchFolder(t)]
  const [good, bad, paused] = await Promise.all([
    startReceiver(),
    startReceiver({ answer: { status: 500, body: texts[1] } }),
    startReceiver(),
  ])
  t.after(() => Promise.all([good.close(), bad.close(), paused.close()]))
  const first = await serveSqlite(t, data_dir)
  const ada = await setUp(first)
  const filled = await fill(first.call, { good: good.url, bad: bad.url, paused: paused.url })
  const idempotent = () => [{ name: 'Once' }, { 'idempotency-key': 'a "key"' }] as const
  const once_made = await first.call('POST', '/api/v1/companies', ...idempotent())
  await until(
    () => log(first.call, 'status=failed&per_page=100'),
    (list) => list.length === 2,
  )
  const made = await runRapport(['workspaces', 'create', '--name', 'Second'], {
    DATA_DIR: data_dir,
    DATABASE_URL: '',
  })
  const env = { DATA_DIR: data_dir, DATABASE_URL: '' }
  const second_key = (await runRapport(['keys', 'create', '--name', 'K', '--workspace', made.last], env)).last
  await client(first.url, second_key)('POST', '/api/v1/contacts', { first_name: 'Other', last_name: 'Nr' })
  const keys = [first.key, second_key]
  const readBoth = async (at: string) => [
    await readAll(client(at, keys[0] ?? null)),
    await readAll(client(at, second_key)),
  ]
  const before = await readBoth(first.url)
  assert.ok(Object.keys(before[0] ?? {}).length > 30)
  await first.close()
  // The newest row is gone, and its number must not come back.
  change(data_dir, 'DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)')
  change(data_dir, "UPDATE sqlite_sequence SET seq = seq + 10 WHERE name = 'companies'")

  const moved = await move(`sqlite:${data_dir}`, url)
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, /^contacts +6 +[0-9a-f]{32} +ok$/m)
  assert.match(moved.stdout, /^webhook_queue +1 /m)
  assert.ok(moved.stdout.includes(`DATA_DIR=${data_dir}, whose secret.key`))
  const password = new URL(url).password
  assert.ok(!password || !(moved.stdout + moved.stderr).includes(password))

  const second = await servePostgres(t, data_dir, url)
  assert.equal(second.first_key, null)
  assert.deepEqual(await readBoth(second.url), before)
  // Sessions are still valid.
  const moved_browser = browser(second.url)
  moved_browser.plant(ada.cookie())
  assert.equal((await moved_browser('GET', '/session')).status, 200)
  await second.close()

  const returned = await move(url, `sqlite:${back}/rapport.db`, { DATA_DIR: data_dir, DATABASE_URL: '' })
  assert.equal(returned.code, 0, returned.stderr)
  assert.equal(readFileSync(`${back}/secret.key`, 'utf8'), readFileSync(`${data_dir}/secret.key`, 'utf8'))
  for (const name of ['secret.key', 'rapport.db'])
    assert.equal(statSync(`${back}/${name}`).mode & 0o777, 0o600)
  const checksums = (text: string) => text.split('\n').filter((line) => /[0-9a-f]{32} +ok$/.test(line))
  // The service that ran in between recorded the use of the key and the session, and its sign of life.
  const noted = /^(api_keys|sessions|settings) /
  const unchanged = (text: string) => checksums(text).filter((line) => !noted.test(line))
  assert.deepEqual(unchanged(returned.stdout), unchanged(moved.stdout))

  for (const [folder, database] of [
    [data_dir, url],
    [back, ''],
  ] as const) {
    const rapport = await serveSqlite(t, folder, { DATABASE_URL: database })
    const call = client(rapport.url, first.key)
    assert.deepEqual(await readBoth(rapport.url), before)
    // Pending deliveries are delivered, with the old secret.
    const [pending] = await log(call, `webhook_id=${filled.paused.id}`)
    const count = paused.received.length
    await act(call, filled.paused.id, 'resume')
    await attempted(call, String(pending?.id))
    await paused.verify(filled.paused.secret, paused.received.slice(count))
    assert.equal(paused.received.length, count + 1)
    // A repeated Idempotency-Key gets the stored answer.
    const again = await call('POST', '/api/v1/companies', ...idempotent())
    assert.equal(again.text, once_made.text)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    // Ids go on, after those that were used and are gone too.
    const next = await call('POST', '/api/v1/companies', { name: 'Next' })
    assert.equal(next.body.data.id, once_made.body.data.id + 11)
    assert.equal((await call('POST', `/api/v1/contacts/${filled.gone.id}/restore`)).status, 200)
    await rapport.close()
  }
  assert.equal(paused.received[0]?.body, paused.received[1]?.body)
})

test('a target that has rows is refused, and neither side is changed', async (t) => {
  const [data_dir, url] = [await companies(t, 10), await emptyDatabase(t)]
  await (await servePostgres(t, scratchFolder(t), url)).close()
  const { code, stdout, stderr } = await move(`sqlite:${data_dir}`, url)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^rapport: The target has rows already \(in workspaces, api_keys, audit_log\), and nothing was changed\..*\n$/,
  )
  assert.equal(stdout, '')
  assert.deepEqual(await ask(url, 'SELECT count(*)::int AS n FROM companies'), [{ n: 0 }])
})

test('while a server runs at the source, nothing is copied', async (t) => {
  const [data_dir, url, other] = [scratchFolder(t), await emptyDatabase(t), scratchFolder(t)]
  const rapport = await serveSqlite(t, data_dir)
  const from_sqlite = await move(`sqlite:${data_dir}`, url)
  assert.equal(from_sqlite.code, 1)
  assert.match(from_sqlite.stderr, /^rapport: .*Another process already serves .* Stop it, .*\n$/)
  assert.deepEqual(await ask(url, "SELECT to_regclass('workspaces') AS made"), [{ made: null }])
  await rapport.close()
  await servePostgres(t, data_dir, url)
  const from_postgres = await move(url, `sqlite:${other}`)
  assert.equal(from_postgres.code, 1)
  assert.match(from_postgres.stderr, /connections of Rapport are open\. Stop every server first.*\n$/)
  assert.ok(!existsSync(`${other}/rapport.db`))
})

test('a server that starts and writes during the copy stops the move, and the target stays empty', async (t) => {
  const [url, other] = [await emptyDatabase(t), await emptyDatabase(t)]
  const key_folder = scratchFolder(t)
  const first = await servePostgres(t, key_folder, url)
  await first.close()
  await runRapport(['migrate'], { DATABASE_URL: other })
  // The copy waits for this lock, where the contacts would be written.
  const holder = new pg.Client({ connectionString: other })
  await holder.connect()
  t.after(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE contacts IN ACCESS SHARE MODE')
  const moved = move(url, other, { DATA_DIR: key_folder })
  await until(
    () => ask(other, "SELECT 1 FROM pg_locks WHERE relation = 'contacts'::regclass AND NOT granted"),
    (rows) => rows.length > 0,
  )
  const rapport = await servePostgres(t, key_folder, url)
  const written = await client(rapport.url, first.key)('POST', '/api/v1/companies', { name: 'Late' })
  assert.equal(written.status, 201, written.text)
  await holder.query('ROLLBACK')
  const { code, stderr } = await moved
  assert.equal(code, 1)
  assert.match(
    stderr,
    /A server wrote to the source during the copy\. The copy was undone\. Stop every server/,
  )
  for (const table of ['settings', 'workspaces', 'companies'])
    assert.deepEqual(await ask(other, `SELECT count(*)::int AS n FROM ${table}`), [{ n: 0 }], table)
})

test('kill -9 in the middle of a copy leaves the target empty, and the next one succeeds', async (t) => {
  const [data_dir, url] = [await companies(t, 5000), await emptyDatabase(t)]
  change(
    data_dir,
    `INSERT INTO contacts (workspace_id, first_name, last_name, company_id, search_text, created_at, updated_at)
    SELECT 1, name, name, id, lower(name), '', '' FROM companies`,
  )
  await runRapport(['migrate'], { DATABASE_URL: url })
  // The copy stops where the contacts would be written, until this one lets go.
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.after(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE contacts IN ACCESS SHARE MODE')
  const words = [main, 'move', '--from', `sqlite:${data_dir}`, '--to', url]
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  for await (const chunk of child.stdout.setEncoding('utf8')) if (chunk.includes('Copying companies')) break
  child.kill('SIGKILL')
  assert.deepEqual(await exited, [null, 'SIGKILL'])
  await holder.query('ROLLBACK')
  await until(
    () =>
      ask(
        url,
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'rapport' AND datname = current_database()",
      ),
    (rows) => rows.length === 0,
  )
  for (const table of ['settings', 'workspaces', 'companies', 'contacts'])
    assert.deepEqual(await ask(url, `SELECT count(*)::int AS n FROM ${table}`), [{ n: 0 }], table)

  const next = await move(`sqlite:${data_dir}`, url)
  assert.equal(next.code, 0, next.stderr)
  assert.match(next.stdout, /^contacts +5000 .* ok$/m)
})

test('a copy that differs from its source is undone, and the differences are reported by table', async (t) => {
  const [data_dir, url] = [await companies(t, 3), await emptyDatabase(t)]
  await runRapport(['migrate'], { DATABASE_URL: url })
  const sequence = () => ask(url, 'SELECT last_value, is_called FROM companies_id_seq')
  const indexes = () =>
    ask(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname")
  const before = [await sequence(), await indexes()]
  await ask(
    url,
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF new.id = 2 THEN new.name := 'company 2'; END IF; RETURN new; END $$;
    CREATE TRIGGER spoil BEFORE INSERT ON companies FOR EACH ROW EXECUTE FUNCTION spoil()`,
  )
  const { code, stdout, stderr } = await move(`sqlite:${data_dir}`, url)
  assert.equal(code, 1)
  assert.match(stderr, /^rapport: The copy differs from its source\..*nothing was changed\.\n$/)
  assert.match(stdout, /^companies +3 +[0-9a-f]{32} +DIFFERENT: 3 rows, [0-9a-f]{32}$/m)
  assert.match(stdout, /^workspaces +1 +[0-9a-f]{32} +ok$/m)
  assert.deepEqual(await ask(url, 'SELECT count(*)::int AS n FROM workspaces'), [{ n: 0 }])
  assert.deepEqual([await sequence(), await indexes()], before)

  await ask(url, 'DROP TRIGGER spoil ON companies')
  assert.equal((await move(`sqlite:${data_dir}`, url)).code, 0)
  assert.deepEqual(await indexes(), before[1])
})

test('an answer with NUL, kept by an older version, arrives with U+FFFD in its place', async (t) => {
  const [data_dir, url] = [scratchFolder(t), await emptyDatabase(t)]
  const receiver = await useFor(t, startReceiver({ answer: { body: 'answer' } }))
  const first = await serveSqlite(t, data_dir)
  const hook = await register(first.call, { url: receiver.url })
  await first.call('POST', '/api/v1/companies', { name: 'A' })
  const { id } = await onlyDelivery(first.call, hook.id)
  await attempted(first.call, id)
  await first.close()
  change(data_dir, "UPDATE webhook_attempts SET response_body = 'a' || char(0) || 'b\\u0000c'")
  const { code, stderr } = await move(`sqlite:${data_dir}`, url)
  assert.equal(code, 0, stderr)
  const second = await servePostgres(t, data_dir, url)
  const shown = await delivery(client(second.url, first.key), id)
  assert.equal(shown.attempts[0]?.response?.body, 'a\ufffdb\\u0000c')
})

test('a place that cannot be used is one clear line, and a wrong word shows the usage', async (t) => {
  const data_dir = await companies(t, 1)
  const empty = await emptyDatabase(t)
  const missing = new URL(empty)
  missing.pathname = '/no_such_database'
  const nobody = scratchFolder(t)
  const junk = scratchFolder(t)
  copyFileSync(fileURLToPath(import.meta.url), `${junk}/rapport.db`)
  const source = `sqlite:${data_dir}`
  for (const [from, to, told] of [
    [source, 'postgres://me:hidden@127.0.0.1:1/x', /postgres:\/\/me@127.*ECONNREFUSED/],
    [source, missing.href, /no_such_database.* does not exist/],
    [`sqlite:${nobody}`, empty, /There is no database in/],
    [`sqlite:${junk}`, empty, /not a database/],
    [empty, `sqlite:${nobody}`, /not a database of Rapport/],
  ] as const) {
    const { code, stdout, stderr } = await move(from, to)
    assert.equal(code, 1, stderr)
    assert.match(stderr, told)
    assert.match(stderr, /^rapport: [^\n]+\n$/)
    assert.ok(!stderr.includes('hidden'))
    assert.equal(stdout, '')
  }
  assert.deepEqual(await ask(empty, "SELECT to_regclass('schema_migrations') AS made"), [{ made: null }])
  for (const [from, to] of [
    [source, source],
    [source, 'mysql://x/y'],
    [data_dir, empty],
    ['sqlite:', empty],
    [`${source}/secret.key`, empty],
  ] as const) {
    const { code, stderr } = await move(from, to)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /Usage: rapport move --from PLACE --to PLACE/)
  }
})

test('the key of another installation in the target folder is left alone, and stops the copy', async (t) => {
  const [data_dir, other] = [await companies(t, 1), scratchFolder(t)]
  await (await serveSqlite(t, other)).close()
  const [mine, theirs] = [data_dir, other].map((folder) => readFileSync(`${folder}/secret.key`, 'utf8'))
  const target = scratchFolder(t)
  copyFileSync(`${other}/secret.key`, `${target}/secret.key`)
  const { code, stderr } = await move(`sqlite:${data_dir}`, `sqlite:${target}`)
  assert.equal(code, 1)
  assert.match(stderr, /is another key than/)
  assert.equal(readFileSync(`${target}/secret.key`, 'utf8'), theirs)
  assert.notEqual(mine, theirs)
})
