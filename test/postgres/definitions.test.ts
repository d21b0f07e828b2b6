import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCompany } from '../../src/resources/companies/operations.ts'
import { refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { until } from '../webhooks.ts'
import { beginWrite } from './running-write.ts'

const rapport = useRapport()

test('a new definition is refused, and gone, when a running write does not end in time', async (t) => {
  const commit = await beginWrite(t, rapport, (tx, context) =>
    createCompany(tx, context, { name: 'Atlas' }, []),
  )
  const field = { resource: 'companies', key: 'size', type: 'number' }
  refused(await rapport.call('POST', '/api/v1/custom-fields', field), 503, 'unavailable')
  assert.deepEqual((await rapport.call('GET', '/api/v1/custom-fields?resource=companies')).body.data, [])
  await commit()
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', field)).status, 201)
})

test('a new definition counts the value of a running write, and holds up no other writes', async (t) => {
  const { call } = rapport
  const commit = await beginWrite(t, rapport, (tx, context) =>
    createCompany(tx, context, { name: 'Atlas', custom_fields: { seats: 'many' } }, []),
  )
  const field = { resource: 'companies', key: 'seats', type: 'number' }
  const defined = call('POST', '/api/v1/custom-fields', field)
  const write = (name: string, seats: unknown) =>
    call('POST', '/api/v1/companies', { name, custom_fields: { seats } })
  // New writes obey the definition before its check begins.
  await until(
    () => write('', 'few'),
    ({ body }) => body.error.fields.length === 2,
  )
  for (let seats = 1; seats <= 3; seats++) assert.equal((await write('Borealis', seats)).status, 201)
  await commit()
  const { status, body } = await defined
  assert.deepEqual([status, body.error.facts], [409, { count: 1, invalid: 1, taken: 0 }])
})
