// runs: once
import assert from 'node:assert/strict'
import { get, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { type Browser, setUp } from '../../test/people.ts'
import { before } from '../../test/use.ts'

const rapport = useRapport({ env: { CORS_ORIGINS: 'https://pages.example' } })
let ada: Browser
before(async () => {
  ada = await setUp(rapport)
  for (let n = 0; n < 20; n++)
    dataOf(
      await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: `Ruiz-Ñandú ${n}` }),
    )
})

/** The bytes of an answer, as they arrive. */
const read = (path: string, headers: IncomingHttpHeaders) =>
  new Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) =>
    get(rapport.url + path, { headers: headers as never }, (answer) =>
      buffer(answer).then((bytes) => resolve({ headers: answer.headers, bytes }), reject),
    ).on('error', reject),
  )
const list = '/api/v1/contacts?per_page=100'
const browsers = 'gzip, deflate, br, zstd'

test('a browser of a person gets a long answer compressed, with the same text', async () => {
  const cookie = ada.cookie()
  const plain = await read(list, { cookie })
  assert.equal(plain.headers['content-encoding'], undefined)
  const packed = await read(list, { cookie, 'accept-encoding': browsers })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.equal(Number(packed.headers['content-length']), packed.bytes.length)
  assert.ok(packed.bytes.length < plain.bytes.length / 4)
  assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
  for (const { headers } of [plain, packed]) assert.equal(headers.vary, 'Origin, Accept-Encoding')
})

test('a program, a short answer, an answer with an ETag and a browser without gzip get plain text', async () => {
  const cookie = ada.cookie()
  const [{ id }] = dataOf(await rapport.call('GET', list))
  const notes = 'Met at the fair in Kraków. '.repeat(100)
  dataOf(await rapport.call('PUT', `/api/v1/contacts/${id}`, { custom_fields: { notes } }))
  const record = `/api/v1/contacts/${id}`
  for (const [path, headers] of [
    [list, { authorization: `Bearer ${rapport.key}`, 'accept-encoding': browsers }],
    ['/api/v1/contacts?per_page=1', { cookie, 'accept-encoding': browsers }],
    [record, { cookie, 'accept-encoding': browsers }],
    [list, { cookie, 'accept-encoding': 'br' }],
    [list, { cookie, 'accept-encoding': 'gzip;q=0' }],
  ] as const) {
    const { headers: answered, bytes } = await read(path, headers)
    assert.equal(answered['content-encoding'], undefined, path)
    assert.equal(JSON.parse(String(bytes)).success, true)
  }
  assert.ok((await read(record, { cookie })).bytes.length > 2048)
})
