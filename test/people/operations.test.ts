import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeResetToken } from '../../src/access/people/resets.ts'
import { systemClock } from '../../src/clock.ts'
import { command_line } from '../../src/events/context.ts'
import { type Reply, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import {
  type Browser,
  browser,
  invite,
  join,
  password,
  people_operations,
  setupToken,
  signIn,
} from '../people.ts'

const rapport = useRapport()
let ada: Browser

/** A call that is refused and leaves nothing, one that leaves these entries, and who is named in them. */
type Trial = {
  refused: () => Promise<Reply>
  refusal: number
  done: () => Promise<Reply>
  entries: string[]
}
const other = { 'if-match': '"another"' }
const joined = () => join(ada, rapport.url, 'member')
const first = { name: 'Ada Lovelace', email: 'ada@example.com', password, workspace_name: 'Acme' }
let open_invitation = ''
const id_of = async (work: Promise<Reply>) => (await work).body.data.id

const trials: Record<string, Trial> = {
  'post /setup': {
    refused: () => browser(rapport.url)('POST', '/setup', { ...first, token: 'wrong' }),
    refusal: 422,
    done: async () => {
      ada = browser(rapport.url)
      return ada('POST', '/setup', { ...first, token: setupToken(rapport) })
    },
    entries: ['users created', 'workspaces updated', 'members created', 'sessions signed_in'],
  },
  'post /session': {
    refused: async () => (await signIn(rapport.url, first.email, 'wrong password')).reply,
    refusal: 401,
    done: async () => (await signIn(rapport.url, first.email)).reply,
    entries: ['sessions signed_in'],
  },
  'post /workspaces': {
    refused: () => ada('POST', '/workspaces', {}),
    refusal: 422,
    done: () => ada('POST', '/workspaces', { name: 'Second' }),
    entries: ['workspaces created', 'members created'],
  },
  'put /session': {
    refused: () => ada('PUT', '/session', { workspace_id: 77 }),
    refusal: 422,
    done: () => ada('PUT', '/session', { workspace_id: 1 }),
    entries: ['sessions entered'],
  },
  'put /profile': {
    refused: () => ada('PUT', '/profile', { name: 'A', time_zone: 'Mars' }),
    refusal: 422,
    done: () => ada('PUT', '/profile', { name: 'Ada L.' }),
    entries: ['users updated'],
  },
  'patch /session': {
    refused: () => ada('PATCH', '/session', { workspace_id: 77 }),
    refusal: 422,
    done: async () => {
      await ada('POST', '/workspaces', { name: 'Third' })
      return ada('PATCH', '/session', { workspace_id: 1 })
    },
    entries: ['sessions entered'],
  },
  'patch /profile': {
    refused: () => ada('PATCH', '/profile', { name: 'A', time_zone: 'Mars' }),
    refusal: 422,
    done: () => ada('PATCH', '/profile', { name: 'Ada Lovelace' }),
    entries: ['users updated'],
  },
  'post /profile/password': {
    refused: () => ada('POST', '/profile/password', { current_password: 'wrong', new_password: password }),
    refusal: 422,
    done: () => ada('POST', '/profile/password', { current_password: password, new_password: password }),
    entries: ['users password_changed'],
  },
  'post /password-reset': {
    refused: () => browser(rapport.url)('POST', '/password-reset', { token: 'wrong', password }),
    refusal: 422,
    done: async () => {
      const token = await beside(rapport.data_dir, (db) =>
        makeResetToken(db, systemClock, command_line, first.email),
      )
      ada = browser(rapport.url)
      return ada('POST', '/password-reset', { token, password })
    },
    entries: ['users reset_link_made', 'users password_reset', 'sessions signed_in'],
  },
  'put /workspace': {
    refused: () => ada('PUT', '/workspace', { currency: 'XXQ' }),
    refusal: 422,
    done: () => ada('PUT', '/workspace', { currency: 'CHF' }),
    entries: ['workspaces updated'],
  },
  'patch /workspace': {
    refused: () => ada('PATCH', '/workspace', { currency: 'XXQ' }),
    refusal: 422,
    done: () => ada('PATCH', '/workspace', { currency: 'EUR' }),
    entries: ['workspaces updated'],
  },
  'post /members/{user_id}/reassign': {
    refused: () => ada('POST', `/members/${grace.id}/reassign`, { to: 'usr_unknown' }),
    refusal: 422,
    done: () => ada('POST', `/members/${grace.id}/reassign`, { to: null }),
    entries: ['members reassigned', 'companies updated'],
  },
  'post /invitations': {
    refused: () => ada('POST', '/invitations', { email: first.email, role: 'member' }),
    refusal: 422,
    done: async () => {
      const reply = await ada('POST', '/invitations', { email: 'new@example.com', role: 'member' })
      open_invitation = reply.body.data.id
      return reply
    },
    entries: ['invitations created'],
  },
  'delete /invitations/{invitation_id}': {
    refused: () => ada('DELETE', `/invitations/${open_invitation}`, undefined, other),
    refusal: 412,
    done: () => ada('DELETE', `/invitations/${open_invitation}`),
    entries: ['invitations revoked'],
  },
  'post /invitations/look-up': {
    refused: () => browser(rapport.url)('POST', '/invitations/look-up', { token: 'wrong' }),
    refusal: 422,
    done: async () => {
      const token = await invite(ada, 'member', 'looked@example.com')
      return browser(rapport.url)('POST', '/invitations/look-up', { token })
    },
    // Made beforehand; looking at it leaves nothing.
    entries: ['invitations created'],
  },
  'post /invitations/accept': {
    refused: () => browser(rapport.url)('POST', '/invitations/accept', { token: 'wrong', password }),
    refusal: 422,
    done: async () => {
      const token = await invite(ada, 'member', 'accepts@example.com')
      return browser(rapport.url)('POST', '/invitations/accept', { token, name: 'Grace', password })
    },
    entries: [
      'invitations created',
      'users created',
      'invitations accepted',
      'members created',
      'sessions signed_in',
    ],
  },
  'put /members/{user_id}': {
    refused: async () => ada('PUT', `/members/${await id_of(ada('GET', '/profile'))}`, { role: 'member' }),
    refusal: 409,
    done: async () => ada('PUT', `/members/${grace.id}`, { role: 'admin' }),
    entries: ['members updated'],
  },
  'patch /members/{user_id}': {
    refused: async () => ada('PATCH', `/members/${grace.id}`, { role: 'king' }),
    refusal: 422,
    done: async () => ada('PATCH', `/members/${grace.id}`, { role: 'member' }),
    entries: ['members updated'],
  },
  'delete /members/{user_id}': {
    refused: async () => ada('DELETE', `/members/${grace.id}`, undefined, other),
    refusal: 412,
    done: async () => ada('DELETE', `/members/${grace.id}`),
    entries: ['members deleted'],
  },
  'post /profile/delete': {
    refused: () => grace.call('POST', '/profile/delete', { current_password: 'wrong password' }),
    refusal: 422,
    done: () => grace.call('POST', '/profile/delete', { current_password: password }),
    entries: ['members deleted', 'users deleted'],
  },
  'delete /sessions/{session_id}': {
    refused: () => ada('DELETE', '/sessions/ses_none'),
    refusal: 404,
    done: async () => ada('DELETE', `/sessions/${ending}`),
    entries: ['sessions ended'],
  },
  'delete /session': {
    refused: () => ada('DELETE', '/session', undefined, other),
    refusal: 412,
    done: () => ada('DELETE', '/session'),
    entries: ['sessions signed_out'],
  },
}
let grace: Awaited<ReturnType<typeof joined>>
let ending = ''
const prepare: Record<string, () => Promise<unknown>> = {
  'put /members/{user_id}': async () => {
    grace = await joined()
  },
  'post /members/{user_id}/reassign': async () => {
    grace = await joined()
    assert.equal((await grace.call('POST', '/companies', { name: 'Acme' })).status, 201)
  },
  'post /profile/delete': async () => {
    grace = await joined()
  },
  'delete /sessions/{session_id}': async () => {
    ending = (await signIn(rapport.url, first.email)).reply.body.data.session_id
  },
}

test('every operation of people that writes is tried here', () => {
  assert.deepEqual(Object.keys(trials).sort(), [...people_operations].sort())
})

const log = async () => (await rapport.call('GET', '/api/v1/audit-log?per_page=100')).body.data
const total = async () => (await rapport.call('GET', '/api/v1/audit-log?per_page=1')).body.meta.total

for (const [name, { refused, refusal, done, entries }] of Object.entries(trials))
  test(`${name} leaves what was done with who and which request; refused, nothing`, async () => {
    await prepare[name]?.()
    const before = await total()
    const no = await refused()
    assert.equal(no.status, refusal, no.text)
    assert.equal(await total(), before)
    const reply = await done()
    assert.ok([200, 201].includes(reply.status), reply.text)
    // A new workspace has a log of its own, which the first one's key does not read.
    if (name === 'post /workspaces') {
      const { data } = (await ada('GET', '/audit-log')).body
      assert.deepEqual(data.map(({ kind, action }: Entry) => `${kind} ${action}`).reverse(), entries)
      return
    }
    const left: Entry[] = (await log()).slice(0, (await total()) - before).reverse()
    assert.deepEqual(
      left.map(({ kind, action }) => `${kind} ${action}`),
      entries,
    )
    for (const { kind, action, actor, request_id } of left) {
      if (action === 'reset_link_made') assert.deepEqual([actor.kind, request_id], ['command_line', null])
      else {
        assert.equal(actor.kind, 'person')
        // A person who deleted the account no longer has a name.
        if (name === 'post /profile/delete') assert.equal(actor.name, null)
        else assert.match(String(actor.name), /^(Ada|Grace)/)
        if (!(kind === 'invitations' && action === 'created' && name !== 'post /invitations'))
          assert.equal(request_id, reply.headers.get('x-request-id'))
      }
    }
  })

type Entry = {
  kind: string
  action: string
  actor: { kind: string; name: string | null }
  request_id: string | null
}
