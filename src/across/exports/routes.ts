import { PassThrough, pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { TSchema } from 'typebox'
import { isoTime } from '../../clock.ts'
import { forbidden } from '../../errors.ts'
import type { Access } from '../../http/auth.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { streamSnapshot } from '../../http/snapshots.ts'
import type { Room } from '../../resources/room.ts'
import { archive, type Others, sourcesOf } from './workspace.ts'

const type = 'application/gzip'
// A schema of Fastify, which describes an answer that has no JSON.
const file = {
  description: 'A .tar.gz archive.',
  content: { [type]: { schema: { type: 'string' } } },
} as unknown as TSchema

/** GET of everything in the workspace as one archive. `others` is what it has besides records. */
export function workspaceExportRoute(
  app: App,
  service: Service,
  rooms: readonly Room[],
  others: Others,
): void {
  const { openSnapshot, db, recheckAccess, clock, scopes } = service
  const sources = sourcesOf(rooms)
  const needed = scopes.filter((scope) => scope.endsWith(':read'))
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/workspace/export',
      scope: 'workspace:read',
      summary: 'Export the workspace',
      description:
        'Everything but the trash as it was when the export began: a .tar.gz archive with files of JSON lines, such as contacts-0001.ndjson, of about 4 MiB. Needs every scope that reads. 503 while too many exports are running.',
      answers: { 200: file },
      endless: true,
    },
    async (request, reply) => {
      const { access, method } = request
      refuseWithout(access, needed)
      const now_ms = clock.now()
      const headers = {
        'content-type': type,
        'content-disposition': `attachment; filename="workspace-${isoTime(now_ms).slice(0, 10)}.tar.gz"`,
        'cache-control': 'no-store',
      }
      if (method === 'HEAD') return reply.headers(headers).send('')
      const snapshot = await openSnapshot(access.workspace_id)
      // Set these headers only now: an error before this point is sent as JSON, not as a file.
      reply.headers(headers)
      const content = streamSnapshot(snapshot, archive(snapshot.db, access, { sources, others, clock }), {
        recheck: async () => refuseWithout(await recheckAccess(db, request), needed),
      })
      return reply.send(pipeline(content, createGzip(), new PassThrough(), () => {}))
    },
  )
}

function refuseWithout({ scopes }: Access, needed: readonly string[]): void {
  const lacked = needed.filter((scope) => scopes && !scopes.includes(scope))
  if (lacked.length) throw forbidden(`An export of the workspace also needs ${lacked.join(', ')}.`)
}
