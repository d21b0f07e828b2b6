import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldProblem, invalid, orNotFound } from '../../errors.ts'
import type { Access } from '../../http/auth.ts'
import { List, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { NoFields } from '../../http/fields.ts'
import { pageAnswer, pageOf } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { insertKey } from './keys.ts'
import { findKey, pageOfKeys, refuseMoreScopes, revokeKeyTree } from './queries.ts'
import { ApiKey, ApiKeyCreated, KeyParams, KeysQuery, keyBody } from './schema.ts'

const path = '/api/v1/keys'
const order = '-id of keys'

/** The API keys of a workspace. The text of a key is shown once, when the key is created, and never changes. */
export function keyRoutes(
  app: App,
  { db, reading, write, recheckAccess, clock, scopes: known }: Service,
): void {
  const existing = async (handle: Db, workspace_id: number, id: string): Promise<ApiKey> =>
    orNotFound('API key', await findKey(handle, workspace_id, id))

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'keys:read',
      summary: 'List API keys',
      description: 'Newest first, with those that were taken back.',
      query: KeysQuery,
      answers: { 200: List(ApiKey) },
      extension: true,
    },
    async (request) => {
      const page = pageOf(request.query, order, ['string'])
      const { made_by = null, live } = request.query
      const wanted = { made_by, live_at: live ? isoTime(clock.now()) : null }
      const { workspace_id } = request.access
      const { keys, ...found } = await reading((db) => pageOfKeys(db, workspace_id, wanted, page))
      return pageAnswer(keys, found, order, page)
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:key_id`,
      scope: 'keys:read',
      summary: 'Read an API key',
      params: KeyParams,
      answers: { 200: Single(ApiKey) },
      extension: true,
      conditional: true,
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, request.access.workspace_id, request.params.key_id)),
  )

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: 'keys:write',
      summary: 'Create an API key',
      description:
        'No key can do more than its maker, nor does one made by a key that ends last longer. A workspace has at most 1,000 live keys; beyond, 409.',
      body: keyBody(known),
      answers: { 201: Single(ApiKeyCreated) },
      extension: true,
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        // A concurrent revocation of the caller either committed before, or will find this key.
        await lockEntry(tx, 'workspaces', context.workspace_id)
        const access = await recheckAccess(tx, request)
        const { name = '', scopes = null, expires_at = null } = request.body
        const wanted = { scopes, expires_at }
        const wrong = [...problems, ...grantProblems(access, wanted, known, context.now)]
        if (wrong.length) throw invalid(wrong)
        const { id, token } = await insertKey(tx, context, { name, ...wanted })
        const record = await existing(tx, context.workspace_id, id)
        return { record, shown: { ...record, token }, location: `${path}/${id}` }
      }),
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${path}/:key_id/revoke`,
      scope: 'keys:write',
      summary: 'Take an API key back',
      description:
        'Only one with scopes that the caller has, too. Within a second it opens nothing any more, in every process, and neither do the keys that it has made. Once more changes nothing.',
      params: KeyParams,
      body: NoFields,
      answers: { 200: Single(ApiKey) },
      extension: true,
      repeatable: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { key_id } = request.params
        await lockEntry(tx, 'workspaces', context.workspace_id)
        const access = await recheckAccess(tx, request)
        const before = await existing(tx, context.workspace_id, key_id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        refuseMoreScopes(access.scopes, before)
        await revokeKeyTree(tx, context, key_id)
        return { record: await existing(tx, context.workspace_id, key_id) }
      }),
  )
}

/**
 * Problems of a new key: scopes that the caller lacks, and, if the caller is a key that expires, a later expiry. The schema
 * reports unknown scopes.
 */
function grantProblems(
  { actor, scopes: own, expires_at: ends_at }: Pick<Access, 'actor' | 'scopes' | 'expires_at'>,
  { scopes, expires_at }: { scopes: string[] | null; expires_at: string | null },
  known: readonly string[],
  now: string,
): FieldProblem[] {
  const problems: FieldProblem[] = []
  const refuse = (field: string, code: string, message: string) => problems.push({ field, code, message })
  if (own && scopes === null)
    refuse('scopes', 'not_allowed', `scopes must be given: yours are ${own.join(', ')}, not all.`)
  if (own && Array.isArray(scopes)) {
    const lacked = scopes.filter((scope) => known.includes(scope) && !own.includes(scope))
    if (lacked.length)
      refuse('scopes', 'not_allowed', `scopes must not have what you lack: ${lacked.join(', ')}.`)
  }
  if (expires_at !== null && expires_at <= now)
    refuse('expires_at', 'out_of_range', 'expires_at must be in the future.')
  else if (actor.kind === 'key' && ends_at !== null && (expires_at === null || expires_at > ends_at))
    refuse('expires_at', 'not_allowed', `expires_at must not be later than your own key's: ${ends_at}.`)
  return problems
}
