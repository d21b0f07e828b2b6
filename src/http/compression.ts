import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { App } from './server.ts'

// A smaller answer fits into one or two packets as it is.
const min_bytes = 2048

/** Whether a caller accepts a coding by its name (RFC 9110, 12.5.3). */
export const acceptsCoding = (header: string | string[] | undefined, name: string): boolean =>
  String(header ?? '')
    .split(',')
    .map((part) => part.replaceAll(' ', '').toLowerCase())
    .some((part) => part.split(';')[0] === name && !/;q=0(\.0*)?$/.test(part))

const gzipped = promisify(gzip)
/** Compresses a text with gzip, quickly, in another thread. */
export const compress = (text: string | Buffer): Promise<Buffer> =>
  gzipped(text, { level: constants.Z_BEST_SPEED })

const brotli = promisify(brotliCompress)
// A file that is sent often. A higher quality takes ten times as long for a twentieth of the bytes.
const quality = 5
/** Compresses a file once for many answers with brotli, in another thread. */
export const compressOnce = (bytes: Buffer): Promise<Buffer> =>
  brotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })

/**
 * Compresses answers to people's browsers, which often have slow lines. Programs get plain answers: compression takes longer than a
 * local network. An answer with an ETag stays plain, because the tag names its bytes. Another site cannot measure answers (BREACH):
 * browsers send the session's cookie to pages of the same site only.
 */
export function compressForPeople(app: App): void {
  app.addHook('onSend', ({ method, access, headers }, reply, payload, done) => {
    const is_text = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!is_text || payload.length < min_bytes) return done(null, payload)
    const is_read = method === 'GET' && access?.actor.kind === 'person' && !reply.hasHeader('etag')
    if (!is_read || reply.hasHeader('content-encoding')) return done(null, payload)
    const vary = reply.getHeader('vary')
    reply.header('vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding')
    if (!acceptsCoding(headers['accept-encoding'], 'gzip')) return done(null, payload)
    compress(payload).then((bytes) => {
      reply.header('content-encoding', 'gzip')
      done(null, bytes)
    }, done)
  })
}
