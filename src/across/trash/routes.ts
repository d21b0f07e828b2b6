import { day_ms, isoTime } from '../../clock.ts'
import { cutPage } from '../../db/lists/lists.ts'
import { notFound } from '../../errors.ts'
import { refuseBeyond } from '../../http/auth.ts'
import { Deleted, List } from '../../http/envelope.ts'
import { refuseMatch } from '../../http/etag.ts'
import { pageAnswer, pageOf } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { byDependency } from '../../resources/derived.ts'
import { beginErasure, eraseRecord } from '../erasure/erasure.ts'
import { countTrash, listTrash, type Place, type Trashed } from './list.ts'
import { TrashParams, trashSchemas } from './schema.ts'

const path = '/api/v1/trash'
const order = '-deleted_at'

/** The trash: what was deleted and can be restored, and how to erase it at once. */
export function trashRoutes(
  app: App,
  { db, reading, write, seal, config, resources, rights }: Service,
): void {
  const all = byDependency(resources)
  const { TrashedRecord, TrashQuery } = trashSchemas(all.map(({ table }) => table))
  const withRemoval = (record: Trashed) => ({
    ...record,
    removed_at: isoTime(Date.parse(record.deleted_at) + config.trash_days * day_ms),
  })

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'trash:read',
      summary: 'List what is in the trash',
      description:
        'Latest deletion first, of kinds that the key may read. Notes that went with their contact are not listed: they come back with it.',
      query: TrashQuery,
      answers: { 200: List(TrashedRecord) },
      extension: true,
    },
    async (request) => {
      const { workspace_id, scopes } = request.access
      const { kind } = request.query
      const shown = all.filter(({ table }) => (!kind || table === kind) && rights.mayRead(scopes, table))
      const page = pageOf(request.query, order, ['string', 'string', 'number'])
      const { per_page } = page
      return reading(async (db) => {
        if ('offset' in page) {
          const total = await countTrash(db, workspace_id, shown)
          const records = await listTrash(db, workspace_id, shown, { limit: per_page, offset: page.offset })
          return pageAnswer(records.map(withRemoval), { total, next: null }, order, page)
        }
        const window = { limit: per_page + 1, after: placeOf(page.after) }
        const found = cutPage(await listTrash(db, workspace_id, shown, window), per_page)
        const { last } = found
        const next = last ? [last.deleted_at, last.kind, last.id] : null
        return pageAnswer(found.shown.map(withRemoval), { total: null, next }, order, page)
      })
    },
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:kind/:id`,
      scope: 'trash:write',
      summary: 'Erase a record of the trash at once',
      description:
        'Needs the scope that writes its kind, too. For good: its row, and its data in the audit log, the events and the delivery log. Of a contact, also where records that refer to it name the person. Deliveries under way go on, with what is left.',
      params: TrashParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) => {
      const { kind, id } = request.params
      const resource = all.find(({ table }) => table === kind)
      if (!resource) throw notFound('This record')
      const { table, noun, scope } = resource
      refuseBeyond(request.access, { scope: `${scope}:write` })
      return write.inSteps(request, reply, {
        async before(tx, context) {
          refuseMatch(request)
          if (!(await beginErasure(tx, context.workspace_id, table, id))) throw notFound(`This ${noun}`)
          return context
        },
        // More than one transaction should hold at once: what is interrupted, the cleaning does to the end.
        meanwhile: (context) => eraseRecord({ db, seal, resources }, context, resource, id),
        after: async () => ({
          body: { success: true as const, message: `The ${noun} was erased.` },
        }),
      })
    },
  )
}

function placeOf(parts: readonly unknown[] | null): Place | null {
  if (!parts) return null
  const [deleted_at, kind, id] = parts
  return { deleted_at: String(deleted_at), kind: String(kind), id: Number(id) }
}
