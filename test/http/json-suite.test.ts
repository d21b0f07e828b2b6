import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '../engine.ts'
import { refused } from '../envelope.ts'
import { type Reply, useRapport } from '../harness.ts'
import { type Case, documents, invalid, left_open, numbers, texts } from '../json-cases.ts'

const rapport = useRapport()

const path = '/api/v1/companies'
// Both engines share the parser, so refused documents are sent on one. Accepted documents are stored on both.
const of_parser = { skip: engine === 'postgres' && 'the parser is tested on SQLite' }

async function send(method: string, at: string, body: Case['body']): Promise<Reply> {
  const response = await fetch(rapport.url + at, {
    method,
    headers: { authorization: `Bearer ${rapport.key}`, 'content-type': 'application/json' },
    body: new Uint8Array(Buffer.from(body as string)),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

const made = async (body: string) => {
  const reply = await send('POST', path, body)
  assert.equal(reply.status, 201, `${body}: ${reply.text}`)
  return reply.body.data
}

test('the cases are as many as those of the public suite', () => {
  assert.ok(new Set(invalid.map(({ what }) => what)).size >= 188, `${invalid.length} invalid`)
  assert.ok(numbers.length + texts.length + documents.length >= 95)
  assert.ok(left_open.length >= 35, `${left_open.length} left open`)
})

test('each invalid JSON document is 400, on POST and on PUT, and changes nothing', of_parser, async (t) => {
  const { id } = await made('{"name":"A"}')
  const before = (await rapport.call('GET', path)).text
  for (const { what, body } of invalid)
    for (const [method, at] of [
      ['POST', path],
      ['PUT', `${path}/${id}`],
    ] as const) {
      const reply = await send(method, at, body)
      assert.equal(reply.status, 400, `${method} ${what}: ${reply.text}`)
      refused(reply, 400, 'bad_request')
    }
  assert.equal((await rapport.call('GET', path)).text, before)
  t.diagnostic(`${invalid.length} documents`)
})

test('each valid number and string is read as the standard says, and returned unchanged', async () => {
  for (const number of numbers) {
    const { id, custom_fields } = await made(`{"name":"A","custom_fields":{"a":${number}}}`)
    // There is no negative zero in a database.
    assert.equal(custom_fields.a, Number(number) || 0, number)
    assert.equal((await rapport.call('GET', `${path}/${id}`)).body.data.custom_fields.a, Number(number) || 0)
  }
  for (const [written, meant] of texts) {
    const { id, custom_fields } = await made(`{"name":"A","custom_fields":{"a":${written}}}`)
    assert.equal(custom_fields.a, meant, written)
    assert.equal((await rapport.call('GET', `${path}/${id}`)).body.data.custom_fields.a, meant)
  }
  for (const document of documents) assert.equal((await made(document)).name, 'A', document)
})

test('input that the standard leaves open always has the same outcome, and never a 5xx', async () => {
  for (const { what, body, status, shown } of left_open) {
    const reply = await send('POST', path, body)
    assert.equal(reply.status, status, `${what}: ${reply.text}`)
    if (shown !== undefined) assert.equal(reply.body.data.custom_fields.a, shown, what)
  }
})
