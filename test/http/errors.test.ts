import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { callOf, client, useRapport } from '../harness.ts'

const rapport = useRapport()
const call = callOf(rapport)

const path = '/api/v1/companies'
const json = { 'content-type': 'application/json' }

/** Sends a body as bytes, with exactly the given headers beside the key. */
async function send(method: string, at: string, body: RequestInit['body'], headers: Record<string, string>) {
  const response = await fetch(rapport.url + at, {
    method,
    body,
    headers: { authorization: `Bearer ${rapport.key}`, ...headers },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : text }
}

describe('paths and methods', () => {
  test('an unknown path is 404, with a key and without one', async () => {
    for (const at of ['/none', '/api', '/api/v1/none', '/api/v2/companies', `${path}/1/none`]) {
      refused(await call('GET', at), 404, 'not_found')
      refused(await client(rapport.url, null)('GET', at), 404, 'not_found')
      refused(await call('DELETE', at), 404, 'not_found')
    }
  })

  test('an unknown path is 404 whatever is sent to it: the body is not even read', async () => {
    refused(await send('POST', '/none', '{{', json), 404, 'not_found')
    refused(await send('POST', '/none', 'text', { 'content-type': 'text/plain' }), 404, 'not_found')
    refused(await send('POST', '/none', '"'.repeat(2 ** 21), json), 404, 'not_found')
  })

  test('a known path with another method is 405 with the allowed methods, with and without a key', async () => {
    const cases = [
      ['DELETE', path, 'GET, HEAD, POST'],
      ['PUT', path, 'GET, HEAD, POST'],
      ['OPTIONS', path, 'GET, HEAD, POST'],
      ['PROPFIND', path, 'GET, HEAD, POST'],
      ['MKCALENDAR', path, 'GET, HEAD, POST'],
      ['POST', `${path}/1`, 'DELETE, GET, HEAD, PATCH, PUT'],
      ['OPTIONS', `${path}/abc?x=1`, 'DELETE, GET, HEAD, PATCH, PUT'],
      ['GET', `${path}/1/restore`, 'POST'],
      // These paths have the form of a record's path, but they are not records.
      ['GET', `${path}/batch`, 'POST'],
      ['PUT', `${path}/groups?by=owner_id`, 'GET, HEAD'],
      ['DELETE', `${path}/export`, 'GET, HEAD'],
      ['POST', `${path}/duplicates`, 'GET, HEAD'],
      ['GET', '/api/v1/invitations/accept', 'POST'],
      ['POST', '/healthz', 'GET, HEAD'],
      ['DELETE', '/', 'GET, HEAD'],
      ['POST', '/api/v1/openapi.json', 'GET, HEAD'],
    ] as const
    for (const [method, at, allow] of cases)
      for (const caller of [call, client(rapport.url, null)]) {
        const reply = await caller(method, at)
        refused(reply, 405, 'method_not_allowed')
        assert.equal(reply.headers.get('allow'), allow, `${method} ${at}`)
      }
    // No body makes a wrong method right, or another error.
    refused(await send('DELETE', path, '{{', json), 405, 'method_not_allowed')
  })

  test('HEAD answers like GET, without the body', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    for (const at of [path, `${path}/${id}`]) {
      const [got, head] = [await call('GET', at), await call('HEAD', at)]
      assert.equal(head.status, 200)
      assert.equal(head.text, '')
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(got.text)))
      assert.equal(head.headers.get('etag'), got.headers.get('etag'))
    }
    assert.equal((await call('HEAD', `${path}/999999`)).status, 404)
    assert.equal((await call('HEAD', `${path}/1/restore`)).status, 405)
    assert.equal((await client(rapport.url, null)('HEAD', path)).status, 401)
  })

  test('an id in the path that is not a positive integer is 404, for every method', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    const one = String(id)
    const ids = [
      '0',
      '-1',
      '1.5',
      '1e3',
      '%201',
      `${one}%20`,
      '0x1',
      `0${one}`,
      `+${one}`,
      `${one}%00`,
      'abc',
      'null',
    ]
    ids.push(
      '9007199254740993',
      '9223372036854775808',
      '1'.repeat(100),
      'a'.repeat(2000),
      '%D9%A1',
      `${one};a=b`,
    )
    ids.push('__proto__', '..%2F1', '%F0%9F%98%80', '')
    for (const wrong of ids) {
      refused(await call('GET', `${path}/${wrong}`), 404, 'not_found')
      if (!wrong) continue
      refused(await call('PUT', `${path}/${wrong}`, { name: '' }), 404, 'not_found')
      refused(await call('DELETE', `${path}/${wrong}`), 404, 'not_found')
      refused(await call('POST', `${path}/${wrong}/restore`), 404, 'not_found')
    }
  })

  test('every answer carries X-Request-Id, each its own', async () => {
    const { headers } = await call('POST', path, { name: 'Acme' })
    const at = String(headers.get('location'))
    const etag = String(headers.get('etag'))
    const answers = [
      await call('GET', '/'),
      await call('GET', '/docs'),
      await call('GET', '/healthz'),
      await call('GET', '/metrics'),
      await call('GET', '/api/v1/openapi.json'),
      await call('GET', path),
      await call('HEAD', at),
      await call('GET', at, undefined, { 'if-none-match': etag }),
      await call('PUT', at, { name: 'Other' }),
      await call('DELETE', at),
      await call('GET', at),
      await call('GET', '/%'),
      await client(rapport.url, null)('GET', at),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [302, 200, 200, 200, 200, 200, 200, 304, 200, 200, 404, 400, 401],
    )
    const ids = answers.map((reply) => reply.headers.get('x-request-id'))
    for (const id of ids) assert.match(String(id), /^req_\w+$/)
    assert.equal(new Set(ids).size, ids.length)
  })

  test('a path with broken percent-encoding is 400', async () => {
    for (const at of ['/%', '/%zz', `${path}/%`, `${path}/%c3%28`, `${path}/%ff`, '/%c0%af'])
      refused(await call('GET', at), 400, 'bad_request')
  })

  test('an unknown query parameter is 400 on every path that needs a key', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    for (const query of [
      'foo=1',
      'Page=1',
      'page=1&foo=',
      '__proto__=1',
      'constructor=1',
      'toString',
      '=1',
      '%00=1',
      'a%5Bb%5D=1',
    ]) {
      const reply = await call('GET', `${path}?${query}`)
      assert.ok([400, 422].includes(reply.status), `${query}: ${reply.text}`)
      if (query !== '%00=1') refused(reply, 400, 'bad_request')
    }
    for (const [method, at] of [
      ['GET', `/${id}`],
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', ''],
      ['POST', `/${id}/restore`],
    ])
      refused(await call(String(method), `${path}${at}?foo=1`), 400, 'bad_request')
    assert.equal((await call('GET', `${path}/${id}`)).status, 200)
    // A probe or a browser may add what it likes to the open ones.
    assert.equal((await call('GET', '/healthz?probe=1')).status, 200)
  })
})

describe('bodies', () => {
  test('a body that is not declared as JSON is 415', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/xml',
      'application/vnd.api+json',
    ]
    for (const type of [
      ...types,
      'text/json',
      'application/json, text/plain',
      'json',
      ';',
      'application/jsonp',
    ])
      refused(
        await send('POST', path, '{"name":"Acme"}', { 'content-type': type }),
        415,
        'unsupported_media_type',
      )
    // No content type at all: a Blob makes fetch add none.
    refused(await send('POST', path, new Blob(['{"name":"Acme"}']), {}), 415, 'unsupported_media_type')
  })

  test('JSON may be declared in any case and with a character set', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ])
      assert.equal((await send('POST', path, '{"name":"Acme"}', { 'content-type': type })).status, 201, type)
  })

  test('a body over 1 MiB is 413, one of exactly 1 MiB is taken', async () => {
    const body = (size: number) => '{"name":"Acme"}'.padEnd(size)
    assert.equal((await send('POST', path, body(2 ** 20), json)).status, 201)
    refused(await send('POST', path, body(2 ** 20 + 1), json), 413, 'payload_too_large')
    refused(await send('POST', path, body(2 ** 23), json), 413, 'payload_too_large')
    // Characters are not bytes: these are half a million of three bytes each.
    refused(
      await send('POST', path, JSON.stringify({ name: '語'.repeat(500_000) }), json),
      413,
      'payload_too_large',
    )
  })

  test('a chunked body, whose length nobody tells, is 413 over 1 MiB, and is taken below', async () => {
    const chunked = (size: number) =>
      new ReadableStream({
        start(controller) {
          for (let sent = 0; sent < size; sent += 65_536)
            controller.enqueue(
              Buffer.from((sent ? '' : '{"name":"Acme"}').padEnd(Math.min(65_536, size - sent))),
            )
          controller.close()
        },
      })
    assert.equal((await send('POST', path, chunked(2 ** 20), json)).status, 201)
    refused(await send('POST', path, chunked(2 ** 20 + 1), json), 413, 'payload_too_large')
  })

  test('JSON may have 64 levels; one more is 400, and 100,000 are refused as fast', async () => {
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    assert.equal(problems(await call('POST', path, objects(64))).a, 'unknown_field')
    assert.deepEqual(problems(await call('POST', path, lists(64))), { body: 'invalid_type' })
    for (const body of [objects(65), lists(65), lists(100_000), objects(100_000), '['.repeat(100_000)])
      refused(await call('POST', path, body), 400, 'bad_request')
    const nested = `{"name":"Acme","custom_fields":{"a":${lists(100_000)}}}`
    refused(await call('POST', path, nested), 400, 'bad_request')
    // Also where the body means nothing.
    refused(await call('POST', `${path}/1/restore`, lists(65)), 400, 'bad_request')
  })

  test('invalid UTF-8 is 400; a byte order mark is ignored', async () => {
    const around = (...bytes: number[]) =>
      Buffer.from([...Buffer.from('{"name":"'), ...bytes, ...Buffer.from('"}')])
    const broken = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]
    for (const bytes of broken) refused(await send('POST', path, around(...bytes), json), 400, 'bad_request')
    refused(await send('POST', path, Buffer.from('{"name":"Acme"}', 'utf16le'), json), 400, 'bad_request')
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"name":"Acme"}')])
    assert.equal((await send('POST', path, marked, json)).body.data.name, 'Acme')
  })

  test('keys that name the prototype are 400, at every depth and in every escaped form', async () => {
    const keys = [
      '"__proto__":{}',
      '"__proto__":null',
      '"__proto__":"a"',
      '"\\u005f\\u005fproto\\u005f\\u005f":1',
    ]
    keys.push(
      '"\\u005F_pr\\u006fto__" : 1',
      '"constructor":{"prototype":{}}',
      '"c\\u006fnstructor":{"protot\\u0079pe":1}',
    )
    for (const key of keys) {
      const reply = await call('POST', path, `{"name":"Acme",${key}}`)
      refused(reply, 400, 'bad_request')
      assert.match(reply.body.error.message, /reserved name/)
      refused(await call('POST', path, `{"name":"Acme","custom_fields":{${key}}}`), 400, 'bad_request')
      refused(
        await call('POST', path, `{"name":"Acme","custom_fields":{"a":[{${key}}]}}`),
        400,
        'bad_request',
      )
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })

  test('names of properties of every JavaScript object are ordinary keys of custom fields', async () => {
    const custom_fields = {
      constructor: 'ACME',
      toString: 'a',
      hasOwnProperty: true,
      valueOf: 1,
      prototype: 'b',
      toJSON: 'c',
      length: 3,
    }
    const { id, custom_fields: made } = (await call('POST', path, { name: 'Acme', custom_fields })).body.data
    assert.deepEqual(made, custom_fields)
    assert.deepEqual((await call('GET', `${path}/${id}`)).body.data.custom_fields, custom_fields)
    const sent =
      '{"name":"Acme","constructor":1,"toString":1,"hasOwnProperty":1,"valueOf":1,"__defineGetter__":1}'
    const unknown = {
      constructor: 'unknown_field',
      toString: 'unknown_field',
      hasOwnProperty: 'unknown_field',
    }
    assert.deepEqual(problems(await call('POST', path, sent)), {
      ...unknown,
      valueOf: 'unknown_field',
      __defineGetter__: 'unknown_field',
    })
  })

  test('a body that is no object is 422, null too', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    for (const body of [
      '[]',
      '[{"name":"Acme"}]',
      '"name"',
      '""',
      '5',
      '0',
      'true',
      'false',
      'null',
      ' null ',
    ])
      for (const [method, at] of [
        ['POST', path],
        ['PUT', `${path}/${id}`],
      ])
        assert.deepEqual(
          problems(await call(String(method), String(at), body)),
          { body: 'invalid_type' },
          body,
        )
  })

  test('no body is an empty object, with a content type and without one', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    for (const headers of [
      {},
      json,
      { 'content-type': 'text/plain' },
      { 'content-type': 'nonsense' },
    ] as Record<string, string>[]) {
      assert.deepEqual(problems(await send('POST', path, undefined, headers)), { name: 'required' })
      const put = await send('PUT', `${path}/${id}`, undefined, headers)
      assert.equal(put.status, 200, put.text)
      assert.equal((await send('GET', `${path}/${id}`, undefined, headers)).status, 200)
      assert.equal((await send('DELETE', `${path}/${id}`, undefined, headers)).status, 200)
      assert.equal((await send('POST', `${path}/${id}/restore`, undefined, headers)).status, 200)
    }
  })

  test('a body of 20,000 unknown fields gets the first 1000 problems, and does not block the server', async () => {
    const reply = await call('POST', path, unknownFields(20_000))
    assert.equal(reply.status, 422)
    assert.equal(reply.body.error.message, 'At least 1000 fields are not valid. The first 1000 are listed.')
    assert.equal(reply.body.error.fields.length, 1000)
  })

  test('a body of more than 50,000 names and values is 422 before it is parsed', async () => {
    for (const body of [
      unknownFields(100_000),
      `{"name":[${'[],'.repeat(50_000)}1]}`,
      `[${'0,'.repeat(50_000)}`,
    ])
      assert.deepEqual(problems(await call('POST', path, body)), { body: 'too_many' })
    // The content of a string is not a value.
    const text = JSON.stringify({ name: 'Acme', address: `a\\",${'[,{'.repeat(60_000)}` })
    assert.deepEqual(problems(await call('POST', path, text)), { address: 'too_long' })
  })
})

const unknownFields = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`
