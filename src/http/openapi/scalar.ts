import { compressOnce } from '../compression.ts'

/** The script of the docs page in brotli. A release has another module in this place. */
export const packedScalar = async (): Promise<Buffer> => compressOnce(Buffer.from(await readScalar()))

/**
 * The script of the docs page. The package offers it only as a route of a plugin, and a running server cannot register
 * plugins: a second server, which listens nowhere, does.
 */
export async function readScalar(): Promise<string> {
  const [{ default: Fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ])
  const shelf = Fastify()
  await shelf.register(reference, { routePrefix: '/docs', configuration: { url: '/api/v1/openapi.json' } })
  const answer = await shelf.inject('/docs/js/scalar.js')
  await shelf.close()
  if (answer.statusCode !== 200)
    throw new Error('The script of the docs page is missing in the installation.')
  return answer.body
}
