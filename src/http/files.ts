import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliDecompress, createGunzip, createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsCoding } from './compression.ts'

type Coding = 'br' | 'gzip' | 'identity'

/**
 * A file that is the same for everybody. All answers share its bytes, so that many slow clients do not need memory for many
 * copies. `codings`: the compressed forms, the best one first.
 */
export type File = {
  type: string
  hash: string
  codings: readonly Coding[]
  bytes(coding: Coding): Buffer | Promise<Buffer | Readable>
}

// As long as the names of the web app's files need it.
const hashOf = (bytes: Buffer) => hash('sha256', bytes).slice(0, 16)

/** A small file. */
export function plainFile(type: string, text: string): File {
  const bytes = Buffer.from(text)
  return { type, hash: hashOf(bytes), codings: [], bytes: () => bytes }
}

/**
 * A large file, given in brotli. Only compressed forms stay in memory. Browsers accept brotli from https and from this machine
 * only. Others get gzip, which is made when the first of them asks.
 */
export function packedFile(type: string, br: Buffer): File {
  let gzipped: Promise<Buffer> | undefined
  async function bytes(coding: Coding): Promise<Buffer | Readable> {
    if (coding === 'br') return br
    gzipped ??= asGzip(br)
    const packed = await gzipped
    // The window of gzip has 32 KiB, that of brotli 4 MiB for each client.
    return coding === 'gzip' ? packed : Readable.from([packed]).pipe(createGunzip())
  }
  return { type, hash: hashOf(br), codings: ['br', 'gzip'], bytes }
}

// In parts: the whole file is never in memory.
const asGzip = (br: Buffer): Promise<Buffer> =>
  pipeline([br], createBrotliDecompress(), createGzip({ level: constants.Z_BEST_COMPRESSION }), buffer)

/** Answers with a file; 304 to a client that has it. An address that ends with its hash is never asked for again. */
export async function sendFile({ headers, url }: FastifyRequest, reply: FastifyReply, file: File) {
  const coding = file.codings.find((one) => acceptsCoding(headers['accept-encoding'], one)) ?? 'identity'
  const vary = reply.getHeader('vary')
  const is_fixed = url.endsWith(`?${file.hash}`)
  reply.headers({
    etag: `"${file.hash}.${coding}"`,
    'cache-control': is_fixed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(file.codings.length && { vary: vary ? `${vary}, accept-encoding` : 'accept-encoding' }),
  })
  // A proxy may have changed the tag, and the coding with it.
  if (headers['if-none-match']?.includes(`"${file.hash}.`)) return reply.code(304).send()
  if (coding !== 'identity') reply.header('content-encoding', coding)
  return reply.type(`${file.type}; charset=utf-8`).send(await file.bytes(coding))
}
