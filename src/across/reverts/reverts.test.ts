// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connectAssistant } from '../../../test/assistant.ts'
import { callOf, client, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'

const rapport = useRapport()
const call = callOf(rapport)
const assistant = () => connectAssistant(rapport)

async function keyWith(scopes: string[]): Promise<string> {
  return (await call('POST', '/api/v1/keys', { name: 'Assistant', scopes })).body.data.token
}

describe('the changes of a session', () => {
  test('are one group in the audit log, and are reverted as one', async () => {
    const { use, close } = await assistant()
    const kept = await call('POST', '/api/v1/contacts', {
      first_name: 'Ana',
      last_name: 'Ruiz',
      phone: '+1',
      tags: ['lead'],
    })
    const { id } = kept.body.data
    const gone = (await call('POST', '/api/v1/companies', { name: 'Gone' })).body.data
    const deal = (await call('POST', '/api/v1/deals', { name: 'Signs' })).body.data
    const { change_group } = await use('update_contact', { id, phone: '+2', tags: ['lead', 'vip'] })
    await use('update_contact', { id, phone: '+3' })
    await use('delete_company', { id: gone.id })
    const made = await use('create_company', { name: 'Made' })
    const note = await use('add_deal_note', { id: deal.id, body: 'Decides in May' })
    await use('change_deal_stage', { id: deal.id, stage: 'proposal' })
    assert.equal(made.change_group, change_group)
    const { body: log } = await call('GET', '/api/v1/audit-log?per_page=6')
    assert.deepEqual(
      log.data.map((entry: { group_id: string | null }) => entry.group_id),
      Array(6).fill(change_group),
    )
    const reply = await call('POST', `/api/v1/audit-log/groups/${change_group}/revert`)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([reply.body.data.restored, reply.body.data.left], [5, []])
    const { body: after } = await call('GET', '/api/v1/audit-log?per_page=1')
    assert.equal(after.data[0].request_id, reply.headers.get('x-request-id'))
    const { phone, tags } = (await call('GET', `/api/v1/contacts/${id}`)).body.data
    assert.deepEqual([phone, tags], ['+1', ['lead']])
    assert.equal((await call('GET', `/api/v1/companies/${gone.id}`)).status, 200)
    assert.equal((await call('GET', `/api/v1/companies/${made.data.id}`)).status, 404)
    assert.equal((await call('GET', `/api/v1/deals/${deal.id}`)).body.data.stage, deal.stage)
    const note_path = `/api/v1/deals/${deal.id}/notes/${note.data.id}`
    assert.equal((await call('GET', note_path)).status, 404)
    // The revert is a group itself.
    const again = await call('POST', `/api/v1/audit-log/groups/${reply.body.data.group_id}/revert`)
    assert.equal(again.body.data.restored, 5)
    assert.equal((await call('GET', note_path)).body.data.body, 'Decides in May')
    assert.equal((await call('GET', `/api/v1/contacts/${id}`)).body.data.phone, '+3')
    await close()
  })

  test('are reverted with the custom fields that they added, changed and removed', async () => {
    const { use, close } = await assistant()
    const before = { kept: 'a', changed: 'a', removed: 1 }
    const company = { name: 'Okafor & Sons', custom_fields: before }
    const { id } = (await call('POST', '/api/v1/companies', company)).body.data
    const change_group = `grp_${'d'.repeat(32)}`
    for (const custom_fields of [
      { changed: 'b', removed: null, added: 1 },
      { removed: 2, later: true },
    ])
      await use('update_company', { id, custom_fields, change_group })
    const shown = async () => (await call('GET', `/api/v1/companies/${id}`)).body.data.custom_fields
    const after = await shown()
    const { data } = await use('revert_changes', { group_id: change_group })
    assert.deepEqual([data.restored, data.left], [1, []])
    assert.deepEqual(await shown(), before)
    await use('revert_changes', { group_id: data.group_id })
    assert.deepEqual(await shown(), after)
    await close()
  })

  test('are reverted without a default probability that becomes the own one of the deal', async () => {
    const { use, close } = await assistant()
    const change_group = `grp_${'9'.repeat(32)}`
    const deals: Record<string, unknown>[] = [{}, { probability: 33 }, { probability: 0, stage: 'proposal' }]
    const ids = await Promise.all(
      deals.map(
        async (more) => (await call('POST', '/api/v1/deals', { name: 'Chairs', ...more })).body.data.id,
      ),
    )
    const [follows, own, lost] = ids
    await use('change_deal_stage', { id: follows, stage: 'demo', change_group })
    await use('change_deal_stage', { id: own, stage: 'demo', probability: 50, change_group })
    // A lost deal shows 0, which is also the value to put back.
    await use('update_deal', { id: lost, probability: 30, change_group })
    await use('change_deal_stage', { id: lost, stage: 'lost', lost_reason: 'Price', change_group })
    const { data } = await use('revert_changes', { group_id: change_group })
    assert.deepEqual([data.restored, data.left], [3, []])
    const shown = async () =>
      Promise.all(ids.map(async (id) => (await call('GET', `/api/v1/deals/${id}`)).body.data.probability))
    assert.deepEqual(await shown(), [10, 33, 0])
    for (const id of ids) await call('PUT', `/api/v1/deals/${id}`, { stage: 'proposal' })
    assert.deepEqual(await shown(), [60, 33, 0])
    await close()
  })

  test('are reverted by several requests at once: each answers as a repeated one does', async () => {
    const { use, close } = await assistant()
    for (let round = 0; round < 5; round++) {
      const change_group = `grp_${String(round).repeat(8).padEnd(32, 'e')}`
      const kept = await Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          const { data } = (await call('POST', '/api/v1/companies', { name: `Acme ${n}` })).body
          return data.id as number
        }),
      )
      for (const [n, id] of kept.entries())
        if (n % 3 === 0) await use('delete_company', { id, change_group })
        else await use('update_company', { id, name: `Other ${n}`, change_group })
      for (let n = 0; n < 4; n++) await use('create_company', { name: `Made ${n}`, change_group })
      const revert = () => call('POST', `/api/v1/audit-log/groups/${change_group}/revert`)
      for (const { body } of await Promise.all([revert(), revert(), revert()]))
        assert.deepEqual([body.data?.restored, body.data?.left], [12, []])
      for (const [n, id] of kept.entries())
        assert.equal((await call('GET', `/api/v1/companies/${id}`)).body.data.name, `Acme ${n}`)
    }
    await close()
  })

  test('are tried to be reverted with dry_run: the same answer, and nothing changes', async () => {
    const { use, close } = await assistant()
    const [kept, gone, contested] = await Promise.all(
      ['Kept', 'Gone', 'Contested'].map(
        async (name) => (await call('POST', '/api/v1/companies', { name })).body.data.id,
      ),
    )
    const change_group = `grp_${'f'.repeat(32)}`
    await use('create_company', { name: 'Made', change_group })
    for (const id of [kept, gone, contested])
      await use('update_company', { id, name: 'Renamed', change_group })
    await use('delete_company', { id: gone, change_group })
    await call('PUT', `/api/v1/companies/${contested}`, { phone: '+49' })
    const log = async () => (await call('GET', '/api/v1/audit-log?per_page=1')).body.data
    const before = await log()
    const tried = await use('revert_changes', { group_id: change_group, dry_run: true })
    assert.deepEqual([tried.isError, tried.dry_run], [false, true])
    assert.deepEqual(await log(), before)
    const { data } = await use('revert_changes', { group_id: change_group })
    assert.deepEqual([data.restored, data.left], [tried.data.restored, tried.data.left])
    assert.deepEqual(data.left, [{ kind: 'companies', id: contested, reason: 'changed_since' }])
    await close()
  })

  test('stay where somebody changed the record between two of them', async () => {
    const { use, close } = await assistant()
    const { id } = (await call('POST', '/api/v1/companies', { name: 'Contested', phone: '+0' })).body.data
    const change_group = `grp_${'e'.repeat(32)}`
    await use('update_company', { id, phone: '+1', change_group })
    await call('PUT', `/api/v1/companies/${id}`, { phone: '+49' })
    await use('update_company', { id, industry: 'Retail', change_group })
    const { data } = await use('revert_changes', { group_id: change_group })
    assert.deepEqual(data.left, [{ kind: 'companies', id, reason: 'changed_since' }])
    const { phone, industry } = (await call('GET', `/api/v1/companies/${id}`)).body.data
    assert.deepEqual([phone, industry], ['+49', 'Retail'])
    await close()
  })

  test('that restored a record are taken back: the record is in the trash again', async () => {
    const { use, close } = await assistant()
    const { id } = (await call('POST', '/api/v1/companies', { name: 'Trashed' })).body.data
    await call('DELETE', `/api/v1/companies/${id}`)
    const { change_group } = await use('restore_company', { id, change_group: `grp_${'b'.repeat(32)}` })
    await use('update_company', { id, name: 'Renamed', change_group })
    const { body } = await call('POST', `/api/v1/audit-log/groups/${change_group}/revert`)
    assert.deepEqual([body.data.restored, body.data.left], [1, []])
    assert.equal((await call('GET', `/api/v1/companies/${id}`)).status, 404)
    // The revert of the revert.
    await call('POST', `/api/v1/audit-log/groups/${body.data.group_id}/revert`)
    assert.equal((await call('GET', `/api/v1/companies/${id}`)).body.data.name, 'Renamed')
    await close()
  })

  test('that were changed later by somebody stay, with the reason; an unknown group is 404', async () => {
    const { use, close } = await assistant()
    const { data, change_group } = await use('create_company', { name: 'Contested' })
    const { id } = data
    await call('PUT', `/api/v1/companies/${id}`, { phone: '+49' })
    const { data: reverted } = await use('revert_changes', { group_id: change_group })
    assert.ok(
      reverted.left.some(
        (one: object) =>
          JSON.stringify(one) === JSON.stringify({ kind: 'companies', id, reason: 'changed_since' }),
      ),
    )
    assert.equal((await call('GET', `/api/v1/companies/${id}`)).status, 200)
    assert.equal((await call('POST', '/api/v1/audit-log/groups/grp_unknown/revert')).status, 404)
    const limited = client(rapport.url, await keyWith(['companies:read', 'companies:write']))
    const own = await limited('POST', '/api/v1/companies', { name: 'Own' })
    assert.equal(own.status, 201)
    await close()
  })

  test('that are reverted while somebody changes the record never undo that change', async () => {
    const { use, close } = await assistant()
    const { id } = (await call('POST', '/api/v1/companies', { name: 'Contested', phone: '+0' })).body.data
    for (let round = 1; round <= 10; round++) {
      const change_group = `grp_${String(round).padStart(32, '0')}`
      await use('update_company', { id, phone: `+${round}`, change_group })
      const mine = `+49 ${round}`
      const revert = call('POST', `/api/v1/audit-log/groups/${change_group}/revert`)
      // The change comes before, during or after the revert.
      for (let turns = round % 5; turns > 0; turns--) await call('GET', '/api/v1')
      const changed = await call('PUT', `/api/v1/companies/${id}`, { phone: mine })
      assert.equal(changed.status, 200, changed.text)
      assert.equal((await revert).status, 200)
      assert.equal((await call('GET', `/api/v1/companies/${id}`)).body.data.phone, mine)
    }
    await close()
  })

  test('of kinds that the caller may not read stay, and the answer does not name them', async () => {
    const { use, close } = await assistant()
    const change_group = `grp_${'c'.repeat(32)}`
    const deal = await use('create_deal', { name: 'Not for everybody', change_group })
    const company = await use('create_company', { name: 'For everybody', change_group })
    const gone = await use('create_company', { name: 'Gone already', change_group })
    await use('delete_company', { id: gone.data.id, change_group })
    const limited = client(rapport.url, await keyWith(['companies:read', 'companies:write']))
    const { body } = await limited('POST', `/api/v1/audit-log/groups/${change_group}/revert`)
    assert.deepEqual([body.data.restored, body.data.left], [2, []])
    assert.equal((await call('GET', `/api/v1/companies/${company.data.id}`)).status, 404)
    assert.equal((await call('GET', `/api/v1/deals/${deal.data.id}`)).status, 200)
    await close()
  })

  test('stay as a whole where a request of their revert is refused', async (t) => {
    const clock = turnableClock()
    const slow = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: '2' } })
    t.after(slow.close)
    const max_requests = 4
    /** Calls when as many requests are left. */
    const callWith = async (requests: number, method: string, path: string, body?: object) => {
      clock.advance(2000)
      for (let n = requests; n < max_requests; n++) await slow.call('GET', '/api/v1/companies')
      return (await slow.call(method, `/api/v1${path}`, body)).body.data
    }
    const { use, close } = await connectAssistant(slow)
    const reasons: string[] = []
    for (let requests = 1; requests <= max_requests; requests++) {
      const { id } = await callWith(max_requests, 'POST', '/deals', { name: 'Chairs', probability: 33 })
      const change_group = `grp_${String(requests).padStart(32, '0')}`
      clock.advance(2000)
      await use('change_deal_stage', { id, stage: 'demo', probability: 50, change_group })
      const { restored, left } = await callWith(requests, 'POST', `/audit-log/groups/${change_group}/revert`)
      const { stage, probability } = await callWith(max_requests, 'GET', `/deals/${id}`)
      assert.deepEqual([stage, probability], restored ? ['new_lead', 33] : ['demo', 50])
      reasons.push(restored ? 'restored' : left[0].reason)
    }
    assert.deepEqual(reasons, ['rate_limited', 'rate_limited', 'rate_limited', 'restored'])
    await close()
  })

  test('stay as a whole where a deleted record cannot get its old values back', async () => {
    const { use, close } = await assistant()
    const company_id = (await call('POST', '/api/v1/companies', { name: 'Goes first' })).body.data.id
    const contact = { first_name: 'Ana', last_name: 'Ruiz', company_id }
    const { id } = (await call('POST', '/api/v1/contacts', contact)).body.data
    const deal = (await call('POST', '/api/v1/deals', { name: 'Seats', company_id })).body.data.id
    const change_group = `grp_${'8'.repeat(32)}`
    await use('update_contact', { id, company_id: null, change_group })
    await use('delete_contact', { id, change_group })
    await use('update_deal', { id: deal, company_id: null, probability: 50, change_group })
    await use('delete_deal', { id: deal, change_group })
    await call('DELETE', `/api/v1/companies/${company_id}`)
    const newest = async (list: string) => (await call('GET', `/api/v1/${list}per_page=1`)).body.data[0].id
    const written = async () => [await newest('audit-log?'), await newest('events?sort=-timestamp&')]
    const before = await written()
    const { data } = await use('revert_changes', { group_id: change_group })
    assert.equal(data.restored, 0)
    assert.deepEqual(await written(), before)
    const left = [
      { kind: 'contacts', id, reason: 'not_found' },
      { kind: 'deals', id: deal, reason: 'not_found' },
    ]
    assert.deepEqual(data.left.toSorted(byKind), left)
    for (const one of left)
      assert.equal((await call('GET', `/api/v1/${one.kind}/${one.id}`)).status, 404, 'it is in the trash')
    await close()
  })

  test('may be named, so that two assistants with one key have two groups', async () => {
    const [one, two] = [await assistant(), await assistant()]
    const change_group = `grp_${'a'.repeat(32)}`
    const first = await one.use('create_company', { name: 'One', change_group })
    assert.equal(first.change_group, change_group)
    assert.notEqual((await two.use('create_company', { name: 'Two' })).change_group, change_group)
    assert.equal((await one.use('create_company', { name: 'One', change_group: 'mine' })).isError, true)
    await one.close()
    await two.close()
  })
})

const byKind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1)
