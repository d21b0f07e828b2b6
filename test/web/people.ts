import assert from 'node:assert/strict'
import type { Rapport } from '../harness.ts'

/** Lets somebody in by an invitation; answers the session's cookie as the service sets it. */
export async function joinAs(
  { call, url }: Rapport,
  email: string,
  role: string,
  more: object = {},
): Promise<string> {
  const invited = await call('POST', '/api/v1/invitations', { email, role })
  assert.equal(invited.status, 201, invited.text)
  const token = invited.body.data.url_path.split('#')[1]
  const body = { token, name: 'Gerda Meier', password: 'correct horse battery', ...more }
  // Without a key, as a person who accepts an invitation.
  const headers = { 'content-type': 'application/json' }
  const accept = { method: 'POST', headers, body: JSON.stringify(body) }
  const joined = await fetch(`${url}/api/v1/invitations/accept`, accept)
  assert.ok(joined.ok, await joined.text())
  return joined.headers.get('set-cookie') ?? ''
}
