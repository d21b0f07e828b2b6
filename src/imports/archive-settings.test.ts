import assert from 'node:assert/strict'
import { test } from 'node:test'
import { data, exported, imported, workspaceOf } from '../../test/archives.ts'
import { refused } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { archiveOf } from '../../test/imports.ts'

const from = useRapport()

const newWorkspace = () => workspaceOf(from)

test('definitions of custom fields come before the records, an equal one is kept, and a conflicting one is reported', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  const seats = { resource: 'contacts', key: 'seats', type: 'number', unique: true, label: '=Seats' }
  const size = { resource: 'companies', key: 'size', type: 'select', options: ['s', 'l'] }
  const other = { resource: 'deals', key: 'other', type: 'text' }
  for (const field of [seats, size, other]) await data(source, 'POST', 'custom-fields', field)
  await data(source, 'POST', 'contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    custom_fields: { seats: 4 },
  })
  await data(target, 'POST', 'custom-fields', { ...size, label: 'Kept' })
  await data(target, 'POST', 'custom-fields', { ...other, type: 'number' })
  const file = await exported(source)
  const tried = await imported(target, file, '&dry_run=true')
  assert.deepEqual([tried.created, tried.skipped, tried.failed], [2, 1, 1])
  const done = await imported(target, file)
  const errors = (await target.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  assert.deepEqual([done.status, done.created, done.skipped, done.failed], ['succeeded', 2, 1, 1], errors)
  assert.match(
    errors,
    /custom_fields-0001\.ndjson, line \d: The deals have another definition of other.*,other_definition\r/,
  )
  const shown = async () =>
    (await data(target, 'GET', 'custom-fields')).map(({ key, label, type, unique }: typeof seats) =>
      [key, label, type, unique].join(),
    )
  const own = ['size,Kept,select,false', 'other,other,number,false']
  assert.deepEqual(await shown(), [own[0], 'seats,=Seats,number,true', own[1]])
  const twin = { first_name: 'Zoë', last_name: 'Day', custom_fields: { seats: 4 } }
  refused(await target.call('POST', '/api/v1/contacts', twin), 422, 'validation_failed')
  assert.deepEqual(await data(target, 'POST', `imports/${done.id}/undo`), { restored: 2, left: [] })
  assert.deepEqual(await shown(), own)
})

test('a definition that values of the workspace break is reported, and leaves no trace', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  await data(source, 'POST', 'custom-fields', { resource: 'contacts', key: 'seats', type: 'number' })
  const contact = { first_name: 'Ana', last_name: 'Ruiz', custom_fields: { seats: 'many' } }
  await data(target, 'POST', 'contacts', contact)
  const done = await imported(target, await exported(source))
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 0, 1])
  const { text } = await target.call('GET', `/api/v1/imports/${done.id}/errors`)
  assert.match(text, /1 existing value breaks this definition.*,values_break_definition\r/)
  assert.deepEqual(await data(target, 'GET', 'custom-fields'), [])
  assert.deepEqual(await data(target, 'POST', `imports/${done.id}/undo`), { restored: 0, left: [] })
})

test('saved views name the new records and members, and an undo removes those that nobody changed', async () => {
  const [source, target] = [await newWorkspace(), await newWorkspace()]
  await data(target, 'POST', 'companies', { name: 'Stranger' })
  const [one, two] = [
    await data(source, 'POST', 'companies', { name: 'Åland GmbH & Co. KG' }),
    await data(source, 'POST', 'companies', { name: '"Quoted", Ltd' }),
  ]
  const queries = [
    ['contacts', 'Customers of both', `company_id=${one.id}%2C!${two.id}&stage=customer&sort=-updated_at`],
    ['deals', 'Of nobody', `owner_id=null%2Cme&company_id=${two.id}`],
    ['companies', 'Naughty \u202e"=1+1', 'search=%22%26%3D1%2B1&tag=a%5C%2Cb'],
    ['contacts', 'Kept', 'search=ana'],
    ['activities', 'Of a stranger', `owner_id=usr_stranger&status=open`],
    ['deliveries', 'Failed', 'status=failed&webhook_id=whk_gone'],
  ] as const
  for (const [list, name, query] of queries) await data(source, 'POST', 'views', { list, name, query })
  await data(target, 'POST', 'views', { list: 'contacts', name: 'Kept', query: 'search=ana' })
  const done = await imported(target, await exported(source))
  const { text } = await target.call('GET', `/api/v1/imports/${done.id}/errors`)
  assert.deepEqual([done.status, done.created, done.skipped, done.failed], ['succeeded', 7, 1, 0], text)
  // Two of the imported views lack a filter.
  assert.equal(done.errors, 2)
  assert.match(
    text,
    /query,"?saved_views-0001\.ndjson, line \d: The archive lacks some values of owner_id.*,not_in_archive\r/,
  )
  assert.match(text, /query,"?saved_views-0001\.ndjson, line \d: The archive lacks some values of webhook_id/)

  const named = async (name: string) =>
    (await data(target, 'GET', 'companies?per_page=100')).find((one: { name: string }) => one.name === name)
      .id
  const [new_one, new_two] = [await named(one.name), await named(two.name)]
  assert.notEqual(new_one, one.id)
  const views = await data(target, 'GET', 'views')
  const queryOf = (name: string) => views.find((one: { name: string }) => one.name === name).query
  assert.equal(
    queryOf('Customers of both'),
    `company_id=${new_one}%2C%21${new_two}&stage=customer&sort=-updated_at`,
  )
  assert.equal(queryOf('Of nobody'), `owner_id=null%2Cme&company_id=${new_two}`)
  assert.equal(queryOf('Naughty \u202e"=1+1'), 'search=%22%26%3D1%2B1&tag=a%5C%2Cb')
  assert.equal(queryOf('Of a stranger'), 'status=open')
  assert.equal(queryOf('Failed'), 'status=failed')

  const { id: changed } = views.find((one: { name: string }) => one.name === 'Failed')
  await data(target, 'PUT', `views/${changed}`, { name: 'Failed today' })
  assert.deepEqual(await data(target, 'POST', `imports/${done.id}/undo`), {
    restored: 6,
    left: [{ kind: 'saved_views', id: changed, reason: 'changed' }],
  })
  const left = (await data(target, 'GET', 'views')).map(({ name }: { name: string }) => name)
  assert.deepEqual(left, ['Failed today', 'Kept'])
})

test('a saved view that a single request would refuse is reported, and the others are saved', async () => {
  const target = await newWorkspace()
  const good = { id: 'view_1', list: 'contacts', name: 'Good', query: '' }
  const lines = [
    good,
    { ...good, list: 'nothing' },
    { ...good, name: 'x'.repeat(300) },
    { ...good, query: 7 },
  ]
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\nnot JSON\n`
  const done = await imported(target, archiveOf({ 'saved_views-0001.ndjson': text }))
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 1, 4])
  const many = Array.from({ length: 201 }, (_, n) => JSON.stringify({ ...good, name: `View ${n}` })).join(
    '\n',
  )
  const full = await imported(target, archiveOf({ 'saved_views-0001.ndjson': many }))
  assert.deepEqual([full.status, full.created, full.failed], ['succeeded', 199, 2])
  const errors = (await target.call('GET', `/api/v1/imports/${full.id}/errors`)).text
  assert.match(errors, /A workspace has at most 200 shared views/)
})
