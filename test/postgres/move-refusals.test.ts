import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { client } from '../harness.ts'
import { main, scratchFolder } from '../process.ts'
import { runRapport } from '../run-rapport.ts'
import { until } from '../webhooks.ts'
import { change, emptyDatabase, move, servePostgres, serveSqlite } from './moves.ts'

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
  assert.match(from_postgres.stderr, /connections? of Rapport (is|are) open\. Stop every server first.*\n$/)
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

test('a place that cannot be used is one clear line, and a wrong word shows the usage', async (t) => {
  const data_dir = await companies(t, 1)
  const empty = await emptyDatabase(t)
  const missing = new URL(empty)
  missing.pathname = '/no_such_database'
  const nobody = scratchFolder(t)
  const junk = scratchFolder(t)
  copyFileSync(fileURLToPath(import.meta.url), `${junk}/rapport.db`)
  const source = `sqlite:${data_dir}`
  const standby = `${empty}?options=${encodeURIComponent('-c default_transaction_read_only=on')}`
  for (const [from, to, told] of [
    [source, 'postgres://me:hidden@127.0.0.1:1/x', /postgres:\/\/me@127.*ECONNREFUSED/],
    [source, missing.href, /no_such_database.* does not exist/],
    [`sqlite:${nobody}`, empty, /There is no database in/],
    [`sqlite:${junk}`, empty, /^rapport: sqlite:.*: The database is damaged: .* Use a backup of it\.\n/],
    [
      source,
      standby,
      /^rapport: postgres:.*read-only transaction\. Give the URL of a server that takes writes/,
    ],
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
