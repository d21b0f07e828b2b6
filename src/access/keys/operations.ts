import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldCode, type FieldProblem, orNotFound, refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { insertKey } from './keys.ts'
import { findKey, refuseMoreScopes, revokeKeyTree } from './queries.ts'
import type { ApiKey, KeyParams, keyBody } from './schema.ts'

const existing = async (tx: Tx, { workspace_id }: Context, id: string): Promise<ApiKey> =>
  orNotFound('API key', await findKey(tx, workspace_id, id))

/** Creates a key by a request. `known` are all scopes of the service. Throws 422 if the key may do more than the caller. */
export async function createKey(
  tx: Tx,
  context: Context,
  known: readonly string[],
  { body, problems, recheck }: Incoming<unknown, Static<ReturnType<typeof keyBody>>>,
) {
  // A concurrent revocation of the caller either committed before, or will find this key.
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const access = await recheck()
  const { name = '', scopes = null, expires_at = null } = body
  const wanted = { scopes, expires_at }
  refuse([...problems, ...grantProblems(access, wanted, known, context.now)])
  const { id, token } = await insertKey(tx, context, { name, ...wanted })
  const record = await existing(tx, context, id)
  return { record, shown: { ...record, token } }
}

/** Revokes a key by a request, with the keys that it has made. Idempotent. Throws 403 if the caller lacks a scope of it. */
export async function revokeWorkspaceKey(
  tx: Tx,
  context: Context,
  { params: { key_id }, problems, expect, recheck }: Incoming<Static<typeof KeyParams>>,
): Promise<ApiKey> {
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const access = await recheck()
  const before = await existing(tx, context, key_id)
  expect(before)
  refuse(problems)
  refuseMoreScopes(access.scopes, before)
  await revokeKeyTree(tx, context, key_id)
  return existing(tx, context, key_id)
}

/**
 * Problems of a new key: scopes that the caller lacks, and an expiry after that of the calling key. The schema reports
 * unknown scopes.
 */
function grantProblems(
  { actor, scopes: own, expires_at: ends_at }: Pick<Access, 'actor' | 'scopes' | 'expires_at'>,
  { scopes, expires_at }: { scopes: string[] | null; expires_at: string | null },
  known: readonly string[],
  now: string,
): FieldProblem[] {
  const problems: FieldProblem[] = []
  const refuse = (field: string, code: FieldCode, message: string) => problems.push({ field, code, message })
  if (own && scopes === null)
    refuse(
      'scopes',
      'not_allowed',
      `scopes is required, because you do not have all scopes. Yours are ${own.join(', ')}.`,
    )
  if (own && Array.isArray(scopes)) {
    const lacked = scopes.filter((scope) => known.includes(scope) && !own.includes(scope))
    if (lacked.length)
      refuse('scopes', 'not_allowed', `scopes has scopes that you lack: ${lacked.join(', ')}.`)
  }
  if (expires_at !== null && expires_at <= now)
    refuse('expires_at', 'out_of_range', 'expires_at must be in the future.')
  else if (actor.kind === 'key' && ends_at !== null && (expires_at === null || expires_at > ends_at))
    refuse('expires_at', 'not_allowed', `expires_at must not be later than your own key's: ${ends_at}.`)
  return problems
}
