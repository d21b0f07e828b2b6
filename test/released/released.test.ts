// runs: both
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { databaseFile } from '../../src/db/engines/sqlite/open.ts'
import { removeScratch, settingsOf } from '../engine.ts'
import { client, startRapport, turnableClock } from '../harness.ts'
import { password, signIn } from '../people.ts'
import { command } from '../postgres.ts'
import { type Received, startReceiver, verifySignatures } from '../receiver.ts'
import { runRapport } from '../run-rapport.ts'
import { useFor } from '../use.ts'
import { act } from '../webhooks.ts'
import { type Kept, readInstallation, secret_key } from './records.ts'

// release/database.ts makes the files of a version. They never change after its release.

const folder = fileURLToPath(new URL('.', import.meta.url))
const versions = globSync('*.json.gz', { cwd: folder }).map((file) => basename(file, '.json.gz'))
const unzipped = (file: string) => gunzipSync(readFileSync(join(folder, file)))

/** A data folder with the database as a version wrote it. */
async function released(t: TestContext, version: string): Promise<string> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  t.after(() => removeScratch(data_dir))
  const { DATABASE_URL } = await settingsOf(data_dir, { migrated: false })
  if (DATABASE_URL) await command(DATABASE_URL, unzipped(`${version}.sql.gz`).toString())
  else writeFileSync(databaseFile(data_dir), unzipped(`${version}.sqlite.gz`))
  return data_dir
}

/** Later versions may add fields; those of before keep their values. */
function knownFields(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((one, at) => knownFields(one, before[at]))
  if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return now
  return Object.fromEntries(
    Object.entries(now).flatMap(([name, value]) =>
      Object.hasOwn(before, name) ? [[name, knownFields(value, before[name as never])]] : [],
    ),
  )
}

test('a small database of every version in CHANGELOG before the one in progress is kept', () => {
  const changelog = readFileSync(join(folder, '../../CHANGELOG.md'), 'utf8')
  const [, ...older] = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version = '']) => version)
  assert.deepEqual(
    older.filter((version) => !versions.includes(version)),
    [],
  )
  assert.ok(versions.includes('0.1.0'))
  for (const file of globSync('*.gz', { cwd: folder }))
    assert.ok(statSync(join(folder, file)).size <= 200_000, file)
})

for (const version of versions)
  test(`a database of ${version} is migrated and answers as before`, async (t) => {
    const { now, key, paused, answers }: Kept = JSON.parse(unzipped(`${version}.json.gz`).toString())
    const data_dir = await released(t, version)
    const env = { SECRET_KEY: secret_key, WEBHOOK_RETRY_DELAYS: 'none' }
    const checked = await runRapport(['upgrade', '--check'], { DATA_DIR: data_dir })
    assert.ok([0, 3].includes(checked.code), checked.stderr)
    assert.equal((await runRapport(['upgrade'], { DATA_DIR: data_dir })).code, 0)

    // The time of then: otherwise old deliveries and events would be removed.
    const rapport = await startRapport({ data_dir, env, clock: turnableClock(now) })
    t.after(() => rapport.close())
    const call = client(rapport.url, key)
    const found = await readInstallation(call)
    for (const [path, before] of Object.entries(answers))
      assert.deepEqual(knownFields(found[path], before), before, path)

    assert.equal((await signIn(rapport.url, 'ada@example.com', password)).reply.status, 200)
    const receiver = await useFor(t, startReceiver())
    const moved = await call('PUT', `/api/v1/webhooks/${paused.id}`, { url: receiver.url })
    assert.equal(moved.status, 200, moved.text)
    await act(call, paused.id, 'resume')
    const [delivered] = await receiver.waitFor(1)
    // Its time is that of then, which the other kind of signature checks.
    assert.ok((await verifySignatures(paused.secret, delivered as Received)).service)
    const created = await call('POST', '/api/v1/contacts', { first_name: 'After', last_name: 'Upgrade' })
    assert.equal(created.status, 201, created.text)
    assert.equal((await call('GET', '/api/v1/contacts?search=after%20upgr')).body.meta.total, 1)
  })
