import assert from 'node:assert/strict'

// JSON of any shape: the tests look into it.
type Json = ReturnType<typeof JSON.parse>
type Answer = { status: number; headers: Headers; body: Json; text: string }

/** Checks that an answer is a success, of this status if it is given; returns its data. */
export function dataOf({ status, body, text }: Omit<Answer, 'headers'>, wanted?: number): Json {
  assert.ok(wanted ? status === wanted : status < 300, `${status}: ${text}`)
  return body.data
}

/** Checks that an answer is the error envelope, complete and without anything else; returns its error. */
export function refused(reply: Answer, status: number, code: string) {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.deepEqual(Object.keys(reply.body), ['success', 'error'])
  assert.equal(reply.body.success, false)
  const { error } = reply.body
  assert.equal(error.code, code, reply.text)
  assert.ok(error.message.length > 0)
  assert.ok(error.request_id.length > 0)
  assert.equal(error.request_id, reply.headers.get('x-request-id'))
  const keys = ['code', 'message', 'request_id']
  if (code === 'validation_failed') keys.push('fields')
  if (code === 'conflict') keys.push('reason')
  if ('facts' in error) {
    assert.equal(code, 'conflict')
    keys.push('facts')
  }
  assert.deepEqual(Object.keys(error), keys)
  if (status === 405) assert.ok(reply.headers.get('allow'))
  if (status === 401) assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
  if (status === 429 || status === 503) assert.ok(Number(reply.headers.get('retry-after')) >= 1)
  return error as { code: string; message: string; request_id: string; fields?: Record<string, string>[] }
}

/** Checks a 422 and returns its problems as {field: code}. */
export function problems(reply: Answer): Record<string, string> {
  const { fields = [], message } = refused(reply, 422, 'validation_failed')
  assert.equal(
    message,
    fields.length === 1 ? '1 field is not valid.' : `${fields.length} fields are not valid.`,
  )
  for (const one of fields) {
    assert.deepEqual(Object.keys(one), ['field', 'code', 'message'])
    assert.ok(one.message?.startsWith(`${one.field} `) || one.field === 'body', one.message)
  }
  const named = Object.fromEntries(fields.map(({ field, code }) => [field, code]))
  assert.equal(Object.keys(named).length, fields.length, 'a field is named twice')
  return named
}

/** Checks a 422 and returns its problems in their order, each as `field code`. */
export function fieldCodes(reply: Answer): string[] {
  const { fields = [] } = refused(reply, 422, 'validation_failed')
  return fields.map(({ field, code }) => `${field} ${code}`)
}

/** The authors of a record that one key wrote. */
export function authorsOf({ created_by }: Record<string, { id?: string }>) {
  assert.match(created_by?.id ?? '', /^key_[0-9a-f]{32}$/)
  const author = { kind: 'key', id: created_by?.id, name: 'First key' }
  return { created_by: author, updated_by: author }
}

/** The fields of a key's record without an owner, tags and custom fields. */
export const unset = { owner_id: null, tags: [], custom_fields: {} }

/** The fields of a contact or a company without activities and deals. */
export const no_facts = { last_contacted_at: null, next_activity_at: null, open_deals_value: 0 }
