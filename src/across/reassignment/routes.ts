import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { type FieldProblem, notFound, refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { requireScope } from '../../http/auth.ts'
import { endpoints, type Incoming } from '../../http/endpoints.ts'
import { single } from '../../http/envelope.ts'
import { refuseMatch } from '../../http/etag.ts'
import { Exact, TextOrNull, Titled } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Room } from '../../resources/room.ts'
import { countRecordsOf, placesOf, reassign } from './reassign.ts'

const Params = Type.Object({ user_id: Type.String({ description: 'The member, also one who has left.' }) })
const Body = Exact({
  to: TextOrNull({
    maxLength: 64,
    description: 'The new owner, an active member; null: nobody.',
    examples: [null],
  }),
})
const Count = Titled('ReassignedCount', {
  count: Type.Integer({
    description: 'The records that change owner: the first 50 at once, the others within moments.',
  }),
})

type Sent = Incoming<Static<typeof Params>, Static<typeof Body>>

/** POST that gives the records of a member to another one. */
export function reassignmentRoutes(app: App, service: Service, rooms: readonly Room[]): void {
  const places = placesOf(rooms)
  const owned = rooms.filter(({ resource }) => resource.members.length)
  endpoints(app, service, {
    path: '/api/v1/members',
    params: Params,
    reads: 'members:read',
    writes: 'members:write',
    noun: 'member',
  }).verb(
    {
      name: 'reassign',
      summary: 'Give the records of a member to another one',
      description:
        'Needs the write scope of every kind that has an owner. Each change has its event and its audit entry. A booking at whose time the new owner is busy keeps its owner.',
      body: Body,
      view: Count,
      answers_no_record: true,
    },
    async (tx, context, { request, params, body, problems }: Sent) => {
      for (const { resource } of owned) requireScope(request.access, { scope: `${resource.scope}:write` })
      const { user_id: from_id } = params
      const to_id = body.to ?? null
      const owned_by = await countRecordsOf(tx, context, places, from_id)
      if (!owned_by && !(await isMember(tx, context, from_id))) throw notFound('This member')
      // It changes the records, also those of a member who has left.
      refuseMatch(request)
      refuse(problems)
      refuse(await ownerProblems(tx, context, to_id))
      const given = from_id === to_id ? 0 : owned_by
      const count = given && (await reassign(tx, context, places, { from_id, to_id }, given))
      return { body: single({ count }) }
    },
  )
}

async function isMember(tx: Tx, { workspace_id }: Context, user_id: string): Promise<boolean> {
  const found = await tx
    .selectFrom('memberships')
    .select('user_id')
    .where((eb) => eb.and({ workspace_id, user_id }))
    .executeTakeFirst()
  return found !== undefined
}

async function ownerProblems(tx: Tx, context: Context, to: string | null): Promise<FieldProblem[]> {
  if (to === null || (await isMember(tx, context, to))) return []
  return [{ field: 'to', code: 'not_found', message: 'to must be the id of an active member.' }]
}
