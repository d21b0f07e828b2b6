// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()

const ok = async (method: string, path: string, body?: object) => {
  return dataOf(await rapport.call(method, `/api/v1${path}`, body))
}
const numbers = ({ rows_read, created, updated, skipped, failed, errors }: Record<string, number>) => ({
  rows_read,
  created,
  updated,
  skipped,
  failed,
  errors,
})

test('a check has the numbers of the import, also where a row finds the record of a row long before it', async () => {
  await ok('POST', '/custom-fields', {
    resource: 'contacts',
    key: 'badge',
    label: 'Badge',
    type: 'text',
    unique: true,
  })
  // Each part of a check is taken back, and a part has at most 500 rows.
  const rows = Array.from({ length: 1300 }, (_, n) => {
    const person = n % 450
    const title = n < 900 ? 'CEO' : 'CTO'
    return `Ana,Ruiz ${person},${person}@checks.example,${title},${person}`
  })
  const file = `first_name,last_name,email,title,Badge\n${rows.join('\n')}\n`
  for (const on_match of ['update', 'skip', 'create']) {
    const query: Record<string, string> = { resource: 'contacts', on_match }
    if (on_match !== 'create') query.match = 'email'
    const check = await importFile(rapport, { ...query, dry_run: 'true' }, file)
    const done = await importFile(rapport, query, file)
    assert.deepEqual(numbers(check), numbers(done), on_match)
    assert.ok(done.created < 1300)
    await ok('POST', `/imports/${done.id}/undo`, {})
  }
})

test('the preview tells how many rows have an e-mail address or a name that a record has', async () => {
  await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'There', email: 'Ana@There.example' })
  const existing = async (resource: string, file: string) =>
    (await upload(rapport, `/preview?resource=${resource}`, file)).body.data.existing
  assert.deepEqual(
    await existing('contacts', 'Name,E-mail\nA B,ana@there.example\nC D,c@there.example\nE F,\n'),
    { field: 'email', rows: 2, found: 1 },
  )
  await ok('POST', '/companies', { name: 'There  GmbH' })
  assert.deepEqual(await existing('companies', 'Name\nthere gmbh\nOther\n'), {
    field: 'name',
    rows: 2,
    found: 1,
  })
  assert.deepEqual(await existing('activities', 'Subject\nCall\n'), null)
})

test('the preview tells the decimal sign of columns of numbers only, and the order of columns of days only', async () => {
  const file = 'Name;Value;Expected close date\nLamps;1,5;31/12/2026\n'
  const { columns } = (await upload(rapport, '/preview?resource=deals', file)).body.data
  assert.deepEqual(
    columns.map(({ decimal, day_order }: Record<string, unknown>) => [decimal, day_order]),
    [
      [null, null],
      [',', null],
      [null, 'day_first'],
    ],
  )
})

test('a check is called a check in the audit log, and notifies nobody', async () => {
  await importFile(rapport, { resource: 'companies', dry_run: 'true' }, 'name\nChecked\n')
  const entries = await ok('GET', '/audit-log?kind=imports&per_page=1')
  assert.deepEqual(
    entries.map(({ action }: { action: string }) => action),
    ['checked'],
  )
})
