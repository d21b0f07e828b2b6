// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dataOf } from '../../../test/envelope.ts'
import { callOf, type Reply, useRapport } from '../../../test/harness.ts'
import { unlessBusy } from '../../../test/webhooks.ts'

const rapport = useRapport({ roles: ['api'] })
const call = callOf(rapport)

const path = '/api/v1/contacts'
const name = { first_name: 'Ana', last_name: 'Ruiz' }

const send = (items: unknown, more: object = {}) => call('POST', `${path}/batch`, { items, ...more })
const each = (items: unknown) => send(items, { atomic: false })
const results = async (reply: Reply | Promise<Reply>) => dataOf(await reply, 200)
async function fields(reply: Reply | Promise<Reply>) {
  const { status, body, text } = await reply
  assert.equal(status, 422, text)
  return Object.fromEntries(body.error.fields.map((one: Record<string, string>) => [one.field, one.code]))
}
const made = async (body: object = {}) => dataOf(await call('POST', path, { ...name, ...body }), 201)

describe('an upsert', () => {
  const upsert = (data: object, match = 'email') => ({ op: 'upsert', match, data })

  test('changes the one match, creates without one, and fails with several', async () => {
    const { id } = await made({ email: 'Match@acme.example' })
    for (const _ of [1, 2]) await made({ email: 'twice@acme.example' })
    const data = await results(
      each([
        upsert({ email: 'match@ACME.example', title: 'Head' }),
        upsert({ ...name, email: 'fresh@acme.example' }),
        upsert({ ...name, email: 'twice@acme.example' }),
      ]),
    )
    assert.deepEqual(
      data.map(({ status }: { status: string }) => status),
      ['updated', 'created', 'failed'],
    )
    assert.equal(data[0].id, id)
    assert.deepEqual(
      [data[2].error.code, data[2].error.fields[0].field, data[2].error.fields[0].code],
      ['validation_failed', 'email', 'ambiguous'],
    )
    assert.deepEqual(await fields(send([upsert({ ...name, email: 'twice@acme.example' })])), {
      'items[0].data.email': 'ambiguous',
    })
  })

  test('adds its tags to those of the record, or replaces them with tags=replace; an update replaces them', async () => {
    const { id } = await made({ email: 'tags@acme.example', tags: ['a', 'Café'] })
    const tags = async () => dataOf(await call('GET', `${path}/${id}`), 200).tags
    const item = upsert({ email: 'tags@acme.example', tags: ['b', 'Cafe\u0301', 'a'] })
    await results(send([item]))
    assert.deepEqual(await tags(), ['a', 'Café', 'b'])
    const [again] = await results(send([item, upsert({ email: 'tags@acme.example', tags: [] })]))
    assert.equal(again.status, 'unchanged')
    assert.deepEqual(await tags(), ['a', 'Café', 'b'])
    const many = Array.from({ length: 48 }, (_, n) => `t${n}`)
    assert.deepEqual(await fields(send([upsert({ email: 'tags@acme.example', tags: many })])), {
      'items[0].data.tags': 'too_many',
    })
    const replacing = { items: [upsert({ email: 'tags@acme.example', tags: ['c'] })] }
    await results(call('POST', `${path}/batch?tags=replace`, replacing))
    assert.deepEqual(await tags(), ['c'])
    await results(send([{ op: 'update', id, data: { tags: ['d'] } }]))
    assert.deepEqual(await tags(), ['d'])
  })

  test('ignores records in the trash', async () => {
    const { id } = await made({ email: 'gone@acme.example' })
    await call('DELETE', `${path}/${id}`)
    const [result] = await results(send([upsert({ ...name, email: 'gone@acme.example' })]))
    assert.equal(result.status, 'created')
  })

  test('needs a value to match, and a field that can be matched', async () => {
    const found = await fields(
      send([
        upsert(name),
        upsert({ ...name, email: null }),
        upsert({ ...name, email: 'nobody' }),
        upsert({ email: 'absent@acme.example' }),
        upsert(name, 'phone'),
        upsert(name, 'custom_fields.region'),
        { op: 'upsert', data: name },
      ]),
    )
    assert.deepEqual(found, {
      'items[0].data.email': 'required',
      'items[1].data.email': 'required',
      'items[2].data.email': 'invalid_format',
      'items[3].data.first_name': 'required',
      'items[3].data.last_name': 'required',
      'items[4].match': 'unknown_value',
      'items[5].match': 'not_unique',
      'items[6].match': 'required',
    })
  })

  test('takes no if_match, because it may create the record', async () => {
    const reply = await send([{ ...upsert({ ...name, email: 'match@acme.example' }), if_match: '"a"' }])
    assert.deepEqual(await fields(reply), { 'items[0].if_match': 'unknown_field' })
    assert.match(reply.text, /if_match is not possible with upsert.*Send an update with its id/)
  })

  test('of one new e-mail address, 50 at the same time make one contact', async () => {
    const email = 'race@acme.example'
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        unlessBusy(() =>
          send([
            upsert({ ...name, email: `other${n}@acme.example` }),
            upsert({ ...name, email, phone: `${n}` }),
          ]),
        ),
      ),
    )
    const answers = await Promise.all(all.map(results))
    assert.equal(new Set(answers.map(([, { id }]) => id)).size, 1)
    const created = answers.filter(([, { status }]) => status === 'created')
    assert.equal(created.length, 1)
    assert.equal((await call('GET', `${path}?search=race@acme`)).body.meta.total, 1)
  })

  test('matches companies by their name without case, or their website, and deals by their name', async () => {
    const at = async (resource: string, items: unknown[]) =>
      results(call('POST', `/api/v1/${resource}/batch`, { items }))
    const company = { name: 'Ünïted Straße', website: 'https://united.example' }
    const companies = await at('companies', [
      upsert(company, 'name'),
      upsert({ name: 'ÜNÏTED straße', phone: '1' }, 'name'),
      upsert({ name: 'United Strasse' }, 'name'),
      upsert({ website: 'HTTPS://United.example', phone: '2' }, 'website'),
      upsert({ website: 'https://united.example/', phone: '3' }, 'website'),
      upsert({ website: 'https://united.Example', phone: '4' }, 'website'),
      upsert({ name: 'Path', website: 'https://united.example/path' }, 'website'),
    ])
    assert.deepEqual(
      companies.map(({ status }: { status: string }) => status),
      ['created', 'updated', 'created', 'updated', 'updated', 'updated', 'created'],
    )
    for (const { id } of companies.slice(3, 6)) assert.equal(id, companies[0].id)
    const race = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        at('companies', [
          upsert({ name: 'Race', website: `https://race.example${n % 2 ? '/' : ''}` }, 'website'),
        ]),
      ),
    )
    assert.equal(new Set(race.map(([{ id }]) => id)).size, 1)
    const deals = await at('deals', [
      upsert({ name: 'Desks' }, 'name'),
      upsert({ name: 'desks', value: 5 }, 'name'),
    ])
    assert.equal(deals[1].id, deals[0].id)
    const activities = call('POST', '/api/v1/activities/batch', {
      items: [upsert({ subject: 'Call' }, 'subject')],
    })
    assert.deepEqual(await fields(activities), { 'items[0].match': 'unknown_value' })
  })
})
