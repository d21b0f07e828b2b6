import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refused } from '../envelope.ts'
import { client, useRapport } from '../harness.ts'
import { type Browser, browser, join, password, signIn, useOwner } from '../people.ts'
import { before } from '../use.ts'

const rapport = useRapport()
const ada = useOwner(rapport)

describe('a change that outlasts the session', () => {
  // Changes that outlast the session: the gate caches it for 500 ms, but the transaction reads it again.
  const lasting = (call: Browser, member: string) => ({
    'POST /keys': () => call('POST', '/keys', { name: 'Back door' }),
    'POST /workspaces': () => call('POST', '/workspaces', { name: 'Hiding place' }),
    'POST /invitations': () => call('POST', '/invitations', { email: 'friend@example.com', role: 'admin' }),
    'POST /webhooks': () => call('POST', '/webhooks', { url: 'http://127.0.0.1:9', events: ['deal.won'] }),
    'PUT /members': () => call('PUT', `/members/${member}`, { role: 'member' }),
    'DELETE /members': () => call('DELETE', `/members/${member}`),
    'PUT /session': () => call('PUT', '/session', {}),
    'PUT /workspace': () => call('PUT', '/workspace', { name: 'Mine' }),
    'rotate-secret': () =>
      call('POST', `/webhooks/${webhook}/rotate-secret`, { secret: 'what I know from now on' }),
    'PUT /profile': () => call('PUT', '/profile', { name: 'Somebody' }),
    'POST /profile/delete': () => call('POST', '/profile/delete', { current_password: password }),
    'POST /profile/password': () =>
      call('POST', '/profile/password', { current_password: password, new_password: password }),
  })
  let other: string
  let webhook: string
  before(async () => {
    const hook = { url: 'http://127.0.0.1:9', events: ['deal.won'] }
    webhook = (await ada('POST', '/webhooks', hook)).body.data.id
    other = (await join(ada, rapport.url, 'read_only')).id
  })

  for (const name of Object.keys(lasting(browser(''), '')) as (keyof ReturnType<typeof lasting>)[]) {
    test(`${name} is refused at once when the member is removed, and when the session ends elsewhere`, async () => {
      const { call, id, email: mine } = await join(ada, rapport.url, 'admin')
      const { call: second, reply } = await signIn(rapport.url, mine)
      // Remembered now.
      assert.equal((await second('GET', '/session')).status, 200)
      assert.equal((await call('DELETE', `/sessions/${reply.body.data.session_id}`)).status, 200)
      refused(await lasting(second, other)[name](), 401, 'unauthorized')

      assert.equal((await call('GET', '/session')).status, 200)
      assert.equal((await ada('DELETE', `/members/${id}`)).status, 200)
      refused(await lasting(call, other)[name](), 401, 'unauthorized')
    })
  }

  test('a former admin makes no key, workspace, invitation or webhook from that moment on', async () => {
    for (const name of [
      'POST /keys',
      'POST /workspaces',
      'POST /invitations',
      'POST /webhooks',
      'PUT /members',
      'PUT /workspace',
      'rotate-secret',
    ] as const) {
      const { call, id } = await join(ada, rapport.url, 'admin')
      assert.equal((await call('GET', '/session')).status, 200)
      assert.equal((await ada('PUT', `/members/${id}`, { role: 'member' })).status, 200)
      refused(await lasting(call, other)[name](), 403, 'forbidden')
    }
  })

  test('a key that was taken back makes no other one and invites nobody from that moment on', async () => {
    const { id, token } = (await ada('POST', '/keys', { name: 'Lost' })).body.data
    const call = client(rapport.url, token)
    assert.equal((await call('GET', '/api/v1/contacts')).status, 200)
    assert.equal((await ada('POST', `/keys/${id}/revoke`)).status, 200)
    refused(await call('POST', '/api/v1/keys', { name: 'Back door' }), 401, 'unauthorized')
    const friend = { email: 'friend@example.com', role: 'admin' }
    refused(await call('POST', '/api/v1/invitations', friend), 401, 'unauthorized')
  })
})
