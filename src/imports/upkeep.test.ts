// runs: both
import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { cpuTime, longestHold } from '../../test/calm-time.ts'
import { archiveOf } from '../../test/imports.ts'
import { type Outbox, openOutbox } from '../../test/outbox.ts'
import { bestOfTen } from '../../test/statements.ts'
import { day_ms, isoTime } from '../clock.ts'
import { transaction } from '../db/db.ts'
import { addWork, dropWork } from '../db/work.ts'
import { rooms } from '../resources/index.ts'
import { archivedRows } from './archive.ts'
import { beginImport } from './queue.ts'
import { removeOldImports } from './retention.ts'
import { runImports } from './run.ts'
import { claimImport, type ImportRow, readFile } from './store.ts'
import { storeFile } from './upload.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

/** Adds an import whose file has one chunk, by default of a MiB. */
async function addImport(
  values: Partial<ImportRow>,
  content: Uint8Array = Buffer.alloc(1024 * 1024, 0x20),
): Promise<ImportRow> {
  const { db, clock, workspace_id } = outbox
  const { id = 'imp_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b' } = values
  return transaction(db, async (tx) => {
    await tx
      .insertInto('imports')
      .values({
        id,
        workspace_id,
        resource: 'contacts',
        status: 'queued',
        file_name: 'Kontakte Nordwind.csv',
        options: '{}',
        form: '{"format":"ndjson","encoding":"utf-8"}',
        message: null,
        created_by: 'key_test',
        request_id: null,
        created_at: isoTime(clock.now()),
        started_at: null,
        finished_at: null,
        claim_id: null,
        lease_ends_ms: clock.elapsed(),
        not_restored: null,
        chunks: 1,
        ...values,
      })
      .execute()
    const chunk = { workspace_id: values.workspace_id ?? workspace_id, import_id: id, number: 0, content }
    await tx.insertInto('import_chunks').values(chunk).execute()
    return tx.selectFrom('imports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  })
}

/** Claims an import, after other claims. */
async function claim({ db, clock }: Outbox): Promise<ImportRow | null> {
  for (;;) {
    const row = await claimImport(db, clock.elapsed(), isoTime(clock.now()))
    if (row !== 'busy') return row
  }
}

test('no other process takes an import while its own reads rows that are imported already', async () => {
  const { db, clock } = outbox
  await addImport({})
  const row = (await claim(outbox)) as ImportRow
  let parts = 0
  let share = 0
  for await (const _ of readFile({ db, clock, row })) {
    clock.advance(3000)
    assert.equal(await claim(outbox), null, `after part ${++parts}`)
    assert.ok(row.progress > share)
    share = row.progress
  }
  assert.ok(parts > 10)
  assert.equal(share, 1)
  clock.advance(20_000)
  assert.equal((await claim(outbox))?.id, row.id)
})

test('no other process takes the import of an archive that has far more content than bytes', async () => {
  const { db, clock } = outbox
  const file = archiveOf({ 'companies-0001.ndjson': '\n'.repeat(1024 * 1024), 'deals-0001.ndjson': '' })
  assert.ok(file.length < 32 * 1024)
  await addImport({ resource: 'workspace' }, file)
  const row = (await claim(outbox)) as ImportRow
  let parts = 0
  for await (const _ of archivedRows({ db, clock, rooms, row })) {
    clock.advance(3000)
    assert.equal(await claim(outbox), null, `after part ${++parts}`)
  }
  assert.ok(parts > 10)
})

test('an import that continues far in its file holds the loop for at most 100 ms, and imports no row twice', async () => {
  const { db, clock } = outbox
  const done = 1_000_000
  const names = ['Last', 'but', 'not', 'least']
  // Blank lines, and rows that would fail, are among the rows before the position.
  const before = `${'A\n'.repeat(done / 2)}${'\n'.repeat(done / 4)}${',\n'.repeat(done / 4)}`
  const options = '{"makes":[],"columns":{},"on_match":"create"}'
  let runs = 0
  for (const form of [
    { format: 'csv', encoding: 'utf-8', delimiter: ',', header_line: 1 },
    { format: 'ndjson', encoding: 'utf-8' },
  ]) {
    const is_csv = form.format === 'csv'
    const rows = names.map((name) => (is_csv ? name : JSON.stringify({ name })))
    const file = Buffer.from(`${is_csv ? 'name\n' : ''}${before}${rows.join('\n')}`)
    const values = { resource: 'companies', created_by: 'service', options, form: JSON.stringify(form) }
    const { signal: stopping } = new AbortController()
    async function run(): Promise<number> {
      const id = `imp_${form.format}_${++runs}`
      await addImport({ ...values, id, last_row: is_csv ? done + 1 : done }, file)
      const { longest_ms } = await longestHold(() => runImports({ db, clock, rooms, stopping }))
      const ended = await db.selectFrom('imports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      assert.deepEqual([ended.status, ended.message, ended.created], ['succeeded', null, names.length])
      return longest_ms
    }
    // The heap is that of many files, so a garbage collection may be long.
    const longest_ms = await bestOfTen(run, (ms) => ms <= 100)
    assert.ok(longest_ms <= 100, `${form.format}: ${longest_ms} ms`)
  }
  const made = await db.selectFrom('companies').select('name').orderBy('id').execute()
  assert.deepEqual(
    made.map(({ name }) => name),
    Array.from({ length: runs }, () => names).flat(),
  )
})

test('reading ends when another process has the import', async () => {
  const { db, clock } = outbox
  await addImport({})
  const row = (await claim(outbox)) as ImportRow
  const parts = readFile({ db, clock, row })
  await parts.next()
  clock.advance(20_000)
  await claim(outbox)
  await assert.rejects(async () => {
    for await (const _ of parts);
  })
})

test('an old import stays until its undo is complete, and then nothing of it is left', async () => {
  const { db, clock, workspace_id } = outbox
  const finished_at = isoTime(clock.now() - 40 * day_ms)
  const { id } = await addImport({ status: 'undone', finished_at })
  await transaction(db, async (tx) => addWork(tx, outbox.context(), { kind: 'import_undo', subject: id }))
  await transaction(db, async (tx) => {
    const change = { workspace_id, import_id: id, kind: 'contacts', record_id: 7, changed_at: finished_at }
    await tx
      .insertInto('import_changes')
      .values({ ...change, before: null })
      .execute()
  })
  const left = async () => [
    (await db.selectFrom('imports').selectAll().execute()).length,
    (await db.selectFrom('import_changes').selectAll().execute()).length,
  ]
  await removeOldImports(db, clock, 30)
  assert.deepEqual(await left(), [1, 1])
  await transaction(db, (tx) => dropWork(tx, workspace_id, 'import_undo', id))
  await removeOldImports(db, clock, 30)
  assert.deepEqual(await left(), [0, 0])
})

test('concurrent claims take one import of a workspace, and the next one waits for its end', async () => {
  const { db, clock } = outbox
  for (let n = 1; n <= 8; n++) await addImport({ id: `imp_${n}` }, Buffer.from('x'))
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(outbox)))
  const taken = claims.flatMap((row) => (row ? [row.id] : []))
  assert.deepEqual(taken, ['imp_1'])
  assert.equal(await claim(outbox), null)
  await transaction(db, (tx) =>
    tx.updateTable('imports').set({ status: 'succeeded' }).where('id', '=', 'imp_1').execute(),
  )
  assert.equal((await claim(outbox))?.id, 'imp_2')
  // Its process has ended, and an earlier import waits.
  clock.advance(20_000)
  await addImport({ id: 'imp_0' }, Buffer.from('x'))
  assert.equal((await claim(outbox))?.id, 'imp_2')
})

const as_csv = {
  facts: { format: 'csv', encoding: null, header_row: null, sheet: null },
  findHeader: async () => 1,
} as const
const begin = () => {
  const { db, clock, workspace_id } = outbox
  const access = { workspace_id, actor: { kind: 'key', id: 'key_test' } }
  const request = { access, id: 'req_test' } as FastifyRequest
  return beginImport(db, clock, request, {
    resource: 'contacts',
    options: {
      on_match: 'create',
      match: null,
      tags: 'add',
      bad_cells: 'fail',
      cells: {},
      dry_run: false,
      columns: {},
      rest: 'ignore',
      program: null,
      time_zone: 'UTC',
      makes: [],
    },
    file_name: null,
  })
}

test('an upload that goes on after it counted as broken off is refused, and nothing of it is left', async () => {
  const { db, clock, workspace_id } = outbox
  async function* slowly() {
    for (let part = 0; part < 3; part++) {
      yield Buffer.alloc(1024 * 1024, 0x20)
      clock.advance(5 * 60_000)
      await removeOldImports(db, clock, 30)
    }
  }
  const body = { iterator: slowly, destroy() {} } as unknown as Readable
  const file = { workspace_id, import_id: await begin(), ...as_csv, max_bytes: 1024 ** 3 } as const
  await assert.rejects(storeFile(db, body, { ...file, elapsed: clock.elapsed }), /stood still for too long/)
  assert.deepEqual(await db.selectFrom('import_chunks').select('number').execute(), [])
  assert.deepEqual(await db.selectFrom('imports').select('id').execute(), [])
})

test('a slow upload keeps its place, and uploads of processes that have ended take none', async () => {
  const { db, clock, workspace_id } = outbox
  const import_id = await begin()
  async function* slowly() {
    for (let part = 0; part < 20; part++) {
      yield Buffer.from('x')
      clock.advance(29_000)
      await removeOldImports(db, clock, 30)
    }
  }
  const body = { iterator: slowly, destroy() {} } as unknown as Readable
  const file = { workspace_id, import_id, ...as_csv, max_bytes: 1024 ** 3 } as const
  const { chunks } = await storeFile(db, body, { ...file, elapsed: clock.elapsed })
  assert.equal(chunks, 1)
  for (let n = 1; n < 10; n++) await begin()
  await assert.rejects(begin(), /At most 10 imports can wait/)
  clock.advance(5 * 60_000)
  await begin()
})

test('a file that arrives in small parts costs no more than its bytes', async () => {
  const { db, clock, workspace_id } = outbox
  const bytes = 1024 * 1024
  async function costOf(part_bytes: number): Promise<number> {
    async function* parts() {
      for (let sent = 0; sent < bytes; sent += part_bytes) yield Buffer.alloc(part_bytes, 'Ana,Ruiz\n')
    }
    const body = { iterator: parts, destroy() {} } as unknown as Readable
    const file = { workspace_id, import_id: await begin(), ...as_csv, max_bytes: bytes } as const
    return cpuTime(() => storeFile(db, body, { ...file, elapsed: clock.elapsed }))
  }
  const large_ms = await costOf(16 * 1024)
  const small_ms = await costOf(64)
  assert.ok(small_ms < 3000 + 10 * large_ms, `${small_ms} ms instead of ${large_ms} ms`)
})

test('an import that throws an error does not leave the one beside it running without its job', async () => {
  const { db, clock, workspace_id } = outbox
  const options = '{"makes":[],"columns":{},"on_match":"create"}'
  await addImport({ id: 'imp_1', options: '{' })
  const blank_lines = Buffer.alloc(1024 * 1024, 0x0a)
  await addImport(
    { id: 'imp_2', workspace_id: workspace_id + 1, created_by: 'service', options },
    blank_lines,
  )
  const { signal: stopping } = new AbortController()
  await assert.rejects(runImports({ db, clock, rooms, stopping }), SyntaxError)
  const { status } = await db
    .selectFrom('imports')
    .select('status')
    .where('id', '=', 'imp_2')
    .executeTakeFirstOrThrow()
  assert.equal(status, 'succeeded')
})

test('an import of a person who has left the workspace ends, and makes no record that nobody owns', async () => {
  const { db, clock } = outbox
  const options = '{"makes":[],"columns":{},"on_match":"create"}'
  const { id } = await addImport(
    { resource: 'companies', created_by: 'usr_left', options },
    Buffer.from('{"name":"A"}'),
  )
  const { signal: stopping } = new AbortController()
  await runImports({ db, clock, rooms, stopping })
  const ended = await db.selectFrom('imports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  assert.equal(ended.status, 'failed')
  assert.match(ended.message ?? '', /has left the workspace/)
  assert.deepEqual(await db.selectFrom('companies').select('id').execute(), [])
})
