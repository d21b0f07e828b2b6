import { Type } from 'typebox'
import { endpoints } from '../../http/endpoints.ts'
import { Id } from '../../http/fields.ts'
import { first_cursor } from '../../http/first-cursor.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { DuplicateReason, Resource } from '../../resources/resource.ts'
import { findGroups, max_ids, type Place } from './groups.ts'

const Query = Type.Object(
  {
    per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
    cursor,
  },
  { additionalProperties: false },
)

/** Lists of likely duplicates, for each resource that has them. */
export function duplicateRoutes(app: App, service: Service): void {
  for (const resource of service.resources) if (resource.duplicates.length) addList(app, service, resource)
}

function addList(app: App, service: Service, resource: Resource): void {
  const { table, path, scope, noun, duplicates } = resource
  const Group = Type.Object(
    {
      reason: Type.Unsafe<DuplicateReason>({ type: 'string', enum: [...duplicates] }),
      ids: Type.Array(Id(), { minItems: 2, maxItems: max_ids, examples: [[42, 57]] }),
    },
    { title: `Duplicate${noun.charAt(0).toUpperCase()}${noun.slice(1)}` },
  )
  const pages = pagesBy(`duplicates of ${table}`, 'string', 'string')
  endpoints(app, service, {
    path: `${path}/duplicates`,
    reads: `${scope}:read`,
    noun,
    extension: true,
  }).list(
    {
      summary: `List likely duplicates of ${table}`,
      description: `Groups with an equal value, best reason first: ${duplicates.join(', ')}. Case, accents and the separators of telephone numbers are ignored. \`ids\` has at most ${max_ids} ids, lowest first. A page may have fewer groups than \`per_page\`: follow \`next_cursor\` until it is null. A group is left out if a better reason has the same records.`,
      query: Query,
      view: Group,
      pages: (query) => pages({ page: 1, per_page: query.per_page, cursor: query.cursor ?? first_cursor }),
    },
    ({ access: { workspace_id } }, { page }) => {
      const after = 'after' in page ? placeOf(page.after) : null
      return service.reading((db) => findGroups(db, { resource, workspace_id, after, limit: page.per_page }))
    },
  )
}

function placeOf(parts: readonly unknown[] | null): Place | null {
  if (!parts) return null
  const [reason, key] = parts
  return { reason: reason as DuplicateReason, key: String(key) }
}
