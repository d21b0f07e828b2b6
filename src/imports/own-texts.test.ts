// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { importFile } from '../../test/imports.ts'
import { stages } from '../resources/deals/stages.ts'

const rapport = useRapport()

const read = async (path: string) => dataOf(await rapport.call('GET', `/api/v1/${path}`))
const keep = async (settings: object) =>
  dataOf(await rapport.call('PUT', '/api/v1/workspace/stages', settings))
const run = (resource: string, lines: readonly string[]) =>
  importFile(rapport, { resource }, `${lines.join('\n')}\n`)
/** The stages of records by their names. */
async function stagesOf(kind: 'contacts' | 'deals', names: readonly string[]) {
  const records: Record<string, string>[] = await read(`${kind}?per_page=100`)
  return names.map((name) => records.find((one) => (one.last_name ?? one.name) === name)?.stage)
}

test('an import reads the own labels of stages as their codes, also in place of a built-in label', async () => {
  const labels: Record<string, string> = { qualification: 'Angebot', proposal: 'Offer sent', demo: 'Lead' }
  await keep({ deal_stages: stages.map((stage) => ({ stage, label: labels[stage] ?? null })) })
  const done = await run('deals', [
    'Name,Stage',
    'Own label,Angebot',
    'Own label of two words,offer-sent',
    'Label of another stage,lead',
    'Built-in label,Verhandlung',
    'Code,proposal',
  ])
  assert.deepEqual([done.created, done.errors], [5, 0])
  assert.deepEqual(
    await stagesOf('deals', [
      'Own label',
      'Own label of two words',
      'Label of another stage',
      'Built-in label',
      'Code',
    ]),
    ['qualification', 'proposal', 'demo', 'negotiation', 'proposal'],
  )
})

test('an import writes a stage of a contact as the workspace keeps it, and others as they are', async () => {
  await keep({ contact_stages: ['Customer', 'In talks'] })
  const done = await run('contacts', [
    'First Name,Last Name,Stage',
    'A,Kept,CUSTOMER',
    'B,Of two words,in-talks',
    'C,Other,Friend of the house',
  ])
  assert.deepEqual([done.created, done.errors], [3, 0])
  assert.deepEqual(await stagesOf('contacts', ['Kept', 'Of two words', 'Other']), [
    'Customer',
    'In talks',
    'Friend of the house',
  ])
})

test('texts that differ by their signs alone are different stages', async () => {
  await keep({ contact_stages: ['A+', 'B'] })
  await run('contacts', ['First Name,Last Name,Stage', 'A,Plain,A', 'A,Minus,A-', 'A,Plus,a+'])
  assert.deepEqual(await stagesOf('contacts', ['Plain', 'Minus', 'Plus']), ['A', 'A-', 'A+'])
  const labels: Record<string, string> = { qualification: 'C++', proposal: 'C', demo: '★★' }
  await keep({ deal_stages: stages.map((stage) => ({ stage, label: labels[stage] ?? null })) })
  const done = await run('deals', ['Name,Stage', 'Two signs,C++', 'No sign,c', 'Signs alone,★★'])
  assert.deepEqual([done.created, done.errors], [3, 0])
  assert.deepEqual(await stagesOf('deals', ['Two signs', 'No sign', 'Signs alone']), [
    'qualification',
    'proposal',
    'demo',
  ])
})

test('a column has the custom field whose label it is, before a guess by its header', async () => {
  const field = { resource: 'contacts', key: 'my_status', label: 'Status', type: 'text' }
  const { id: field_id } = dataOf(await rapport.call('POST', '/api/v1/custom-fields', field))
  await run('contacts', ['First Name,Last Name,Status', 'A,Labelled,Gold'])
  const records = await read('contacts?search=Labelled&per_page=1')
  const { custom_fields, stage } = await read(`contacts/${records[0].id}`)
  assert.deepEqual([custom_fields, stage], [{ my_status: 'Gold' }, null])
  await rapport.call('DELETE', `/api/v1/custom-fields/${field_id}`)
})

test('the status of contacts becomes their stage if no other column is the stage, and a long text is left out', async () => {
  const done = await run('contacts', [
    'First Name,Last Name,Lead Status',
    'A,Short,Qualified',
    `B,Long,${'very '.repeat(20)}long`,
  ])
  assert.deepEqual([done.created, done.failed], [2, 0])
  assert.deepEqual(await stagesOf('contacts', ['Short', 'Long']), ['Qualified', null])
  const [, , status] = done.columns
  assert.deepEqual([status.field, status.stored, status.reasons], ['stage', 1, { unknown_value: 1 }])

  const beside = await run('contacts', [
    'First Name,Last Name,Status,Lifecycle Stage',
    'C,Beside,Open,Customer',
  ])
  const fields = beside.columns.map(({ header, field }: Record<string, unknown>) => [header, field])
  assert.deepEqual(Object.fromEntries(fields).Status, null)
  assert.deepEqual(await stagesOf('contacts', ['Beside']), ['Customer'])
})
