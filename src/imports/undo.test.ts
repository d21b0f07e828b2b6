// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, refused } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { ended, importFile, upload } from '../../test/imports.ts'
import { beside, makeKey } from '../../test/keys.ts'
import { until } from '../../test/webhooks.ts'
import { transaction } from '../db/db.ts'

const rapport = useRapport()

const data = async (method: string, path: string, body?: object) =>
  dataOf(await rapport.call(method, `/api/v1/${path}`, body))
const without = (record: Record<string, unknown>) => {
  const { updated_at, updated_by, ...rest } = record
  return rest
}

test('undo removes what an import made, puts back what it changed, and leaves what was changed since', async () => {
  const old = await data('POST', 'contacts', {
    first_name: 'Ana',
    last_name: 'Old',
    email: 'ana@old.example',
    phone: '1',
    tags: ['a'],
    custom_fields: { region: 'EMEA', size: 5 },
  })
  const touched = await data('POST', 'contacts', {
    first_name: 'To',
    last_name: 'Touch',
    email: 'to@old.example',
  })
  const file = [
    'email,first_name,last_name,phone,company,tags,custom_fields.region,custom_fields.colour',
    'ana@old.example,Anna,Old,2,Undo Ltd,b,US,red',
    'ana@old.example,Annika,Old,3,,,,',
    'to@old.example,To,Touch,7,,,,',
    'new@old.example,New,One,,Undo Ltd,,,',
    'kept@old.example,Kept,One,,Kept Ltd,,,',
    'used@old.example,Used,One,,,,,',
  ].join('\n')
  const done = await importFile(rapport, { resource: 'contacts', on_match: 'update' }, file)
  assert.deepEqual([done.created, done.updated, done.failed], [3, 3, 0])
  await data('PUT', `contacts/${touched.id}`, { phone: '8' })
  const [kept] = await data('GET', 'contacts?search=kept')
  await data('PUT', `contacts/${kept.id}`, { phone: '9' })
  const [used] = await data('GET', 'contacts?search=used')
  await data('POST', 'deals', { name: 'Uses it', contact_id: used.id })
  const { restored, left } = await data('POST', `imports/${done.id}/undo`)
  const by_id = (a: { id: number }, b: { id: number }) => a.id - b.id
  // Ana, the new contact and its company.
  assert.equal(restored, 3)
  assert.deepEqual(
    left.filter(({ kind }: { kind: string }) => kind === 'contacts').sort(by_id),
    [
      { kind: 'contacts', id: touched.id, reason: 'changed' },
      { kind: 'contacts', id: kept.id, reason: 'changed' },
      { kind: 'contacts', id: used.id, reason: 'in_use' },
    ].sort(by_id),
  )
  assert.deepEqual(left.filter(({ kind }: { kind: string }) => kind === 'companies').length, 1)
  assert.deepEqual(without(await data('GET', `contacts/${old.id}`)), without(old))
  assert.deepEqual(await data('GET', 'contacts?search=new@old.example'), [])
  assert.deepEqual(await data('GET', 'companies?search=undo'), [])
  assert.equal((await data('GET', 'companies?search=kept')).length, 1)
  assert.equal((await data('GET', `imports/${done.id}`)).status, 'undone')
  assert.deepEqual(await data('POST', `imports/${done.id}/undo`), { restored, left })
  const entries = await data('GET', 'audit-log?kind=imports&per_page=2')
  assert.deepEqual(
    entries.map(({ action, actor, record_id }: Record<string, { kind: string }>) => [
      action,
      actor?.kind,
      record_id,
    ]),
    [
      ['undone', 'key', done.id],
      ['imported', 'key', done.id],
    ],
  )
  assert.equal(entries[1].after.created, 3)
})

test('undo takes away the tags that the import added, and no tag that somebody added since', async () => {
  const make = async (email: string) =>
    data('POST', 'contacts', { first_name: 'T', last_name: 'Ag', email, tags: ['a', 'Café'] })
  const [tagged, changed] = [await make('tag@undo.example'), await make('change@undo.example')]
  const rows = ['tag', 'change', 'tag'].map(
    (name, n) => `${name}@undo.example,Title,"b;Cafe\u0301;${n ? 'd' : 'a'}"`,
  )
  const file = ['email,title,tags', ...rows].join('\n')
  const done = await importFile(rapport, { resource: 'contacts', on_match: 'update', match: 'email' }, file)
  assert.equal(done.failed, 0)
  const tagsOf = async (id: number) => (await data('GET', `contacts/${id}`)).tags
  assert.deepEqual(await tagsOf(tagged.id), ['a', 'Café', 'b', 'd'])
  for (const { id } of [tagged, changed])
    await data('PUT', `contacts/${id}`, { tags: [...(await tagsOf(id)), 'c'] })
  await data('PUT', `contacts/${changed.id}`, { phone: '1' })
  const { restored, left } = await data('POST', `imports/${done.id}/undo`)
  assert.deepEqual([restored, left], [1, [{ kind: 'contacts', id: changed.id, reason: 'changed' }]])
  assert.deepEqual(await tagsOf(tagged.id), ['a', 'Café', 'c'])
  assert.equal((await data('GET', `contacts/${tagged.id}`)).title, null)
  assert.deepEqual(await tagsOf(changed.id), ['a', 'Café', 'b', 'd', 'c'])
})

test('an import adds tags to those of the record, or replaces them with tags=replace; undo puts them back', async () => {
  const { id } = await data('POST', 'contacts', {
    first_name: 'T',
    last_name: 'Ag',
    email: 'r@undo.example',
    tags: ['a'],
  })
  const tags = async () => (await data('GET', `contacts/${id}`)).tags
  const query = { resource: 'contacts', on_match: 'update', match: 'email' }
  await importFile(rapport, query, 'email,tags\nr@undo.example,b\n')
  assert.deepEqual(await tags(), ['a', 'b'])
  await importFile(rapport, query, 'email,tags\nr@undo.example,\n')
  assert.deepEqual(await tags(), ['a', 'b'])
  const done = await importFile(rapport, { ...query, tags: 'replace' }, 'email,tags\nr@undo.example,b;c\n')
  assert.equal(done.options.tags, 'replace')
  assert.deepEqual(await tags(), ['b', 'c'])
  await data('POST', `imports/${done.id}/undo`)
  assert.deepEqual(await tags(), ['a', 'b'])
})

test('undo leaves a record that an import made and others were merged into', async () => {
  const old = await data('POST', 'contacts', { first_name: 'Ana', last_name: 'Twice' })
  const { id } = await importFile(rapport, { resource: 'contacts' }, 'first_name,last_name\nAna,Twice\n')
  const [survivor] = await data('GET', 'contacts?search=twice')
  await data('POST', `contacts/${survivor.id}/merge`, { from_ids: [old.id] })
  const left = [{ kind: 'contacts', id: survivor.id, reason: 'changed' }]
  assert.deepEqual(await data('POST', `imports/${id}/undo`), { restored: 0, left })
  assert.deepEqual((await data('GET', 'contacts?search=twice')).length, 1)
})

test('undo of another stage leaves the default probability a default, and puts back that of a closed deal', async () => {
  const [open, own, lost, twice, thrice, read] = await Promise.all(
    [{}, { probability: 33 }, {}, { probability: 70 }, { probability: 80 }, {}].map((more, n) =>
      data('POST', 'deals', { name: `Default ${n}`, ...more }),
    ),
  )
  await data('POST', `deals/${lost.id}/change-stage`, { stage: 'lost', lost_reason: 'Price', probability: 5 })
  const rows = [
    'Default 0,demo,',
    'Default 1,demo,50',
    'Default 2,demo,',
    'Default 3,won,',
    'Default 3,demo,',
  ]
  rows.push('Default 4,won,', 'Default 4,demo,', 'Default 4,demo,5')
  // With the probability that was read, as in a file that was exported.
  rows.push('Default 5,demo,10')
  const query = { resource: 'deals', on_match: 'update', match: 'name' }
  const { id } = await importFile(rapport, query, ['name,stage,probability', ...rows].join('\n'))
  assert.deepEqual(await data('POST', `imports/${id}/undo`), { restored: 6, left: [] })
  const shown = async () => {
    const deals = await Promise.all(
      [open, own, lost, twice, thrice, read].map((deal) => data('GET', `deals/${deal.id}`)),
    )
    return deals.map(({ stage, probability }) => `${stage} ${probability}`)
  }
  const before = ['new_lead 10', 'new_lead 33', 'lost 5', 'new_lead 70', 'new_lead 80', 'new_lead 10']
  assert.deepEqual(await shown(), before)
  for (const deal of [open, own, twice, read]) await data('PUT', `deals/${deal.id}`, { stage: 'proposal' })
  assert.deepEqual(await shown(), [
    'proposal 60',
    'proposal 33',
    'lost 5',
    'proposal 70',
    'new_lead 80',
    'proposal 60',
  ])
})

test('undo gives unique values back that the import moved from record to record', async () => {
  await data('POST', 'custom-fields', { resource: 'companies', key: 'number', type: 'text', unique: true })
  const names = Array.from({ length: 230 }, (_, n) => `Number ${String(n).padStart(3, '0')}`)
  const items = names.map((name, n) => ({ op: 'create', data: { name, custom_fields: { number: `N${n}` } } }))
  const reply = await rapport.call('POST', '/api/v1/companies/batch', { items })
  assert.equal(reply.status, 200, reply.text)
  // Each company gets the number of the next one, which has another one by then.
  const rows = names.map((name, n) => `${name},N${n + 1}`).toReversed()
  const file = ['name,custom_fields.number', ...rows].join('\n')
  const done = await importFile(rapport, { resource: 'companies', on_match: 'update', match: 'name' }, file)
  assert.deepEqual([done.updated, done.failed], [230, 0])
  assert.deepEqual(await data('POST', `imports/${done.id}/undo`), { restored: 230, left: [] })
  const { data: made } = reply.body
  const numberOf = async (n: number) => (await data('GET', `companies/${made[n].id}`)).custom_fields.number
  assert.deepEqual([await numberOf(0), await numberOf(229)], ['N0', 'N229'])

  const again = await importFile(rapport, { resource: 'companies', on_match: 'update', match: 'name' }, file)
  await data('PUT', `companies/${made[100].id}`, { custom_fields: { number: 'N999' } })
  await data('POST', 'companies', { name: 'Another', custom_fields: { number: 'N101' } })
  const { restored, left } = await data('POST', `imports/${again.id}/undo`)
  const reasons = Object.fromEntries(
    left.map(({ id, reason }: { id: number; reason: string }) => [id, reason]),
  )
  assert.deepEqual([reasons[made[100].id], reasons[made[101].id]], ['changed', 'taken'])
  assert.equal(restored + left.length, 230)
  assert.deepEqual([await numberOf(0), await numberOf(99)], ['N0', 'N99'])
})

test('undo of unique values that moved also removes a company that the import made for them', async () => {
  await data('POST', 'custom-fields', { resource: 'contacts', key: 'number', type: 'text', unique: true })
  const contact = { first_name: 'Ana', last_name: 'Moves' }
  await data('POST', 'contacts', { ...contact, email: 'to@moves.example' })
  await data('POST', 'contacts', { ...contact, email: 'from@moves.example', custom_fields: { number: '1' } })
  const rows = [
    'email,company,custom_fields.number',
    'from@moves.example,Moves,2',
    'to@moves.example,Moves,1',
  ]
  const { id } = await importFile(rapport, { resource: 'contacts', on_match: 'update' }, rows.join('\n'))
  assert.deepEqual(await data('POST', `imports/${id}/undo`), { restored: 3, left: [] })
  assert.deepEqual(await data('GET', 'companies?search=moves'), [])
})

test('undo of many records of every kind removes all of them', async () => {
  const rows = Array.from({ length: 350 }, (_, n) => `Row ${n}`).join('\n')
  for (const [resource, header] of [
    ['companies', 'name'],
    ['deals', 'name'],
    ['activities', 'subject'],
  ] as const) {
    const before = (await rapport.call('GET', `/api/v1/${resource}`)).body.meta.total
    const done = await importFile(rapport, { resource }, `${header}\n${rows}\n`)
    assert.equal(done.created, 350)
    const { restored, left } = await data('POST', `imports/${done.id}/undo`)
    assert.deepEqual([restored, left], [350, []])
    assert.equal((await rapport.call('GET', `/api/v1/${resource}`)).body.meta.total, before)
  }
})

test('a cancelled import stops, keeps what it has, and can be undone', async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => `Cancel ${n}`).join('\n')
  const { body } = await upload(rapport, '?resource=companies', `name\n${rows}\n`)
  const { id } = body.data
  refused(await rapport.call('POST', `/api/v1/imports/${id}/undo`), 409, 'conflict')
  assert.equal((await data('POST', `imports/${id}/cancel`)).status, 'cancelled')
  const { created, status, progress } = await data('GET', `imports/${id}`)
  assert.ok(progress < 1, String(progress))
  assert.equal(status, 'cancelled')
  assert.ok(created < 20_000)
  await data('POST', `imports/${id}/cancel`)
  const entries = await data('GET', 'audit-log?kind=imports&per_page=1')
  assert.deepEqual([entries[0].action, entries[0].record_id], ['cancelled', id])
  const { restored } = await data('POST', `imports/${id}/undo`)
  assert.equal(restored, created)
  assert.deepEqual(await data('GET', 'companies?search=cancel'), [])
})

test('an import whose key is revoked stops, keeps what it has, and can be undone; one that waits imports nothing', async () => {
  const rows = Array.from({ length: 50_000 }, (_, n) => `Revoked ${n}`).join('\n')
  const { id: key_id, token } = await makeKey(rapport)
  const start = async () => {
    const started = await upload({ ...rapport, key: token }, '?resource=companies', `name\n${rows}\n`)
    return started.body.data.id
  }
  const running = await start()
  const waiting = await start()
  await until(
    () => data('GET', `imports/${running}`),
    ({ created }) => created > 0,
  )
  await data('POST', `keys/${key_id}/revoke`)
  for (const id of [running, waiting]) {
    const { status, message } = await ended(rapport, id)
    assert.equal(status, 'failed')
    assert.match(message, /the API key that started it was revoked\. The imported rows are kept/)
  }
  const { created } = await data('GET', `imports/${running}`)
  assert.ok(created > 0 && created < 50_000, String(created))
  assert.equal((await data('GET', `imports/${waiting}`)).rows_read, 0)
  const { restored } = await data('POST', `imports/${running}/undo`)
  assert.equal(restored, created)
  assert.deepEqual(await data('GET', 'companies?search=revoked'), [])
})

test('an import that waits until its key has expired imports nothing', async () => {
  const file = (n: number) => `name\n${Array.from({ length: n }, (_, row) => `Expired ${row}`).join('\n')}\n`
  const { id: key_id, token } = await makeKey(rapport)
  const { body } = await upload(rapport, '?resource=companies', file(60_000))
  const waiting = await upload({ ...rapport, key: token }, '?resource=companies', file(10))
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const expires_at = '2020-01-01T00:00:00.000Z'
      await tx.updateTable('api_keys').set({ expires_at }).where('id', '=', key_id).execute()
    }),
  )
  await data('POST', `imports/${body.data.id}/cancel`)
  const { status, message, rows_read } = await ended(rapport, waiting.body.data.id)
  assert.deepEqual([status, rows_read], ['failed', 0])
  assert.match(message, /the API key that started it has expired\. The imported rows are kept/)
  await data('POST', `imports/${body.data.id}/undo`)
})

test('undo leaves a record that somebody changed between two rows of the import', async () => {
  const query = { resource: 'companies', on_match: 'update', match: 'name' }
  const first = 'name,address\nBetween Ltd,1\n'
  const { id: import_id } = await importFile(rapport, query, first)
  const [{ id }] = await data('GET', 'companies?search=between')
  await data('PUT', `companies/${id}`, { website: 'https://between.example' })
  // The process ended before the last row, and the next one continues.
  await beside(rapport.data_dir, async (db) => {
    const workspace_id = 1
    await until(
      () => db.selectFrom('import_chunks').select('number').where('import_id', '=', import_id).execute(),
      (chunks) => !chunks.length,
    )
    await transaction(db, async (tx) => {
      const content = Buffer.from(`${first}Between Ltd,2\n`)
      await tx.insertInto('import_chunks').values({ workspace_id, import_id, number: 0, content }).execute()
      const waiting = { status: 'queued', finished_at: null, lease_ends_ms: 0 } as const
      await tx.updateTable('imports').set(waiting).where('id', '=', import_id).execute()
    })
  })
  const done = await ended(rapport, import_id)
  assert.deepEqual([done.created, done.updated], [1, 1])
  assert.equal((await data('GET', `companies/${id}`)).address, '2')
  assert.deepEqual(await data('POST', `imports/${import_id}/undo`), {
    restored: 0,
    left: [{ kind: 'companies', id, reason: 'changed' }],
  })
})
