// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { engine } from '../../test/engine.ts'
import { client, type Rapport } from '../../test/harness.ts'
import { ended, upload } from '../../test/imports.ts'
import { beside } from '../../test/keys.ts'
import { firstKey, scratchFolder, serveProcess } from '../../test/process.ts'
import { quick } from '../../test/quick.ts'
import { until } from '../../test/webhooks.ts'
import { bookOf, zipOf } from '../../test/zip.ts'
import { tar_end, tarFile } from '../files/tar.ts'
import { sheet_type } from './upload.ts'

// PostgreSQL imports more slowly while other tests run.
const rows = engine === 'sqlite' ? 15_000 : 6000
const kills = 3

/** Two blank lines after each tenth row, so that an import may end among them. */
const blankAfter = (n: number) => (n % 10 === 9 ? '\n\n' : '')

test('an undo whose process is killed is completed by the job, and puts back every record once', async (t) => {
  const env = { DATA_DIR: scratchFolder(t), RATE_LIMIT_PER_SECOND: '0' }
  const file = `name\n${Array.from({ length: 2000 }, (_, n) => `Row ${n}`).join('\n')}\n`
  const server = await serveProcess(t, env)
  const key = firstKey(env.DATA_DIR)
  const { body } = await upload({ url: server.url, key }, '?resource=companies', file)
  const { id } = body.data
  await ended({ call: client(server.url, key) }, id)
  const totalAt = async (url: string) => (await client(url, key)('GET', '/api/v1/companies')).body.meta.total
  // The next start of SQLite knows that nothing is in flight.
  const once: Record<string, string> = engine === 'sqlite' ? { 'idempotency-key': 'once' } : {}
  const undo = (of: Pick<Rapport, 'url'>) =>
    client(of.url, key)('POST', `/api/v1/imports/${id}/undo`, {}, once)
  const broken = undo(server)
  broken.catch(() => {})
  await until(
    () => totalAt(server.url),
    (total) => total < 2000,
  )
  server.signal('SIGKILL')
  await server.exited
  const left = await beside(env.DATA_DIR, (db) =>
    db.selectFrom('companies').select('id').where('deleted_at', 'is', null).execute(),
  )
  assert.ok(left.length > 0, 'the undo was complete before the kill')
  const next = await serveProcess(t, env)
  await until(() => totalAt(next.url), 0)
  const call = client(next.url, key)
  const undone = await undo(next)
  assert.deepEqual(undone.body.data, { restored: 2000, left: [] })
  const [entry] = (await call('GET', '/api/v1/audit-log?kind=companies&action=deleted&per_page=1')).body.data
  assert.equal(entry?.actor.kind, 'key')
  await next.stop()
})

const csvOf = () => {
  const lines = Array.from({ length: rows }, (_, n) => `Row ${n},${n}\n${blankAfter(n)}`)
  return Buffer.from(`name,address\n${lines.join('')}`)
}
const sheetOf = () => {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const line = (cells: string, n: number) => `<row r="${n}">${cells}</row>`
  const lines = Array.from({ length: rows }, (_, n) =>
    line(`<c t="s"><v>${n}</v></c><c><v>${n}</v></c>`, n + 2 + 2 * Math.floor(n / 10)),
  )
  const texts = Array.from({ length: rows }, (_, n) => `<si><t>Row ${n}</t></si>`)
  return zipOf(bookOf(line(cell('name') + cell('address'), 1) + lines.join(''), texts.join('')))
}
const forms = [
  { what: 'an import', fileOf: csvOf, headers: { 'content-type': 'text/csv' }, blank: rows / 5 },
  // Nothing stands behind the last row of a sheet.
  {
    what: 'an import of a sheet',
    fileOf: sheetOf,
    headers: { 'content-type': sheet_type },
    blank: rows / 5 - 2,
  },
]
// A form differs by how it is read, and not by the engine.
const tried = quick && engine === 'postgres' ? forms.slice(0, 1) : forms

for (const { what, fileOf, headers: sent, blank } of tried)
  test(`${what} whose process is killed goes on behind its last commit, and every row comes once`, async (t) => {
    const env = { DATA_DIR: scratchFolder(t), RATE_LIMIT_PER_SECOND: '0' }
    let server = await serveProcess(t, env)
    const key = firstKey(env.DATA_DIR)
    const { body } = await upload({ url: server.url, key }, '?resource=companies', fileOf(), sent)
    const { id } = body.data
    for (let kill = 1; kill <= kills; kill++) {
      const call = client(server.url, key)
      const at = (rows / (kills + 1)) * kill
      await until(
        () => call('GET', `/api/v1/imports/${id}`),
        (reply) => reply.body.data.rows_read >= at,
      )
      server.signal('SIGKILL')
      await server.exited
      server = await serveProcess(t, env)
    }
    const call = client(server.url, key)
    const done = await until(
      () => ended({ call }, id),
      ({ status }) => status !== 'running',
    )
    assert.deepEqual([done.status, done.created, done.failed], ['succeeded', rows, 0])
    assert.deepEqual([done.rows_read, done.skipped], [rows + blank, blank])
    const { text, headers } = await call('GET', '/api/v1/companies/export?format=ndjson')
    assert.equal(headers.get('x-total-count'), String(rows))
    const addresses = text
      .trimEnd()
      .split('\n')
      .map((line) => Number(JSON.parse(line).address))
    assert.deepEqual(
      addresses.sort((a, b) => a - b),
      Array.from({ length: rows }, (_, n) => n),
    )
    await server.stop()
  })

test('an import of an archive whose process is killed makes every record and its link once', async (t) => {
  const env = { DATA_DIR: scratchFolder(t), RATE_LIMIT_PER_SECOND: '0' }
  const count = rows / 15
  const lines = (row: (n: number) => object) =>
    Array.from({ length: count }, (_, n) => `${JSON.stringify(row(n))}\n${blankAfter(n)}`).join('')
  const fields = { resource: 'contacts', key: 'n', type: 'number', unique: true }
  const file = gzipSync(
    Buffer.concat([
      ...Object.entries({
        custom_fields: `${JSON.stringify(fields)}\n`,
        companies: lines((n) => ({ id: n + 1, name: `Firm ${n}` })),
        contacts: lines((n) => ({
          id: n + 1,
          first_name: 'Row',
          last_name: `${n}`,
          company_id: count - n,
          custom_fields: { n },
        })),
        notes: lines((n) => ({ id: n + 1, contact_id: n + 1, body: `Note ${n}` })),
      }).map(([kind, text]) => tarFile(`${kind}-0001.ndjson`, Buffer.from(text), 0)),
      tar_end,
    ]),
  )
  let server = await serveProcess(t, env)
  const key = firstKey(env.DATA_DIR)
  const gzip = { 'content-type': 'application/gzip' }
  const { body } = await upload({ url: server.url, key }, '?resource=workspace', file, gzip)
  const { id } = body.data
  // At the definition, and among the companies, the contacts and the notes.
  for (const at of [0, count / 2, count * 1.5, count * 2.5]) {
    const call = client(server.url, key)
    await until(
      () => call('GET', `/api/v1/imports/${id}`),
      (reply) => reply.body.data.rows_read >= at,
    )
    server.signal('SIGKILL')
    await server.exited
    server = await serveProcess(t, env)
  }
  const call = client(server.url, key)
  const done = await until(
    () => ended({ call }, id),
    ({ status }) => status !== 'running',
  )
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 3 * count + 1, 0])
  assert.equal(done.skipped, (3 * count) / 5)
  assert.deepEqual(
    done.kinds.map(({ kind, created }: { kind: string; created: number }) => [kind, created]),
    [
      ['custom_fields', 1],
      ['companies', count],
      ['contacts', count],
      ['notes', count],
    ],
  )
  const { text } = await call('GET', '/api/v1/contacts/export?format=ndjson')
  const linked = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ last_name, company }) => `${last_name}: ${company.name}`)
  assert.deepEqual(
    linked.sort(),
    Array.from({ length: count }, (_, n) => `${n}: Firm ${count - n - 1}`).sort(),
  )
  const { body: listed } = await call('GET', `/api/v1/contacts?sort=id&per_page=1`)
  const { body: timeline } = await call('GET', `/api/v1/contacts/${listed.data[0].id}/notes`)
  assert.deepEqual(
    timeline.data.map(({ body }: { body: string }) => body),
    ['Note 0'],
  )
  await server.stop()
})
