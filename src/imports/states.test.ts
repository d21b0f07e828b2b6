import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { importsOf } from '../../test/imports.ts'

// States of records that exist, as files tell them.

const rapport = useRapport()

const { detailsOf, run } = importsOf(rapport)
const updating = { resource: 'deals', on_match: 'update', match: 'name' }
const undo = async (id: string) => dataOf(await rapport.call('POST', `/api/v1/imports/${id}/undo`))
type Column = { header: string; reasons: object }
const reasonsOf = ({ columns }: { columns: Column[] }) =>
  Object.fromEntries(columns.map(({ header, reasons }) => [header, reasons]))

test('the undo of another stage gives a closed deal its time of closing back', async () => {
  await run({ resource: 'deals' }, ['name,stage,closed_at', 'Closed before,won,2024-01-02T03:04:05Z'])
  const before = await detailsOf('deals', 'Closed before')
  for (const row of ['Closed before,lost,Price', 'Closed before,demo,']) {
    const { id, updated } = await run(updating, ['name,stage,lost_reason', row])
    assert.equal(updated, 1)
    assert.deepEqual(await undo(id), { restored: 1, left: [] })
    const { stage, closed_at } = await detailsOf('deals', 'Closed before')
    assert.deepEqual([stage, closed_at], ['won', before.closed_at])
  }
})

test('the undo of another stage gives a deal back that was lost without a reason', async () => {
  await run({ resource: 'deals' }, ['name,stage', 'Lost before,lost'])
  const { id, updated } = await run(updating, ['name,stage', 'Lost before,won'])
  assert.equal(updated, 1)
  assert.deepEqual(await undo(id), { restored: 1, left: [] })
  const { stage, lost_reason } = await detailsOf('deals', 'Lost before')
  assert.deepEqual([stage, lost_reason], ['lost', null])
  const reasoned = await run(updating, ['name,stage,lost_reason', 'Lost before,lost,Price'])
  assert.equal((await detailsOf('deals', 'Lost before')).lost_reason, 'Price')
  assert.deepEqual(await undo(reasoned.id), { restored: 1, left: [] })
  assert.equal((await detailsOf('deals', 'Lost before')).lost_reason, null)
  const again = await run(updating, ['name,stage', 'Lost before,demo', 'Lost before,lost'])
  assert.deepEqual(again.reported, [[3, 'lost_reason', 'required']])
})

test('a file tells when a deal closed that is closed already, and an undo puts its own time back', async () => {
  await rapport.call('POST', '/api/v1/deals', { name: 'Closed here', stage: 'won' })
  const before = await detailsOf('deals', 'Closed here')
  const done = await run({ ...updating, time_zone: 'Europe/Berlin' }, [
    'name,status,won time',
    'Closed here,won,2024-05-13 14:30',
  ])
  assert.deepEqual([done.updated, done.reported], [1, []])
  assert.equal((await detailsOf('deals', 'Closed here')).closed_at, '2024-05-13T12:30:00.000Z')
  assert.deepEqual(await undo(done.id), { restored: 1, left: [] })
  assert.equal((await detailsOf('deals', 'Closed here')).closed_at, before.closed_at)
})

test('a day alone is when a deal closed that closes by the row, and replaces no time', async () => {
  const lines = ['name,stage,Close Date', 'Closed on a day,won,2024-05-13']
  await run(updating, lines)
  assert.equal((await detailsOf('deals', 'Closed on a day')).closed_at, '2024-05-13T00:00:00.000Z')
  await run(updating, ['name,stage,closed_at', 'Closed on a day,won,2024-05-13T14:30:00Z'])
  await run(updating, lines)
  for (const header of ['Won time', 'closed_at', 'Close Date'])
    for (const day of ['2024-05-13', '2024-05-13 00:00:00.000'])
      await run({ ...updating, time_zone: 'Europe/Berlin' }, [
        `name,stage,${header}`,
        `Closed on a day,won,${day}`,
      ])
  const { closed_at, expected_close_date } = await detailsOf('deals', 'Closed on a day')
  assert.deepEqual([closed_at, expected_close_date], ['2024-05-13T14:30:00.000Z', '2024-05-13'])
})

test('a time at which a deal closed that cannot be read is an error of its row', async () => {
  const rows = ['Empty day,won,0000-00-00 00:00:00', 'No year,won,14 May']
  const { created, reported } = await run({ resource: 'deals' }, ['name,stage,won time', ...rows])
  assert.equal(created, 0)
  assert.deepEqual(
    reported.map(([row]: [number]) => row),
    [2, 3],
  )
})

test('a row that calls a closed deal open is an error unless it has the stage to which the deal goes back', async () => {
  for (const name of ['Open again 1', 'Open again 2'])
    await rapport.call('POST', '/api/v1/deals', { name, stage: 'won' })
  const done = await run(updating, [
    'name,status,stage',
    'Open again 1,open,',
    'Open again 2,open,demo',
    'Open anew,open,',
  ])
  assert.deepEqual([done.created, done.updated, done.reported], [1, 1, [[2, 'status', 'not_allowed']]])
  const states = await Promise.all(['1', '2'].map((n) => detailsOf('deals', `Open again ${n}`)))
  assert.deepEqual(
    states.map(({ stage }) => stage),
    ['won', 'demo'],
  )
})

test('of several times at which a deal closed, one counts, and the account names the others', async () => {
  const done = await run({ resource: 'deals', rest: 'custom_fields' }, [
    'name,stage,closed_at,won time,expected close date,close date',
    'Several times,won,2024-05-14T09:00:00Z,2024-05-13T14:30:00Z,2024-06-01,2024-05-20',
  ])
  assert.deepEqual(done.reported, [])
  const { closed_at, expected_close_date, custom_fields } = await detailsOf('deals', 'Several times')
  assert.deepEqual([closed_at, expected_close_date], ['2024-05-14T09:00:00.000Z', '2024-06-01'])
  assert.deepEqual(custom_fields, { 'won time': '2024-05-13T14:30:00Z', 'close date': '2024-05-20' })
  const later = await run({ resource: 'deals' }, [
    'name,stage,expected close date,close date',
    'In the future,won,2024-06-01,2099-05-20',
  ])
  assert.deepEqual(reasonsOf(later)['close date'], { other_value: 1 })
})

test('an activity that a file calls not done is open again, and a day with a time of its own keeps it', async () => {
  const field = { resource: 'activities', key: 'ref', label: 'Ref', type: 'text', unique: true }
  await rapport.call('POST', '/api/v1/custom-fields', field)
  await run({ resource: 'activities' }, [
    'subject,ref,due_at,completed_at',
    'Done before,d1,2026-01-02T10:00:00Z,2026-01-02T11:00:00Z',
  ])
  const done = await run({ resource: 'activities', on_match: 'update', match: 'custom_fields.ref' }, [
    'ref,subject,done,due date,due time',
    'd1,Done before,no,,',
    'd2,Two times,no,31.12.2026 14:30,15:00',
    'd3,One time,no,31.12.2026 00:00,15:00',
    'd4,Midnight,no,2026-12-31 00:00:00.000,15:00',
  ])
  assert.deepEqual([done.created, done.updated, done.reported], [3, 1, []])
  const { completed_at } = await detailsOf('activities', 'Done before')
  assert.equal(completed_at, null)
  const due = await Promise.all(
    ['Two times', 'One time', 'Midnight'].map((one) => detailsOf('activities', one)),
  )
  assert.deepEqual(
    due.map(({ due_at }) => due_at),
    ['2026-12-31T14:30:00.000Z', '2026-12-31T15:00:00.000Z', '2026-12-31T15:00:00.000Z'],
  )
  assert.deepEqual(reasonsOf(done)['due time'], { other_value: 1 })
  await undo(done.id)
  assert.equal((await detailsOf('activities', 'Done before')).completed_at, '2026-01-02T11:00:00.000Z')
})
