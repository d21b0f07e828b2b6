/**
 * A complete webhook receiver for Node 18 or newer, without dependencies:
 *   WEBHOOK_SECRET='whsec_…' PORT=4000 node receiver.mjs
 * During a rotation put the new secret into WEBHOOK_SECRET_NEXT; either one is accepted then.
 * Deliveries are stored in the file that STORE names (./received.ndjson).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'

const secrets = [process.env.WEBHOOK_SECRET, process.env.WEBHOOK_SECRET_NEXT].filter(Boolean)
const port = Number(process.env.PORT ?? 4000)
// Anyone can reach a public endpoint; without a limit anyone can fill its memory.
const maxBodyBytes = 8 * 1024 * 1024

if (secrets.length === 0) {
  console.error('Set WEBHOOK_SECRET to the secret of your webhook.')
  process.exit(1)
}

/** True when the header is `sha256=` + hex HMAC-SHA256 of these bytes under this secret. */
function isSignedWith(secret, body, header) {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(String(header ?? ''))
  // An ordinary comparison stops at the first wrong byte and so tells how much of a guess was right.
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function isGenuine({ headers }, body) {
  const signatures = [headers['x-service-signature'], headers['x-service-signature-next']]
  return secrets.some((secret) => signatures.some((signature) => isSignedWith(secret, body, signature)))
}

/** The raw bytes: parsing and printing JSON again would give other bytes, and the signature would not match. */
async function readBody(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// The store: a line {delivery, event} for each delivery, and a line {handled} when its work is done.
// In production use your database: a table whose primary key is the delivery id.
const store = await open(process.env.STORE ?? 'received.ndjson', 'a+', 0o600)
const seen = new Set()
const waiting = new Map()
for await (const line of store.readLines({ start: 0, autoClose: false })) {
  try {
    const { delivery, event, handled } = JSON.parse(line)
    if (handled) {
      waiting.delete(handled)
    } else {
      seen.add(delivery)
      waiting.set(delivery, event)
    }
  } catch {
    // A crash can cut the last line off. Its delivery was not answered, so it comes again.
  }
}
// A line that was cut off must not swallow the next one.
if (seen.size) await store.appendFile('\n')

// One write at a time. Each one resolves when the disk has the line.
let writing = Promise.resolve()
function append(entry) {
  const written = writing.then(async () => {
    await store.appendFile(`${JSON.stringify(entry)}\n`)
    await store.datasync()
  })
  writing = written.catch(() => {})
  return written
}

/** Your work goes here. It runs after the answer, and again after a crash that came before its end. */
async function handle(event) {
  console.log(`${event.timestamp} ${event.event} ${JSON.stringify(event.data)}`)
}

async function work(delivery, event) {
  try {
    await handle(event)
    await append({ handled: delivery })
  } catch (error) {
    console.error(`${delivery} could not be handled; the next start tries again.`, error)
  }
}

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end()
  try {
    if (request.method !== 'POST') return answer(405)
    const body = await readBody(request)
    if (body === undefined) return answer(413)
    if (!isGenuine(request, body)) return answer(401)

    const event = JSON.parse(body.toString('utf8'))
    const delivery = String(request.headers['x-service-delivery'])
    if (seen.has(delivery)) {
      console.log(`${delivery} came again: ignored`)
      // The first copy may still be on its way to the disk, or may fail to get there.
      await writing
      return answer(seen.has(delivery) ? 200 : 500)
    }
    // Store first, then answer: a success tells the service to forget the delivery.
    seen.add(delivery)
    await append({ delivery, event }).catch((error) => {
      seen.delete(delivery)
      throw error
    })
    answer(200)
    await work(delivery, event)
  } catch (error) {
    console.error(error)
    if (!response.headersSent) answer(500)
  }
})

for (const [delivery, event] of waiting) await work(delivery, event)
server.listen(port, () => console.log(`Receiving webhooks on port ${port}`))
