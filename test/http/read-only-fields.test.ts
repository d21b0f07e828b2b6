import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { callOf, useRapport } from '../harness.ts'

const rapport = useRapport()
const call = callOf(rapport)

const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
const bodies: Record<string, object> = {
  companies: { name: 'Acme' },
  contacts: { first_name: 'Ana', last_name: 'Ruiz' },
  deals: { name: 'Deal' },
  activities: { subject: 'Call' },
  appointments: { title: 'Visit', ...times },
  'booking-pages': { slug: 'page', title: 'Page', time_zone: 'UTC' },
}
const path = (name: string) => `/api/v1/${name}`

test('what GET shows can be posted as a new record: its id, its dates and all that is read-only are ignored', async () => {
  for (const [name, body] of Object.entries(bodies)) {
    const { data } = (await call('POST', path(name), body)).body
    const ids = [data.id, data.id + 1, 9_007_199_254_740_991, 0, -1, 1.5, null, 'x', {}, true]
    for (const [n, id] of ids.entries()) {
      const sent = { ...data, id, created_at: '2001-01-01T00:00:00.000Z', workspace_id: undefined }
      if (name === 'booking-pages') sent.slug = `page-${n}`
      const reply = await call('POST', path(name), sent)
      assert.equal(reply.status, 201, `${name} with id ${JSON.stringify(id)}: ${reply.text}`)
      assert.equal(reply.body.data.id, data.id + n + 1, name)
      assert.notEqual(reply.body.data.created_at, '2001-01-01T00:00:00.000Z')
    }
  }
})

test('a record of a list with names or progress can be put back, and nothing changes', async () => {
  const contact_id = (await call('POST', path('contacts'), bodies.contacts)).body.data.id
  const queries = { deals: 'progress=true', activities: 'details=true', appointments: 'details=true' }
  for (const [name, query] of Object.entries(queries)) {
    const { body } = await call('POST', path(name), { ...bodies[name], contact_id })
    const [listed] = (await call('GET', `${path(name)}?${query}&per_page=1`)).body.data
    const reply = await call('PUT', `${path(name)}/${listed.id}`, listed)
    assert.equal(reply.status, 200, `${name}: ${reply.text}`)
    assert.deepEqual(reply.body.data, body.data)
    assert.equal((await call('POST', path(name), listed)).status, 201, name)
  }
})

test('a restore obeys If-Match by the tag that the record had; an erasure, of what has none, refuses it', async () => {
  for (const [name, body] of Object.entries(bodies)) {
    const made = await call('POST', path(name), {
      ...body,
      ...(name === 'booking-pages' && { slug: 'other' }),
    })
    const { id } = made.body.data
    const { headers } = await call('GET', `${path(name)}/${id}`)
    const etag = String(headers.get('etag'))
    await call('DELETE', `${path(name)}/${id}`)
    const restore = (tag: string) => call('POST', `${path(name)}/${id}/restore`, {}, { 'if-match': tag })
    refused(await restore('"another"'), 412, 'precondition_failed')
    assert.equal((await call('GET', `${path(name)}/${id}`)).status, 404)
    assert.equal((await restore(etag)).status, 200)
    await call('DELETE', `${path(name)}/${id}`)
    const trashed = `/api/v1/trash/${name.replace('-', '_')}/${id}`
    refused(await call('DELETE', trashed, undefined, { 'if-match': etag }), 412, 'precondition_failed')
    assert.equal((await call('DELETE', trashed)).status, 200)
    refused(await call('DELETE', trashed), 404, 'not_found')
  }
})

test('a time whose year in UTC is out of range is refused, so that PUT accepts every answer of GET', async () => {
  const odd = ['0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-00:01']
  for (const due_at of odd)
    assert.deepEqual(problems(await call('POST', path('activities'), { subject: 'Call', due_at })), {
      due_at: 'out_of_range',
    })
})

test('a query parameter whose name no text can be is unknown, on every list', async () => {
  for (const name of [...Object.keys(bodies), 'webhooks', 'deliveries', 'trash', 'audit-log', 'events'])
    for (const query of ['%00=1', 'zzz=%00', 'zzz%ED%A0%80=1'])
      refused(await call('GET', `${path(name)}?${query}`), 400, 'bad_request')
})

test('a URL of blanks is none', async () => {
  const { id } = (await call('POST', path('webhooks'), { url: 'http://127.0.0.1:9/', events: ['deal.won'] }))
    .body.data
  const blank = { url: ' ', events: ['deal.won'] }
  assert.deepEqual(problems(await call('POST', path('webhooks'), blank)), { url: 'required' })
  assert.deepEqual(problems(await call('PUT', `${path('webhooks')}/${id}`, { url: '  ' })), {
    url: 'required',
  })
})
