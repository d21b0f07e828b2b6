import assert from 'node:assert/strict'
import type { Role } from '../src/access/people/roles.ts'
import { dataOf } from './envelope.ts'
import { client, type Rapport, type Reply } from './harness.ts'
import { before } from './use.ts'

const base = '/api/v1'
export const password = 'correct horse battery'

/** A caller with a cookie jar, like a browser: it sends the cookies that it received. */
export function browser(url: string, headers: Record<string, string> = {}) {
  const plain = client(url, null)
  let cookie = ''
  // By which the service knows the browser again.
  let mark = ''
  async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    const shown = [cookie, mark].filter(Boolean).join('; ')
    const reply = await plain(method, base + path, body, {
      ...(shown && { cookie: shown }),
      ...headers,
      ...more,
    })
    for (const set of reply.headers.getSetCookie()) {
      const pair = /Max-Age=0/.test(set) ? '' : String(set.split(';')[0])
      if (/^(__Host-)?rapport_browser=/.test(set)) mark = pair
      else cookie = pair
    }
    return reply
  }
  return Object.assign(call, {
    /** The session's cookie as a header has it; '' for none. */
    cookie: () => cookie,
    /** The cookie by which the browser is known, or another one's in its place. */
    mark: () => mark,
    plantMark(text: string) {
      mark = text
    },
    token: () => cookie.split('=')[1] ?? '',
    /** Puts a cookie there, as somebody else might. */
    plant(text: string) {
      cookie = text
    },
  })
}
export type Browser = ReturnType<typeof browser>

/** Somebody who calls, by a browser or a key; the path is below `/api/v1`. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Reply>

/** Calls with the first key of a service that the tests of a file share. */
export const keyCaller =
  (rapport: Rapport): Caller =>
  (method, path, body) =>
    rapport.call(method, base + path, body)

/** The data of what somebody asks for, which must succeed. */
export const ask = async (call: Caller, method: string, path: string, body?: unknown) =>
  dataOf(await call(method, path, body))

type Service = { url: string; setup_url: string | null }

export const setupToken = ({ setup_url }: Service): string => String(setup_url?.split('#')[1])

/** Makes the first account, an owner's; the browser is signed in. */
export async function setUp(rapport: Service, fields: object = {}): Promise<Browser> {
  const call = browser(rapport.url)
  const body = { name: 'Ada Lovelace', email: 'ada@example.com', password, workspace_name: 'Acme' }
  const reply = await call('POST', '/setup', { token: setupToken(rapport), ...body, ...fields })
  assert.equal(reply.status, 200, reply.text)
  return call
}

/** The browser of the first account, for the tests of a file. */
export function useOwner(rapport: Service): Browser {
  let own: Browser
  before(async () => {
    own = await setUp(rapport)
  })
  return new Proxy((() => {}) as unknown as Browser, {
    apply: (_, __, words: Parameters<Browser>) => own(...words),
    get: (_, name) => Reflect.get(own, name),
  })
}

let people = 0
/** Invites a new person to the workspace of somebody, who accepts; the browser is signed in. */
export async function join(by: Browser, url: string, role: Role, email = `person${++people}@example.com`) {
  const token = await invite(by, role, email)
  const call = browser(url)
  const reply = await call('POST', '/invitations/accept', { token, name: 'Grace Hopper', password })
  assert.equal(reply.status, 200, reply.text)
  return { call, email, id: String(reply.body.data.user.id), session_id: String(reply.body.data.session_id) }
}

export async function invite(by: Browser, role: Role, email: string): Promise<string> {
  const reply = await by('POST', '/invitations', { email, role })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.url_path.split('#')[1]
}

export async function signIn(url: string, email: string, given = password) {
  const call = browser(url)
  return { call, reply: (await call('POST', '/session', { email, password: given })) as Reply }
}

/** The operations of people that write. people/operations.test.ts tests their audit entries. */
export const people_operations = [
  'post /setup',
  'post /session',
  'put /session',
  'patch /session',
  'delete /session',
  'delete /sessions/{session_id}',
  'put /profile',
  'patch /profile',
  'post /profile/password',
  'post /profile/delete',
  'post /password-reset',
  'put /members/{user_id}',
  'patch /members/{user_id}',
  'delete /members/{user_id}',
  'post /members/{user_id}/reassign',
  'post /invitations',
  'delete /invitations/{invitation_id}',
  'post /invitations/look-up',
  'post /invitations/accept',
  'put /workspace',
  'patch /workspace',
  'post /workspaces',
]
