// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { problems, refused } from '../../test/envelope.ts'
import { client } from '../../test/harness.ts'
import { ApiError, conflict, invalid, unavailable } from '../errors.ts'
import { createServer } from './server.ts'

/** A server whose one route throws what the test says; its log, line by line. */
async function failing(t: TestContext, level = 'warn') {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const app = createServer(logger as never)
  let thrown: unknown
  app.get('/', async () => {
    throw thrown
  })
  t.after(() => app.close())
  const call = client(await app.listen({ port: 0, host: '127.0.0.1' }), null)
  const answer = (error: unknown) => {
    thrown = error
    return call('GET', '/')
  }
  return { answer, lines, app }
}

test('whatever is thrown that we do not know is 500 without its text, and a log line with its text and the request id', async (t) => {
  const { answer, lines } = await failing(t)
  const sqlite = Object.assign(new Error('no such table: secret'), { code: 'ERR_SQLITE_ERROR', errcode: 1 })
  const errors = [
    new Error('secret'),
    new TypeError('secret'),
    sqlite,
    Object.assign(new Error('secret'), { statusCode: 500 }),
  ]
  errors.push(
    Object.assign(new Error('secret'), { statusCode: 302 }),
    Object.assign(new Error('secret'), { code: 'not_found' }),
  )
  for (const error of errors) {
    const reply = await answer(error)
    const { request_id } = refused(reply, 500, 'internal_error')
    assert.ok(!reply.text.includes('secret'))
    const line = lines.pop()
    assert.equal(line?.request_id, request_id)
    assert.equal(line?.level, 50)
    assert.match(JSON.stringify(line), /secret/)
  }
})

test('what is thrown need not be an Error', async (t) => {
  const { answer } = await failing(t)
  for (const thrown of ['secret', 42, { secret: true }, ['secret']]) {
    const reply = await answer(thrown)
    refused(reply, 500, 'internal_error')
    assert.ok(!reply.text.includes('secret'))
  }
})

test('a database that cannot write now is 503 with Retry-After, and is logged with the request id', async (t) => {
  const { answer, lines } = await failing(t)
  // Busy, busy snapshot, full, input or output error.
  for (const errcode of [5, 517, 13, 10, 778]) {
    const reply = await answer(Object.assign(new Error('database is locked'), { errcode }))
    const { request_id } = refused(reply, 503, 'unavailable')
    assert.ok(!reply.text.includes('locked'))
    assert.equal(lines.pop()?.request_id, request_id)
  }
})

test('refusals are answered with their own status, headers and fields, and are not logged', async (t) => {
  const { answer, lines } = await failing(t)
  refused(await answer(conflict('unique_value_taken', 'Taken.')), 409, 'conflict')
  assert.deepEqual(
    problems(await answer(invalid([{ field: 'name', code: 'required', message: 'name is required.' }]))),
    { name: 'required' },
  )
  const twice = (['required', 'not_found'] as const).map((code) => ({
    field: 'name',
    code,
    message: `name ${code}`,
  }))
  assert.deepEqual(problems(await answer(invalid(twice))), { name: 'required' })
  const limited = await answer(new ApiError('rate_limited', 'Slower.', { headers: { 'retry-after': '7' } }))
  refused(limited, 429, 'rate_limited')
  assert.equal(limited.headers.get('retry-after'), '7')
  assert.equal(lines.length, 0)
  assert.equal((await answer(unavailable('Later.', 9))).headers.get('retry-after'), '9')
})

test('a 503 that the service decides, as /readyz does during a start, is logged by its message, without a stack', async (t) => {
  const { answer, lines } = await failing(t)
  const { request_id } = refused(await answer(unavailable('The service is starting.')), 503, 'unavailable')
  assert.equal(lines.length, 1)
  const [{ level, message, request_id: logged } = {}] = lines
  assert.deepEqual([level, message, logged], [40, 'The service is starting.', request_id])
  assert.ok(!JSON.stringify(lines).includes('stack'))
})

test('a 503 with a cause, as /readyz without its database, is logged with it', async (t) => {
  const { answer, lines } = await failing(t)
  const reply = await answer(Object.assign(unavailable('No answer.'), { cause: new Error('disk failed') }))
  assert.ok(!reply.text.includes('disk'))
  const [{ message, err } = {}] = lines
  assert.deepEqual([message, (err as Error).message], ['No answer.', 'disk failed'])
})

test('a request that is logged is named by its id at every level of the log', async (t) => {
  const { answer, lines } = await failing(t, 'info')
  lines.length = 0
  const { request_id } = refused(await answer(new Error('secret')), 500, 'internal_error')
  assert.ok(lines.length >= 2)
  for (const line of lines) assert.ok(JSON.stringify(line).includes(request_id))
})

test('no two requests have the same id', async (t) => {
  const { answer } = await failing(t)
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => answer(conflict('unique_value_taken', 'Taken.'))),
  )
  assert.equal(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size, 200)
})
