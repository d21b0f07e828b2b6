import { isoTime } from '../../clock.ts'
import { endpoints } from '../../http/endpoints.ts'
import { NoFields } from '../../http/fields.ts'
import { wantedTexts } from '../../http/filter-parameters.ts'
import { pagesBy } from '../../http/lists.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { createKey, revokeWorkspaceKey } from './operations.ts'
import { findKey, pageOfKeys } from './queries.ts'
import { ApiKey, ApiKeyCreated, KeyParams, KeysQuery, keyBody } from './schema.ts'

/** The API keys of a workspace. The text of a key is shown once, when the key is created, and never changes. */
export function keyRoutes(app: App, service: Service): void {
  const { db, reading, clock, scopes } = service
  const keys = endpoints(app, service, {
    path: '/api/v1/keys',
    params: KeyParams,
    reads: 'keys:read',
    writes: 'keys:write',
    noun: 'API key',
  })

  keys.list(
    {
      summary: 'List API keys',
      description: 'Newest first, including revoked keys.',
      query: KeysQuery,
      view: ApiKey,
      pages: pagesBy('-id of keys', 'string'),
    },
    ({ access, query: { made_by, live } }, { page }) => {
      const makers = wantedTexts('made_by', made_by, { nullable: true })
      const filter = { makers, live_at: live ? isoTime(clock.now()) : null }
      return reading((db) => pageOfKeys(db, access.workspace_id, filter, page))
    },
  )

  keys.read({ summary: 'Read an API key', view: ApiKey }, ({ access, params }) =>
    findKey(db, access.workspace_id, params.key_id),
  )

  keys.create(
    {
      summary: 'Create an API key',
      description:
        'A key cannot have scopes that its creator lacks, or a later expiry than a creating key. 409 above 1,000 live keys of the workspace.',
      body: keyBody(scopes),
      view: ApiKeyCreated,
    },
    (tx, context, sent) => createKey(tx, context, scopes, sent),
  )

  keys.verb(
    {
      name: 'revoke',
      summary: 'Revoke an API key',
      description:
        'The caller needs all scopes of the key. Every process refuses the key, and the keys that it created, within 1 s. Revoking it again is a no-op.',
      body: NoFields,
      view: ApiKey,
    },
    async (tx, context, sent) => ({ record: await revokeWorkspaceKey(tx, context, sent) }),
  )
}
