import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { before } from '../use.ts'
import { type Requests, request_env, startRequests } from '../valid-requests.ts'

const rapport = useRapport({ env: request_env })
let requests: Requests
before(async () => {
  requests = await startRequests(rapport)
})

test('an empty cursor is 422 with the remedy on every path that takes a cursor, and "start" begins', async () => {
  const taking = requests.operations.filter(({ query, described }) => {
    const answers = described.responses?.[200]?.content ?? {}
    return query.some(({ name }) => name === 'cursor') && 'application/json' in answers
  })
  assert.ok(taking.length > 20, `${taking.length} operations`)
  for (const operation of taking) {
    const request = await requests.request(operation)
    const [url] = request.path.split('?')
    const ask = (cursor: string) => requests.send({ ...request, path: `${url}?cursor=${cursor}` })
    const { fields } = refused(await ask(''), 422, 'validation_failed')
    assert.deepEqual(
      fields,
      [
        {
          field: 'cursor',
          code: 'invalid_cursor',
          message:
            'cursor is empty. Send cursor=start for the first page. When next_cursor is null, there are no more pages: stop.',
        },
      ],
      operation.name,
    )
    const { status, body, text } = await ask('start')
    assert.equal(status, 200, text)
    assert.ok('next_cursor' in body.meta, operation.name)
  }
})
