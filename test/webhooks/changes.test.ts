import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { fieldCodes } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { useReceiver } from '../receiver.ts'
import { company, log, register, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

const path = '/api/v1/webhooks'
const url = 'http://127.0.0.1:9/hook'

describe('reading and changing', () => {
  test('webhooks are listed newest first, in pages with a true total', async () => {
    const call = await newWorkspace(rapport)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.unshift((await register(call, { url, name })).id)
    const shown = await Promise.all(ids.map((id) => webhook(call, id)))
    const all = await call('GET', path)
    const meta = { current_page: 1, last_page: 1, per_page: 25, total: 3 }
    assert.deepEqual(all.body, { success: true, data: shown, meta })
    const second = await call('GET', `${path}?per_page=2&page=2`)
    const second_meta = { current_page: 2, last_page: 2, per_page: 2, total: 3 }
    assert.deepEqual(second.body, { success: true, data: shown.slice(2), meta: second_meta })
    assert.deepEqual((await call('GET', `${path}?page=9`)).body.data, [])
    assert.equal((await call('GET', `${path}?status=active`)).status, 400)
    assert.equal((await call('GET', `${path}?page=0`)).status, 422)
  })

  test('PUT and PATCH change only what is sent, and the new list of events counts from then on', async () => {
    const call = await newWorkspace(rapport)
    const before = await register(call, { url: receiver.url, name: 'Before', events: ['company.updated'] })
    await company(call)
    const put = await call('PUT', `${path}/${before.id}`, { events: ['company.created', 'company.created'] })
    assert.equal(put.status, 200, put.text)
    assert.deepEqual(put.body.data, await webhook(call, before.id))
    assert.deepEqual(put.body.data.events, ['company.created'])
    assert.equal(put.body.data.name, 'Before')
    const patch = await call('PATCH', `${path}/${before.id}`, { name: null, url: `${receiver.url}/new` })
    assert.deepEqual([patch.body.data.name, patch.body.data.url], [null, `${receiver.url}/new`])
    await company(call)
    const [request] = (await receiver.waitFor((all) => all.some(({ path }) => path === '/hook/new'))).slice(
      -1,
    )
    assert.match(String(request?.body), new RegExp(before.id))
    assert.equal((await log(call)).length, 1)
  })

  test('what GET returned can be put back and changes nothing; status and id are ignored', async () => {
    const { id } = await register(rapport.call, { url, name: 'Same' })
    const got = await rapport.call('GET', `${path}/${id}`)
    const put = await rapport.call('PUT', `${path}/${id}`, { ...got.body.data, status: 'paused', id: 'wh_x' })
    assert.equal(put.status, 200, put.text)
    assert.deepEqual(put.body, got.body)
    assert.equal(put.headers.get('etag'), got.headers.get('etag'))
  })

  test('a change keeps every rule of registration', async () => {
    const { id } = await register(rapport.call, { url })
    const put = (body: object) => rapport.call('PUT', `${path}/${id}`, body)
    const before = await webhook(rapport.call, id)
    const wrong: [object, string[]][] = [
      [{ url: null }, ['url required']],
      [{ url: 'http://user@8.8.8.8/' }, ['url invalid_url']],
      [{ url: 'http://169.254.169.254/' }, ['url url_not_allowed']],
      [{ events: [] }, ['events too_few']],
      [{ events: null }, ['events invalid_type']],
      [{ events: ['no.such'] }, ['events.0 unknown_value']],
      [{ secret: 'x'.repeat(20) }, ['secret unknown_field']],
      [{ name: 5, urls: [] }, ['urls unknown_field', 'name invalid_type']],
    ]
    for (const [body, fields] of wrong) {
      const reply = await put(body)
      assert.deepEqual(fieldCodes(reply), fields)
    }
    assert.deepEqual(await webhook(rapport.call, id), before)
  })

  test('If-Match guards every write of a webhook, and If-None-Match spares a read', async () => {
    const { id } = await register(rapport.call, { url })
    const one = `${path}/${id}`
    const etag = String((await rapport.call('GET', one)).headers.get('etag'))
    assert.equal((await rapport.call('GET', one, undefined, { 'if-none-match': etag })).status, 304)
    const writes = [
      ['PUT', one, { name: 'x' }],
      ['PATCH', one, { name: 'x' }],
      ['DELETE', one],
      ...['pause', 'resume', 'rotate-secret', 'test', 'resend-failed'].map((name) => [
        'POST',
        `${one}/${name}`,
      ]),
    ] as [string, string, object?][]
    for (const [method, address, body] of writes) {
      const reply = await rapport.call(method, address, body, { 'if-match': '"stale"' })
      assert.equal(reply.status, 412, `${method} ${address}`)
      assert.equal(reply.body.error.code, 'precondition_failed')
      const unknown = await rapport.call(method, address.replace(id, 'wh_none'), body, {
        'if-match': '"stale"',
      })
      assert.equal(unknown.status, 404, `${method} ${address}`)
    }
    const changed = await rapport.call('PUT', one, { name: 'x' }, { 'if-match': etag })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), etag)
    assert.equal((await rapport.call('PUT', one, { name: 'y' }, { 'if-match': etag })).status, 412)
  })

  test('a deleted webhook is gone: 200 with a message once, 404 from then on', async () => {
    const { id } = await register(rapport.call, { url })
    const reply = await rapport.call('DELETE', `${path}/${id}`)
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body), ['success', 'message'])
    assert.equal(typeof reply.body.message, 'string')
    for (const [method, address] of [
      ['DELETE', `${path}/${id}`],
      ['GET', `${path}/${id}`],
      ['PUT', `${path}/${id}`],
      ['POST', `${path}/${id}/resume`],
      ['POST', `${path}/${id}/test`],
    ] as const)
      assert.equal((await rapport.call(method, address, method === 'PUT' ? {} : undefined)).status, 404)
  })
})

describe('who may', () => {
  test('no request reaches the webhooks and deliveries of another workspace, and its events stay there', async () => {
    const [mine, theirs] = [await newWorkspace(rapport), await newWorkspace(rapport)]
    const { id } = await register(mine, { url: receiver.url })
    await company(theirs)
    await company(mine)
    const [delivery] = await until(
      () => log(mine, 'status=succeeded'),
      (all) => all.length > 0,
    )
    assert.equal((await log(mine)).length, 1)
    assert.deepEqual((await theirs('GET', path)).body.data, [])
    assert.deepEqual(await log(theirs), [])
    assert.deepEqual(await log(theirs, `webhook_id=${id}`), [])
    const requests: [string, string, object?][] = [
      ['GET', `${path}/${id}`],
      ['PUT', `${path}/${id}`, { name: 'taken' }],
      ['DELETE', `${path}/${id}`],
      ...['pause', 'resume', 'rotate-secret', 'test', 'resend-failed'].map(
        (name) => ['POST', `${path}/${id}/${name}`] as [string, string],
      ),
      ['GET', `/api/v1/deliveries/${delivery?.id}`],
      ['POST', `/api/v1/deliveries/${delivery?.id}/resend`],
    ]
    for (const [method, address, body] of requests) {
      const reply = await theirs(method, address, body)
      const unknown = await theirs(method, address.replace(/(wh|dlv)_\w+/, '$1_unknown'), body)
      assert.equal(reply.status, 404, `${method} ${address}`)
      assert.equal(reply.body.error.message, unknown.body.error.message)
    }
    assert.equal((await webhook(mine, id)).name, null)
  })

  test('webhooks:read reads and webhooks:write writes; other scopes do neither', async () => {
    const { id } = await register(rapport.call, { url })
    const reads = [path, `${path}/${id}`, '/api/v1/deliveries', '/api/v1/deliveries/dlv_none']
    const writes: [string, string][] = [
      ['POST', path],
      ['PUT', `${path}/${id}`],
      ['DELETE', `${path}/wh_none`],
      ...['pause', 'resume', 'rotate-secret', 'test', 'resend-failed'].map(
        (name) => ['POST', `${path}/wh_none/${name}`] as [string, string],
      ),
      ['POST', '/api/v1/deliveries/dlv_none/resend'],
    ]
    for (const scope of ['webhooks:read', 'webhooks:write', 'companies:write']) {
      const { call } = await makeKey(rapport, { scopes: [scope] })
      const answers = [
        ...(await Promise.all(reads.map((address) => call('GET', address)))).map((one) => one.status === 403),
        ...(await Promise.all(writes.map(([method, address]) => call(method, address, {})))).map(
          (one) => one.status === 403,
        ),
      ]
      const expected = [
        ...reads.map(() => scope !== 'webhooks:read'),
        ...writes.map(() => scope !== 'webhooks:write'),
      ]
      assert.deepEqual(answers, expected, scope)
    }
  })
})
