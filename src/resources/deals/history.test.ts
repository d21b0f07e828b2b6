import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const deals = '/api/v1/deals'
const day_ms = 86_400_000
const timeNow = () => new Date(clock.now()).toISOString()

async function deal(fields: object = {}): Promise<string> {
  const reply = await call('POST', deals, { name: 'Relaunch', ...fields })
  assert.equal(reply.status, 201, reply.text)
  return `${deals}/${reply.body.data.id}`
}
async function move(path: string, body: object, by = call) {
  const reply = await by('POST', `${path}/change-stage`, body)
  assert.equal(reply.status, 200, reply.text)
}
const stays = async (path: string) => (await call('GET', `${path}/stages`)).body.data

test('the stages of a deal come oldest first, with the time in each, and the current one counts until now', async () => {
  const seller = await makeKey(rapport, { name: 'Sales tool' })
  const start = timeNow()
  const path = await deal()
  clock.advance(2 * day_ms)
  const demo = timeNow()
  await move(path, { stage: 'demo' }, seller.call)
  // Neither the same stage again nor another field is a line of the history.
  await move(path, { stage: 'demo', probability: 50 })
  await call('PUT', path, { name: 'Relaunch 2' })
  clock.advance(1999)
  const lost = timeNow()
  await call('PUT', path, { stage: 'lost', lost_reason: 'Price' })
  clock.advance(60_000)
  const reply = await call('GET', `${path}/stages`)
  const first = { kind: 'key', id: reply.body.data[0].changed_by.id, name: 'First key' }
  assert.deepEqual(reply.body, {
    success: true,
    data: [
      {
        stage: 'new_lead',
        from_stage: null,
        entered_at: start,
        left_at: demo,
        duration_seconds: 172_800,
        changed_by: first,
      },
      {
        stage: 'demo',
        from_stage: 'new_lead',
        entered_at: demo,
        left_at: lost,
        duration_seconds: 1,
        changed_by: { kind: 'key', id: seller.id, name: 'Sales tool' },
      },
      {
        stage: 'lost',
        from_stage: 'demo',
        entered_at: lost,
        left_at: null,
        duration_seconds: 60,
        changed_by: first,
      },
    ],
    meta: { current_page: 1, last_page: 1, per_page: 3, total: 3 },
  })
  assert.match(first.id, /^key_/)
})

test('stages that are left and entered again are stays of their own, and no time is lost between them', async () => {
  const path = await deal({ stage: 'proposal' })
  const begun = clock.now()
  const way = ['won', 'proposal', 'negotiation', 'proposal', 'won']
  for (const [n, stage] of way.entries()) {
    clock.advance((n + 1) * 3_600_000)
    await move(path, { stage })
  }
  clock.advance(5000)
  const all = await stays(path)
  assert.deepEqual(
    all.map(({ stage }: { stage: string }) => stage),
    ['proposal', ...way],
  )
  for (const [n, stay] of all.slice(1).entries()) {
    assert.equal(stay.entered_at, all[n].left_at)
    assert.equal(stay.from_stage, all[n].stage)
  }
  const sum = all.reduce(
    (seconds: number, stay: { duration_seconds: number }) => seconds + stay.duration_seconds,
    0,
  )
  assert.equal(sum, (clock.now() - begun) / 1000)
})

test('the history is that of a live deal of the own workspace, and stays through the trash', async () => {
  const path = await deal()
  await move(path, { stage: 'demo' })
  const before = await stays(path)
  await call('DELETE', path)
  assert.equal((await call('GET', `${path}/stages`)).status, 404)
  await call('POST', `${path}/restore`)
  assert.deepEqual(await stays(path), before)
  const stranger = await newWorkspace(rapport)
  for (const other of [path, `${deals}/999999`, `${deals}/x`])
    assert.equal((await stranger('GET', `${other}/stages`)).status, 404)
  assert.equal((await call('GET', `${path}/stages?page=2`)).status, 400)
  const reader = await makeKey(rapport, { scopes: ['contacts:read'] })
  assert.equal((await reader.call('GET', `${path}/stages`)).status, 403)
})
