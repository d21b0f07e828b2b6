import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Rapport, startRapport } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'

let rapport: Rapport
before(async () => {
  rapport = await startRapport()
})
after(() => rapport.close())

const found = async (path: string) => (await rapport.call('GET', `/api/v1/${path}`)).body.data
/** What became of a file: the numbers of created, updated and failed rows, and the field and the code of each error. */
async function outcome(query: Record<string, string>, file: string) {
  const { id, created, updated, failed } = await importFile(rapport, query, file)
  const errors: string = (await rapport.call('GET', `/api/v1/imports/${id}/errors`)).text
  const reported = errors
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => [row.split(',')[1], row.split(',').at(-1)])
  return { counts: [created, updated, failed], reported }
}
test('a row with the reason of a lost deal changes a deal, and is imported as a whole or not at all', async () => {
  const { id } = (await rapport.call('POST', '/api/v1/deals', { name: 'Chairs' })).body.data
  const query = { resource: 'deals', on_match: 'update', match: 'name' }
  const file = [
    'name,stage,lost_reason',
    'Chairs,lost,Price',
    'Tables,lost,Time',
    'Lamps,demo,Price',
    `Shelves,lost,${'x'.repeat(256)}`,
    'Sofas,won,',
  ]
  assert.deepEqual(await outcome(query, file.join('\n')), {
    counts: [2, 1, 2],
    reported: [
      ['lost_reason', 'not_allowed'],
      ['lost_reason', 'too_long'],
    ],
  })
  const { stage, lost_reason } = await found(`deals/${id}`)
  assert.deepEqual([stage, lost_reason], ['lost', 'Price'])
  const deals = await found('deals?sort=name&details=true')
  assert.deepEqual(
    deals.map((deal: { name: string; lost_reason: string | null }) => [deal.name, deal.lost_reason]),
    [
      ['Chairs', 'Price'],
      ['Sofas', null],
      ['Tables', 'Time'],
    ],
  )
})
