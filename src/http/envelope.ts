import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { TextOrNull, Titled } from './fields.ts'

// All properties are optional, so that the serialiser keeps their order: it writes required ones first.
export const Meta = Titled(
  'Pagination',
  {
    current_page: Type.Optional(Type.Integer()),
    last_page: Type.Optional(Type.Integer()),
    per_page: Type.Optional(Type.Integer()),
    total: Type.Optional(Type.Integer()),
    next_cursor: Type.Optional(
      TextOrNull({
        description:
          'With `cursor`, in place of the other three: the cursor of the next page. Null at the end.',
      }),
    ),
  },
  {
    examples: [{ current_page: 1, last_page: 1, per_page: 25, total: 1 }],
  },
)

/** Schemas of the success envelopes (contract: envelope). */
export const Single = <T extends TSchema>(data: T) => Type.Object({ success: Type.Literal(true), data })
export const List = <T extends TSchema>(item: T) =>
  Type.Object({ success: Type.Literal(true), data: Type.Array(item), meta: Meta })
export const Deleted = Titled('Deleted', {
  success: Type.Literal(true),
  message: Type.String({ examples: ['The contact was deleted.'] }),
})

export const single = <T>(data: T) => ({ success: true as const, data })
export const deleted = (what: string) => ({ success: true as const, message: `${what} was deleted.` })

/** The requested page, with per_page limited to 100. `offset` is the number of records before it. */
export function paging(query: { page: number; per_page: number }) {
  const per_page = Math.min(query.per_page, 100)
  // No list is longer, and larger numbers are not exact.
  const offset = Math.min((query.page - 1) * per_page, 1e15)
  return { page: query.page, per_page, offset }
}

type Paging = { page: number; per_page: number }

/** The answer of a list: one page of records and the exact total. */
export const list = <T>(data: T[], counted: number, paging: Paging) => ({
  success: true as const,
  data,
  meta: paginationOf(data.length, counted, paging),
})

/** The pagination of a page with some records. */
export function paginationOf(records: number, counted: number, { page, per_page }: Paging) {
  // The page is read after the total. Count a record that was added in between.
  const total = records ? Math.max(counted, (page - 1) * per_page + records) : counted
  const last_page = Math.max(1, Math.ceil(total / per_page))
  return { current_page: page, last_page, per_page, total }
}

/** Sends data that is JSON text already. Its schema describes it, but does not change it. */
export function sendText(reply: FastifyReply, data: string, meta?: object): FastifyReply {
  const more = meta ? `,"meta":${JSON.stringify(meta)}` : ''
  return reply.type('application/json; charset=utf-8').send(`{"success":true,"data":${data}${more}}`)
}
