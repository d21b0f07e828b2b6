import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { refused } from '../envelope.ts'
import { callOf, type Reply, useRapport } from '../harness.ts'
import { runs } from '../quick.ts'
import { before } from '../use.ts'

const rapport = useRapport()
const call = callOf(rapport)
let id: number
before(async () => {
  id = (await call('POST', path, { name: 'Acme' })).body.data.id
})

const path = '/api/v1/companies'

describe('what is not JSON', () => {
  const invalid = [
    // numbers
    '{"name":01}',
    '{"name":+1}',
    '{"name":.5}',
    '{"name":1.}',
    '{"name":1e}',
    '{"name":1e+}',
    '{"name":-}',
    '{"name":--1}',
    '{"name":0x1F}',
    '{"name":1_000}',
    '{"name":NaN}',
    '{"name":Infinity}',
    '{"name":-Infinity}',
    '{"name":1 2}',
    '{"name":1n}',
    '{"name":１}',
    // texts
    "{'name':'A'}",
    '{"name":"A}',
    '{"name":A}',
    '{name:"A"}',
    '{"name":"\\x41"}',
    '{"name":"\\u12"}',
    '{"name":"\\u{41}"}',
    '{"name":"\\a"}',
    '{"name":"\\"}',
    '{"name":"a\tb"}',
    '{"name":"a\nb"}',
    '{"name":"a\u0000b"}',
    '{"name":`A`}',
    '{"name":“A”}',
    // structure
    '{',
    '}',
    '[',
    ']',
    '{"name"}',
    '{"name":}',
    '{"name":"A",}',
    '{,"name":"A"}',
    '{"name":"A",,"phone":"1"}',
    '{"name" "A"}',
    '{"name":"A"',
    '{"name":"A"}}',
    '{"name":"A"]',
    '["A"}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"name":["A",]}',
    '{"name"::"A"}',
    '{1:"A"}',
    '{null:"A"}',
    '{"name":"A"}{"name":"B"}',
    '{"name":"A"} x',
    '{"name":"A"};',
    '{"a":1 "b":2}',
    '{[]:1}',
    // words, comments, blanks, other formats
    'True',
    'TRUE',
    'nul',
    'None',
    'undefined',
    '{"name":undefined}',
    '// x\n{"name":"A"}',
    '{"name":"A"/* x */}',
    '# x\n{}',
    ' ',
    '\n\t',
    '\u00a0{"name":"A"}',
    '\u000b{}',
    '\u2028{}',
    'name=A',
    '<name>A</name>',
    'name: A',
    '{"name":"A"}\u0000',
    ")]}'\n{}",
    '\ufeff\ufeff{}',
  ]
  test(`${invalid.length} texts are 400 in the envelope, on POST and PUT, and change nothing`, async () => {
    const before = (await call('GET', path)).text
    for (const text of invalid)
      for (const [method, at] of [
        ['POST', path],
        ['PUT', `${path}/${id}`],
      ] as const) {
        const reply = await call(method, at, text)
        assert.equal(reply.status, 400, `${JSON.stringify(text)} gave ${reply.text}`)
        refused(reply, 400, 'bad_request')
      }
    assert.equal((await call('GET', path)).text, before)
  })
})

test('unusual but valid JSON is read as the standard says', async () => {
  const read = async (value: string) => {
    const reply = await call('POST', path, `\r\n\t {"name":"A","custom_fields":{"a":${value}}} \n`)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data.custom_fields.a
  }
  assert.equal(await read('"\\u00e9\\ud83d\\ude00\\/\\b\\f"'), 'é😀/\b\f')
  assert.equal(await read('"\u2028\u2029\u007f"'), '\u2028\u2029\u007f')
  assert.equal(await read('-0'), 0)
  assert.equal(await read('1E2'), 100)
  assert.equal(await read('1.0'), 1)
  assert.equal(await read('5e-324'), 5e-324)
  assert.equal(await read('0.1'), 0.1)
  assert.equal(await read('1.7976931348623157e308'), Number.MAX_VALUE)
  // Two of one name: the last one counts, as in every common parser.
  assert.equal((await call('POST', path, '{"name":"A","name":"B"}')).body.data.name, 'B')
  // A number that no double holds would come back as null.
  refused(await call('POST', path, '{"name":"A","custom_fields":{"a":1e999}}'), 422, 'validation_failed')
})

// Every answer, whatever was asked: in the envelope, never a fault of ours, and with the id of the request.
function checkAnswer(reply: Reply) {
  assert.ok(reply.status < 500, reply.text)
  assert.ok(reply.headers.get('x-request-id'))
  if (reply.status >= 400) refused(reply, reply.status, reply.body.error.code)
  else assert.equal(reply.body.success, true)
}

const names = fc.constantFrom(
  'name',
  'website',
  'industry',
  'phone',
  'address',
  'custom_fields',
  'id',
  'created_at',
  'constructor',
  'x',
)
const values = fc.oneof(
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text)),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.double(),
  fc.dictionary(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 70 }), names),
    fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
    { maxKeys: 5 },
  ),
)
const times = { numRuns: runs(150) }

test('arbitrary JSON as a body never gives a 5xx, and every answer is in the envelope', async () => {
  const bodies = fc.oneof(fc.dictionary(names, values, { maxKeys: 6 }), values)
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom('POST', 'PUT', 'PATCH'), async (body, method) => {
      // JSON.stringify escapes lone surrogates: they arrive as such.
      checkAnswer(
        await call(method, method === 'POST' ? path : `${path}/${id}`, JSON.stringify(body) ?? 'null'),
      )
    }),
    times,
  )
})

test('arbitrary bytes as a body never give a 5xx', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(`{"name":"${text}"}`)),
  )
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const response = await fetch(rapport.url + path, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { authorization: `Bearer ${rapport.key}`, 'content-type': 'application/json' },
      })
      const text = await response.text()
      checkAnswer({ status: response.status, headers: response.headers, text, body: JSON.parse(text) })
    }),
    times,
  )
})

test('arbitrary query strings and ids never give a 5xx', async () => {
  const word = fc.oneof(
    fc.constantFrom('page', 'per_page', 'search', '__proto__', ''),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )
  const value = fc.oneof(
    fc.integer().map(String),
    fc.double().map(String),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const pairs = fc.array(fc.tuple(word, value, fc.boolean()), { maxLength: 4 })
  const query = pairs.map((list) =>
    list.map(([name, text, whole]) => `${encode(name)}${whole ? '=' : ''}${encode(text)}`).join('&'),
  )
  await fc.assert(
    fc.asyncProperty(query, value, async (asked, wanted) => {
      checkAnswer(await call('GET', `${path}?${asked}`))
      checkAnswer(await call('GET', `${path}/${encode(wanted) || '0'}`))
      checkAnswer(await call('DELETE', `${path}/${encode(`-${wanted}`)}?${asked}`))
    }),
    times,
  )
})

// Some of it escaped byte by byte, broken sequences too.
const encode = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('')
    .replaceAll(/%6[0-9a-f]/g, (hex) => decodeURIComponent(hex))
