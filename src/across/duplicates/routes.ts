import { type Static, Type } from 'typebox'
import { refuse } from '../../errors.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Single, single } from '../../http/envelope.ts'
import { Exact, Id, Titled } from '../../http/fields.ts'
import { first_cursor } from '../../http/first-cursor.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { DuplicateReason, Resource } from '../../resources/resource.ts'
import { dismiss, undismiss } from './dismissals.ts'
import { findGroups, max_ids, type Place } from './groups.ts'

const Body = Type.Object(
  {
    ids: Type.Array(Id(), {
      minItems: 2,
      maxItems: max_ids,
      description: 'Records of a group.',
      examples: [[42, 57]],
    }),
  },
  { additionalProperties: false, title: 'DuplicateIds' },
)

const Query = Exact({
  per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
  cursor,
})

/** Lists of likely duplicates, for each resource that has them. */
export function duplicateRoutes(app: App, service: Service): void {
  for (const resource of service.resources.filter(({ duplicates }) => duplicates.length)) {
    addList(app, service, resource)
    addDismissal(app, service, resource, 'dismiss')
    addDismissal(app, service, resource, 'restore')
  }
}

function addList(app: App, service: Service, resource: Resource): void {
  const { table, path, scope, noun, duplicates } = resource
  const Group = Titled(`Duplicate${noun.charAt(0).toUpperCase()}${noun.slice(1)}`, {
    reason: Type.Unsafe<DuplicateReason>({ type: 'string', enum: [...duplicates] }),
    ids: Type.Array(Id(), { minItems: 2, maxItems: max_ids, examples: [[42, 57]] }),
  })
  const pages = pagesBy(`duplicates of ${table}`, 'string', 'string')
  endpoints(app, service, {
    path: `${path}/duplicates`,
    reads: `${scope}:read`,
    noun,
  }).list(
    {
      summary: `List likely duplicates of ${table}`,
      description: `Groups with an equal value, best reason first: ${duplicates.join(', ')}. Case, accents and the separators of telephone numbers are ignored. \`ids\` has at most ${max_ids} ids, lowest first. A page may have fewer groups than \`per_page\`: follow \`next_cursor\` until it is null. A group is left out if a better reason has the same records. A record is left out if it was dismissed with each of the others.`,
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

const actions = {
  dismiss: {
    summary: (table: string) => `Say that ${table} are not the same`,
    description:
      'Each two of them leave the groups, for everybody, until one of the two changes in what made them alike, such as its e-mail.',
    run: dismiss,
  },
  restore: {
    summary: (table: string) => `List dismissed ${table} as duplicates again`,
    description: 'Takes back each dismissal of two of them. Without any, it changes nothing.',
    async run(...[tx, context, resource, ids]: Parameters<typeof dismiss>) {
      await undismiss(tx, context, resource, ids)
      return []
    },
  },
}

function addDismissal(app: App, service: Service, resource: Resource, action: keyof typeof actions): void {
  const { table, path, scope } = resource
  const { summary, description, run } = actions[action]
  operation(
    app,
    {
      method: 'POST',
      path: `${path}/duplicates/${action}`,
      scope: `${scope}:write`,
      summary: summary(table),
      description,
      body: Body,
      answers: { 200: Single(Body) },
      answers_no_record: true,
      repeatable: true,
    },
    (request, reply) =>
      service.write(request, reply, async (tx, context, problems) => {
        refuse(problems)
        const { ids } = request.body as Static<typeof Body>
        refuse(await run(tx, context, resource, ids))
        return { body: single({ ids }) }
      }),
  )
}
