import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readStored } from '../../../test/database.ts'
import { authorsOf, dataOf } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { transaction } from '../../db/db.ts'
import type { NoteVersion } from './schema.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const api = '/api/v1'
const made = async (path: string, body: object) => dataOf(await call('POST', path, body), 201)

const owners = [
  { kind: 'contacts', noun: 'contact', by: 'contact_id', fields: { first_name: 'Ana', last_name: 'Ruiz' } },
  { kind: 'companies', noun: 'company', by: 'company_id', fields: { name: 'Acme Inc.' } },
  { kind: 'deals', noun: 'deal', by: 'deal_id', fields: { name: 'Forty seats' } },
]

for (const { kind, noun, by, fields } of owners)
  describe(`notes of ${kind}`, () => {
    const list = `${api}/${kind}`
    const owner = async (): Promise<string> => `${list}/${(await made(list, fields)).id}`

    test(`a note of a ${noun} has exactly its fields, and is found where Location says`, async () => {
      const path = await owner()
      const reply = await call('POST', `${path}/notes`, { body: '  Met at the fair.\nWants a quote.  ' })
      assert.equal(reply.status, 201)
      const now = new Date(clock.now()).toISOString()
      const { id, [by]: owner_id, ...rest } = reply.body.data
      const dates = { created_at: now, updated_at: now }
      assert.deepEqual(rest, { body: 'Met at the fair.\nWants a quote.', ...dates, ...authorsOf(rest) })
      assert.equal(`${list}/${owner_id}`, path)
      const location = reply.headers.get('location')
      assert.equal(location, `${path}/notes/${id}`)
      const read = await call('GET', String(location))
      assert.deepEqual(read.body, { success: true, data: reply.body.data })
      assert.equal(read.headers.get('etag'), reply.headers.get('etag'))
    })

    test(`all notes of a ${noun} come at once, newest first, as one page of their number, at least 1`, async () => {
      const path = await owner()
      const none = await call('GET', `${path}/notes`)
      assert.deepEqual(none.body, {
        success: true,
        data: [],
        meta: { current_page: 1, last_page: 1, per_page: 1, total: 0 },
      })
      for (let n = 1; n <= 120; n++) await made(`${path}/notes`, { body: `Note ${n}` })
      const other = await owner()
      await made(`${other}/notes`, { body: 'Of somebody else' })
      const { body } = await call('GET', `${path}/notes`)
      assert.deepEqual(
        body.data.map((note: { body: string }) => note.body),
        Array.from({ length: 120 }, (_, n) => `Note ${120 - n}`),
      )
      assert.deepEqual(body.meta, { current_page: 1, last_page: 1, per_page: 120, total: 120 })
    })

    test('page and per_page of notes are 400', async () => {
      const path = await owner()
      for (const query of ['page=1', 'per_page=10', 'search=x']) {
        const reply = await call('GET', `${path}/notes?${query}`)
        assert.equal(reply.status, 400)
        assert.equal(reply.body.error.code, 'bad_request')
      }
    })

    test('body is required, neither null nor blank, a string, and at most 65,535 characters', async () => {
      const path = await owner()
      for (const [body, code] of [
        [{}, 'required'],
        [{ body: null }, 'required'],
        [{ body: ' \n ' }, 'required'],
        [{ body: 5 }, 'invalid_type'],
        [{ body: 'é'.repeat(65_536) }, 'too_long'],
      ] as const) {
        const reply = await call('POST', `${path}/notes`, body)
        assert.equal(reply.status, 422)
        assert.deepEqual(
          reply.body.error.fields.map((one: Record<string, string>) => [one.field, one.code]),
          [['body', code]],
        )
      }
      const unknown = await call('POST', `${path}/notes`, { body: 'x', text: 'y' })
      assert.equal(unknown.body.error.fields[0].code, 'unknown_field')
      const longest = '😀'.repeat(65_535)
      assert.equal((await made(`${path}/notes`, { body: longest })).body, longest)
    })

    test('PUT and PATCH change the text; the same text changes nothing; what GET showed can be put back', async () => {
      const path = await owner()
      const note = await made(`${path}/notes`, { body: 'Old' })
      clock.advance(1000)
      for (const method of ['PUT', 'PATCH']) {
        const reply = await call(method, `${path}/notes/${note.id}`, { body: method })
        assert.equal(reply.status, 200)
        assert.deepEqual(reply.body.data, {
          ...note,
          body: method,
          updated_at: new Date(clock.now()).toISOString(),
        })
      }
      const shown = await call('GET', `${path}/notes/${note.id}`)
      clock.advance(1000)
      for (const body of [shown.body.data, {}, { body: ' PATCH ' }]) {
        const same = await call('PUT', `${path}/notes/${note.id}`, body)
        assert.equal(same.text, shown.text)
        assert.equal(same.headers.get('etag'), shown.headers.get('etag'))
      }
      assert.equal((await call('PUT', `${path}/notes/${note.id}`, { body: null })).status, 422)
    })

    test('If-Match of an older state refuses PUT and DELETE of a note with 412, before 422', async () => {
      const path = await owner()
      const created = await call('POST', `${path}/notes`, { body: 'Old' })
      const note = `${path}/notes/${created.body.data.id}`
      const old = { 'if-match': String(created.headers.get('etag')) }
      const changed = await call('PUT', note, { body: 'New' }, old)
      assert.equal(changed.status, 200)
      assert.equal((await call('PUT', note, { body: 'Newer' }, old)).status, 412)
      assert.equal((await call('PUT', note, { body: 7 }, old)).status, 412)
      assert.equal((await call('DELETE', note, undefined, old)).status, 412)
      const current = { 'if-match': String(changed.headers.get('etag')) }
      const unchanged = await call('GET', note, undefined, { 'if-none-match': current['if-match'] })
      assert.equal(unchanged.status, 304)
      assert.equal((await call('DELETE', note, undefined, current)).status, 200)
      assert.equal((await call('PUT', note, { body: 'x' }, current)).status, 404)
    })

    test('a deleted note is gone for every operation, and the others stay', async () => {
      const path = await owner()
      const kept = await made(`${path}/notes`, { body: 'Kept' })
      const note = `${path}/notes/${(await made(`${path}/notes`, { body: 'Gone' })).id}`
      const reply = await call('DELETE', note)
      assert.equal(reply.status, 200)
      assert.deepEqual(Object.keys(reply.body).sort(), ['message', 'success'])
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        assert.equal(
          (await call(method, note, method.startsWith('P') ? { body: 'x' } : undefined)).status,
          404,
        )
      assert.deepEqual((await call('GET', `${path}/notes`)).body.data, [kept])
    })

    test(`notes are out of reach while their ${noun} is in the trash and come back with it, deleted ones do not`, async () => {
      const path = await owner()
      const kept = await made(`${path}/notes`, { body: 'Kept' })
      const gone = await made(`${path}/notes`, { body: 'Gone' })
      await call('DELETE', `${path}/notes/${gone.id}`)
      await call('DELETE', path)
      const note = `${path}/notes/${kept.id}`
      const refused = [
        call('GET', `${path}/notes`),
        call('POST', `${path}/notes`, { body: 'x' }),
        call('GET', note),
        call('PUT', note, { body: 'x' }),
        call('DELETE', note),
      ]
      for (const reply of await Promise.all(refused)) assert.equal(reply.status, 404)
      await call('POST', `${path}/restore`)
      assert.deepEqual((await call('GET', `${path}/notes`)).body.data, [kept])
    })

    test(`a note is reached through its own ${noun} only, and an unknown ${noun} is 404 before its body is judged`, async () => {
      const path = await owner()
      const other = await owner()
      const note = await made(`${path}/notes`, { body: 'Mine' })
      for (const stranger of [
        `${other}/notes/${note.id}`,
        `${path}/notes/999999`,
        `${path}/notes/x`,
        `${list}/0/notes/1`,
      ]) {
        assert.equal((await call('GET', stranger)).status, 404)
        assert.equal((await call('PUT', stranger, { body: 7 })).status, 404)
        assert.equal((await call('DELETE', stranger)).status, 404)
      }
      assert.equal((await call('GET', `${list}/999999/notes`)).status, 404)
      assert.equal((await call('POST', `${list}/999999/notes`, { body: 7 })).status, 404)
    })

    test('the history of a note has its texts, newest first, with the author and the time of each', async () => {
      const path = await owner()
      const { call: second } = await makeKey(rapport, {
        name: 'Second',
        scopes: [`${kind}:write`, `${kind}:read`],
      })
      const { id, created_at } = await made(`${path}/notes`, { body: 'One' })
      const note = `${path}/notes/${id}`
      clock.advance(1000)
      assert.equal((await second('PUT', note, { body: 'Two' })).status, 200)
      // Neither writes a text.
      await call('PUT', note, { body: 'Two' })
      await call('DELETE', note)
      assert.equal((await call('GET', `${note}/history`)).status, 404)
      await call('POST', `${note}/restore`)
      const { status, body } = await second('GET', `${note}/history`)
      assert.equal(status, 200)
      assert.deepEqual(body.meta, { per_page: 100, next_cursor: null })
      const of = ({ body, written_at, written_by }: NoteVersion) => [body, written_at, written_by?.name]
      assert.deepEqual(body.data.map(of), [
        ['Two', new Date(clock.now()).toISOString(), 'Second'],
        ['One', created_at, body.data[1].written_by.name],
      ])
      assert.deepEqual(body.data[1].written_by, (await call('GET', note)).body.data.created_by)
      const stranger = await owner()
      assert.equal((await call('GET', `${stranger}/notes/${id}/history`)).status, 404)
    })

    test('a long history comes in pages, and starts with the text before the oldest entry of the audit log', async () => {
      const path = await owner()
      const { id } = await made(`${path}/notes`, { body: 'Text 0' })
      const note = `${path}/notes/${id}`
      for (let n = 1; n <= 101; n++) {
        clock.advance(1)
        assert.equal((await call('PUT', note, { body: `Text ${n}` })).status, 200)
      }
      await beside(rapport.data_dir, (db) =>
        transaction(db, (tx) =>
          tx
            .deleteFrom('audit_log')
            .where('action', '=', 'created')
            .where('after', 'like', '%"Text 0"%')
            .execute(),
        ),
      )
      const first = (await call('GET', `${note}/history`)).body
      const rest = (await call('GET', `${note}/history?cursor=${first.meta.next_cursor}`)).body
      assert.deepEqual([first.data.length, rest.data.length, rest.meta.next_cursor], [100, 2, null])
      const texts = [...first.data, ...rest.data].map((version: NoteVersion) => version.body)
      assert.deepEqual(
        texts,
        Array.from({ length: 102 }, (_, n) => `Text ${101 - n}`),
      )
      assert.deepEqual(rest.data.at(-1), { body: 'Text 0', written_at: null, written_by: null })
      assert.equal((await call('GET', `${note}/history?cursor=x`)).status, 422)
    })

    test('the history of a note of which the audit log has no entry is its present text', async () => {
      const path = await owner()
      const { id } = await made(`${path}/notes`, { body: 'Older than the log' })
      await beside(rapport.data_dir, (db) =>
        transaction(db, (tx) =>
          tx.deleteFrom('audit_log').where('after', 'like', '%"Older than the log"%').execute(),
        ),
      )
      const { data, meta } = (await call('GET', `${path}/notes/${id}/history`)).body
      assert.deepEqual(data, [{ body: 'Older than the log', written_at: null, written_by: null }])
      assert.equal(meta.next_cursor, null)
    })

    test('notes emit no events', async () => {
      const stored = await readStored(rapport.data_dir)
      const count = () => stored.rows('SELECT count(*) AS n FROM events')
      const path = await owner()
      const before = await count()
      const note = await made(`${path}/notes`, { body: 'Quiet' })
      await call('PUT', `${path}/notes/${note.id}`, { body: 'Still quiet' })
      await call('DELETE', `${path}/notes/${note.id}`)
      assert.deepEqual(await count(), before)
      await stored.close()
    })

    test('no totals are kept of notes: their list counts them', async () => {
      const path = await owner()
      const { id } = await made(`${path}/notes`, { body: 'One' })
      await call('DELETE', `${path}/notes/${id}`)
      const stored = await readStored(rapport.data_dir)
      assert.deepEqual(await stored.rows("SELECT name FROM record_counts WHERE name LIKE '%notes%'"), [])
      await stored.close()
    })
  })
