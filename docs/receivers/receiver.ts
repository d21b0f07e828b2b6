/**
 * A complete webhook receiver, Node's own modules only:
 *   WEBHOOK_SECRET='whsec_…' PORT=4000 node receiver.ts
 * During a rotation put the new secret into WEBHOOK_SECRET_NEXT; either one is accepted then.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'

type Event = {
  id: string
  event: string
  timestamp: string
  webhook_id: string
  data: Record<string, unknown>
}

const secrets = [process.env.WEBHOOK_SECRET, process.env.WEBHOOK_SECRET_NEXT].flatMap(
  (secret) => secret || [],
)
const port = Number(process.env.PORT ?? 4000)
// Anyone can reach a public endpoint; without a limit anyone can fill its memory.
const maxBodyBytes = 8 * 1024 * 1024
const rememberedDeliveries = 10_000

if (secrets.length === 0) {
  console.error('Set WEBHOOK_SECRET to the secret that the registration answered with.')
  process.exit(1)
}

/** True when the header is `sha256=` + hex HMAC-SHA256 of these bytes under this secret. */
function isSignedWith(secret: string, body: Buffer, header: string | string[] | undefined): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(String(header ?? ''))
  // An ordinary comparison stops at the first wrong byte and so tells how much of a guess was right.
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function isGenuine({ headers }: IncomingMessage, body: Buffer): boolean {
  const signatures = [headers['x-service-signature'], headers['x-service-signature-next']]
  return secrets.some((secret) => signatures.some((signature) => isSignedWith(secret, body, signature)))
}

/** The raw bytes: parsing and printing JSON again would give other bytes, and the signature would not match. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// In earnest: a unique column in your database, filled before the answer, so that a restart forgets nothing.
const seen = new Set<string>()

function isFirstTime(delivery: string): boolean {
  if (seen.has(delivery)) return false
  seen.add(delivery)
  for (const oldest of seen) {
    if (seen.size <= rememberedDeliveries) break
    seen.delete(oldest)
  }
  return true
}

/** Your work goes here; it runs after the answer, so it may take its time. */
async function handle(event: Event): Promise<void> {
  console.log(`${event.timestamp} ${event.event} ${JSON.stringify(event.data)}`)
}

const server = createServer(async (request, response) => {
  const answer = (status: number) => response.writeHead(status).end()
  try {
    if (request.method !== 'POST') return answer(405)
    const body = await readBody(request)
    if (body === undefined) return answer(413)
    if (!isGenuine(request, body)) return answer(401)

    // Before the delivery counts as seen: what cannot be read must come again, not be taken for a duplicate.
    const event: Event = JSON.parse(body.toString('utf8'))
    const delivery = String(request.headers['x-service-delivery'])
    if (!isFirstTime(delivery)) {
      console.log(`${delivery} came again: ignored`)
      return answer(200)
    }
    answer(200)
    handle(event).catch((error) => console.error(`${delivery} could not be handled`, error))
  } catch (error) {
    console.error(error)
    if (!response.headersSent) answer(500)
  }
})

server.listen(port, () => console.log(`Receiving webhooks on port ${port}`))
