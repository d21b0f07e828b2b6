import assert from 'node:assert/strict'
import fs, {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { cannotMount, mountSmallDisk } from '../../../../test/faults/small-disk.ts'
import { client, startRapport } from '../../../../test/harness.ts'
import { cannotGive, nobody } from '../../../../test/other-user.ts'
import { scratchFolder } from '../../../../test/process.ts'
import { writeBackup } from './backup.ts'
import { restoreBackup } from './restore.ts'

const now = '2026-11-21T08:30:00.000Z'
const kept = '.replaced-20261121T083000000Z'
const company = (name: string) => ({ name })

/** A data folder that was served: two companies, and a webhook whose secret is sealed. */
async function servedFolder(t: TestContext, env: Record<string, string> = {}) {
  const data_dir = join(scratchFolder(t), 'data')
  const rapport = await startRapport({ data_dir, env })
  for (const name of ['One', 'Two']) await rapport.call('POST', '/api/v1/companies', company(name))
  const webhook = await rapport.call('POST', '/api/v1/webhooks', {
    name: 'Sealed',
    url: 'http://127.0.0.1:9/',
    events: ['company.created'],
  })
  assert.equal(webhook.status, 201)
  await rapport.call('POST', `/api/v1/webhooks/${webhook.body.data.id}/pause`)
  await rapport.close()
  return { data_dir, key: rapport.key, file: join(data_dir, '..', 'copy.db') }
}

/** Every file of a folder with its bytes, to check that nothing changed. The lock file does not count. */
const contentOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== 'serve.lock')
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  )

async function companiesIn(t: TestContext, data_dir: string, key: string, env = {}): Promise<string[]> {
  const rapport = await startRapport({ data_dir, env })
  t.after(() => rapport.close())
  const answer = await client(rapport.url, key)('GET', '/api/v1/companies')
  assert.equal(answer.status, 200)
  await rapport.close()
  return answer.body.data.map(({ name }: { name: string }) => name)
}

test('a backup taken while the server writes is one moment: every record in it has its event and its count', async (t) => {
  const data_dir = join(scratchFolder(t), 'data')
  const rapport = await startRapport({ data_dir })
  t.after(() => rapport.close())
  let writing = true
  const write = async () =>
    assert.equal((await rapport.call('POST', '/api/v1/companies', company('Busy'))).status, 201)
  const writers = Array.from({ length: 8 }, async () => {
    while (writing) await write()
  })
  // A write of its own: those of the writers may be in the backup before, and answered after it.
  await write()
  const files = ['a', 'b', 'c'].map((name) => join(data_dir, '..', name))
  for (const file of files) {
    writeBackup(data_dir, file, true)
    await write()
  }
  writing = false
  await Promise.all(writers)
  let before = 0
  for (const file of files) {
    const copy = new DatabaseSync(file, { readOnly: true })
    const number = (sql: string) => Number(copy.prepare(sql).get()?.n)
    assert.equal(copy.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    const companies = number('SELECT count(*) AS n FROM companies')
    assert.ok(companies > before)
    before = companies
    assert.equal(number("SELECT count(*) AS n FROM events WHERE event = 'company.created'"), companies)
    assert.equal(number("SELECT sum(n) AS n FROM record_counts WHERE name = 'companies'"), companies)
    copy.close()
  }
})

test("the backup and its key are their owner's alone, and nothing is left beside them", async (t) => {
  const { data_dir, file } = await servedFolder(t)
  assert.deepEqual(writeBackup(data_dir, file, true), [file, `${file}.key`])
  for (const name of [file, `${file}.key`]) assert.equal(statSync(name).mode & 0o777, 0o600, name)
  assert.deepEqual(readFileSync(`${file}.key`), readFileSync(join(data_dir, 'secret.key')))
  assert.deepEqual(readdirSync(join(data_dir, '..')).sort(), ['copy.db', 'copy.db.key', 'data'])
})

test('without a key file, or with a key of its own, only the database is copied', async (t) => {
  const { data_dir, file } = await servedFolder(t, { SECRET_KEY: 'mine'.repeat(8) })
  assert.deepEqual(writeBackup(data_dir, file, false), [file])
  assert.equal(existsSync(`${file}.key`), false)
})

test('a backup never overwrites a file, its key file included, and leaves nothing when it fails', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeFileSync(`${file}.key`, 'precious')
  assert.throws(() => writeBackup(data_dir, file, true), /copy\.db\.key already exists/)
  writeFileSync(file, 'precious')
  assert.throws(() => writeBackup(data_dir, file, false), /copy\.db already exists/)
  assert.throws(() => writeBackup(data_dir, join(data_dir, 'no', 'folder'), true), /folder .* does not exist/)
  assert.equal(readFileSync(file, 'utf8'), 'precious')
  assert.deepEqual(readdirSync(join(data_dir, '..')).sort(), ['copy.db', 'copy.db.key', 'data'])
  assert.throws(() => writeBackup(scratchFolder(t), join(data_dir, '..', 'new'), true), /no database/)
})

/** Does the work in place of each hard link. `link` makes the link. */
function insteadOfLink(t: TestContext, work: (link: () => void, to: string) => void): void {
  const { linkSync } = fs
  t.mock.method(fs, 'linkSync', (from: string, to: string) => work(() => linkSync(from, to), to))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

const failure = (code: string) => Object.assign(new Error(code), { code })

for (const [volume, error] of [
  ['', null],
  [' on a volume without hard links', failure('EPERM')],
] as const)
  test(`of two backups to one file at once, the later one says that it exists and leaves nothing${volume}`, async (t) => {
    const { data_dir, file } = await servedFolder(t)
    insteadOfLink(t, (link, to) => {
      if (to === file) writeFileSync(file, 'of the other one')
      if (error) throw error
      link()
    })
    assert.throws(() => writeBackup(data_dir, file, true), /copy\.db already exists\./)
    assert.equal(readFileSync(file, 'utf8'), 'of the other one')
    assert.deepEqual(readdirSync(join(file, '..')).sort(), ['copy.db', 'data'])
  })

test('a backup to a volume without hard links is complete; another failure of the volume is told', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  let code = 'EIO'
  insteadOfLink(t, () => {
    throw failure(code)
  })
  assert.throws(() => writeBackup(data_dir, file, true), { code })
  assert.deepEqual(readdirSync(join(file, '..')), ['data'])
  for (code of ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR']) {
    const name = file + code
    assert.deepEqual(writeBackup(data_dir, name, true), [name, `${name}.key`])
    assert.deepEqual(readFileSync(`${name}.key`), readFileSync(join(data_dir, 'secret.key')))
  }
  assert.equal(readdirSync(join(file, '..')).length, 11)
})

test('a backup to a full disk leaves nothing, and names that disk', { skip: cannotMount() }, async (t) => {
  const { data_dir } = await servedFolder(t)
  const disk = mountSmallDisk(t, { megabytes: 2, filled: 1.5 })
  assert.throws(
    () => writeBackup(data_dir, join(disk.folder, 'copy.db'), true),
    new RegExp(`^Error: The disk of ${disk.folder} is full\\. Make room, .*\\. Nothing was written\\.$`),
  )
  assert.deepEqual(readdirSync(disk.folder), ['filler'])
  disk.free()
  writeBackup(data_dir, join(disk.folder, 'copy.db'), true)
})

test('a restore brings back what was there at the backup, and keeps what it replaces', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const later = await startRapport({ data_dir })
  await client(later.url, key)('POST', '/api/v1/companies', company('Three'))
  await later.close()
  const names = await restoreBackup(data_dir, file, null, now)
  assert.deepEqual(names, [join(data_dir, `rapport.db${kept}`)])
  assert.deepEqual(await companiesIn(t, data_dir, key), ['Two', 'One'])

  const old = new DatabaseSync(join(data_dir, `rapport.db${kept}`))
  assert.equal(old.prepare('SELECT count(*) AS n FROM companies').get()?.n, 3)
  old.close()
  assert.equal(statSync(join(data_dir, 'rapport.db')).mode & 0o777, 0o600)
})

test('a restore into another folder brings the key along, and the secrets can be read there', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const empty = join(scratchFolder(t), 'not', 'yet')
  assert.deepEqual(await restoreBackup(empty, file, null, now), [])
  assert.equal(statSync(join(empty, 'secret.key')).mode & 0o777, 0o600)
  assert.deepEqual(await companiesIn(t, empty, key), ['Two', 'One'])

  // Over another installation: its database and its key are both kept.
  const other = await servedFolder(t)
  const other_key = readFileSync(join(other.data_dir, 'secret.key'))
  await restoreBackup(other.data_dir, file, null, now)
  assert.deepEqual(await companiesIn(t, other.data_dir, key), ['Two', 'One'])
  assert.deepEqual(readFileSync(join(other.data_dir, `secret.key${kept}`)), other_key)
})

test('a restore keeps the file of the first key, or sets it aside if the restored database does not have the key', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  const other = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const keyIn = (folder: string, suffix = '') =>
    readFileSync(join(folder, `first-api-key.txt${suffix}`), 'utf8').trim()
  await restoreBackup(data_dir, file, null, now)
  assert.equal(keyIn(data_dir), key)
  const names = await restoreBackup(other.data_dir, file, null, now)
  assert.ok(names.includes(join(other.data_dir, `first-api-key.txt${kept}`)))
  assert.equal(keyIn(other.data_dir, kept), other.key)
  assert.ok(!existsSync(join(other.data_dir, 'first-api-key.txt')))
})

test('what root restores belongs to the owner of the folder, so that the service can open it', {
  skip: cannotGive(),
}, async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const folder = scratchFolder(t)
  chownSync(folder, nobody.uid, nobody.gid)
  await restoreBackup(folder, file, null, now)
  assert.deepEqual(readdirSync(folder).sort(), ['rapport.db', 'secret.key', 'serve.lock'])
  for (const name of readdirSync(folder)) {
    const { uid, gid } = statSync(join(folder, name))
    assert.deepEqual({ uid, gid }, nobody, name)
  }
})

test('a restore is refused while a server runs, and works when it has stopped', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const rapport = await startRapport({ data_dir })
  t.after(() => rapport.close())
  await assert.rejects(restoreBackup(data_dir, file, null, now), /Another process already serves/)
  assert.equal((await fetch(`${rapport.url}/readyz`)).status, 200)
  await rapport.close()
  await restoreBackup(data_dir, file, null, now)
})

test('a restore is refused while another command has the database open', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const command = new DatabaseSync(join(data_dir, 'rapport.db'))
  command.prepare('SELECT count(*) FROM companies').get()
  await assert.rejects(restoreBackup(data_dir, file, null, now), /Another command/)
  command.close()
  await restoreBackup(data_dir, file, null, now)
})

test('whatever is no whole database of this program is refused, and nothing has changed then', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const folder = join(data_dir, '..')
  const bad = (name: string, change: (path: string) => void) => {
    copyFileSync(file, join(folder, name))
    copyFileSync(`${file}.key`, join(folder, `${name}.key`))
    change(join(folder, name))
    return join(folder, name)
  }
  const change = (path: string, sql: string) => {
    const database = new DatabaseSync(path)
    database.exec(sql)
    database.close()
  }
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    bytes[at] = ~Number(bytes[at])
    writeFileSync(path, bytes)
  }
  const other = join(folder, 'other')
  change(other, 'CREATE TABLE customers (id)')
  const cases: [string, RegExp][] = [
    [join(folder, 'missing'), /The file .* does not exist/],
    [folder, /is a folder\. Give the path of a file\.$/],
    [bad('text', (path) => writeFileSync(path, 'not a database '.repeat(1000))), /is not a database/],
    [bad('empty', (path) => writeFileSync(path, '')), /is not a database of Rapport/],
    [bad('cut', (path) => truncateSync(path, 40960)), /damaged/],
    [bad('version', (path) => flip(path, 18)), /cannot be restored/],
    [bad('format', (path) => flip(path, 47)), /cannot be restored/],
    [bad('hole', (path) => writeFileSync(path, readFileSync(path).fill(0x5a, 8192, 60000))), /damaged/],
    [other, /is not a database of Rapport/],
    [
      bad('newer', (path) =>
        change(
          path,
          "INSERT INTO schema_migrations (name, checksum, ran_at) VALUES ('9999_later', 'x', 'x')",
        ),
      ),
      /newer version: .*9999_later/,
    ],
    [
      bad('altered', (path) => change(path, "UPDATE schema_migrations SET checksum = 'x'")),
      /cannot be restored/,
    ],
    [bad('key', (path) => writeFileSync(`${path}.key`, 'another key')), /another key/],
    [bad('log', (path) => writeFileSync(`${path}-wal`, 'x')), /in use/],
  ]
  const before = contentOf(data_dir)
  for (const [path, told] of cases) {
    await assert.rejects(restoreBackup(data_dir, path, null, now), (error: Error) => {
      assert.match(error.message, told)
      assert.ok(error.message.includes(path), error.message)
      return true
    })
    assert.deepEqual(contentOf(data_dir), before, path)
  }
})

test('without its key a backup is refused, unless SECRET_KEY is the key', async (t) => {
  const { data_dir, file } = await servedFolder(t)
  writeBackup(data_dir, file, false)
  const empty = join(scratchFolder(t), 'data')
  await assert.rejects(restoreBackup(empty, file, null, now), /Put .*copy\.db\.key beside it/)
  await assert.rejects(restoreBackup(empty, file, 'wrong', now), /SECRET_KEY is not the key/)
  assert.deepEqual(contentOf(empty), {})
  const key = readFileSync(join(data_dir, 'secret.key'), 'utf8').trim()
  await restoreBackup(empty, file, key, now)
})

/** The files after kill -9: the database without the last company, and the log that has it. No process has them open. */
async function killedFolder(t: TestContext, data_dir: string, key: string): Promise<string> {
  const killed = join(scratchFolder(t), 'data')
  mkdirSync(killed)
  const rapport = await startRapport({ data_dir })
  await client(rapport.url, key)('POST', '/api/v1/companies', company('Last'))
  for (const name of ['rapport.db', 'rapport.db-wal', 'secret.key'])
    copyFileSync(join(data_dir, name), join(killed, name))
  await rapport.close()
  assert.ok(statSync(join(killed, 'rapport.db-wal')).size > 0)
  return killed
}

test('a log that a killed server left is neither lost nor played into the restored database', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const killed = await killedFolder(t, data_dir, key)
  await restoreBackup(killed, file, null, now)
  assert.equal(existsSync(join(killed, 'rapport.db-wal')), false)
  assert.deepEqual(await companiesIn(t, killed, key), ['Two', 'One'])
  const old = new DatabaseSync(join(killed, `rapport.db${kept}`))
  assert.equal(old.prepare("SELECT count(*) AS n FROM companies WHERE name = 'Last'").get()?.n, 1)
  old.close()
})

test('a log whose database somebody moved away is kept, and not played into the restored database', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  const killed = await killedFolder(t, data_dir, key)
  renameSync(join(killed, 'rapport.db'), join(killed, 'moved.db'))
  const log = join(killed, `rapport.db${kept}-wal`)
  assert.deepEqual(await restoreBackup(killed, file, null, now), [log])
  assert.deepEqual(await companiesIn(t, killed, key), ['Two', 'One'])
  renameSync(log, join(killed, 'moved.db-wal'))
  const old = new DatabaseSync(join(killed, 'moved.db'))
  assert.equal(old.prepare("SELECT count(*) AS n FROM companies WHERE name = 'Last'").get()?.n, 1)
  old.close()
})

test('a damaged database can be replaced; it is kept with its log, byte for byte', async (t) => {
  const { data_dir, key, file } = await servedFolder(t)
  writeBackup(data_dir, file, true)
  writeFileSync(join(data_dir, 'rapport.db'), 'ruined '.repeat(2000))
  writeFileSync(join(data_dir, 'rapport.db-wal'), 'its log')
  const ruined = readFileSync(join(data_dir, 'rapport.db'))
  await restoreBackup(data_dir, file, null, now)
  assert.deepEqual(await companiesIn(t, data_dir, key), ['Two', 'One'])
  assert.deepEqual(readFileSync(join(data_dir, `rapport.db${kept}`)), ruined)
  assert.equal(readFileSync(join(data_dir, `rapport.db${kept}-wal`), 'utf8'), 'its log')
})
