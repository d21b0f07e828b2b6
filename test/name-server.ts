import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

const types = { A: 1, AAAA: 28 }
const server_failure = 2
const no_such_name = 3

/** The answer for a name: its addresses, none (the name does not exist), SERVFAIL, or no answer. */
type Known = (name: string) => string[] | 'failure' | 'silence'

/** A name server on 127.0.0.1 that answers questions for A and AAAA records (RFC 1035). */
export async function startNameServer(known: Known) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const name = nameIn(query)
    asked.push(name)
    const answer = known(name)
    if (answer !== 'silence') socket.send(answerTo(query, answer), from.port, from.address)
  })
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((closed) => socket.close(() => closed())),
  }
}

const header_length = 12

function nameIn(query: Buffer): string {
  const labels: string[] = []
  let at = header_length
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return labels.join('.').toLowerCase()
}

function answerTo(query: Buffer, answer: string[] | 'failure'): Buffer {
  const addresses = answer === 'failure' ? [] : answer
  const none = answer === 'failure' ? server_failure : no_such_name
  const question_end = query.indexOf(0, header_length) + 5
  const type = query.readUInt16BE(question_end - 4)
  const wanted = addresses.filter((address) => (isIPv6(address) ? types.AAAA : types.A) === type)
  const header = Buffer.alloc(header_length)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (addresses.length ? 0 : none), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(wanted.length, 6)
  const records = wanted.map((address) => {
    const data = bytesOf(address)
    const record = Buffer.alloc(12)
    // A pointer to the name in the question.
    record.writeUInt16BE(0xc000 | header_length, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([header, query.subarray(header_length, question_end), ...records])
}

// IPv6 addresses are written out in full here.
const bytesOf = (address: string): Buffer =>
  isIPv6(address)
    ? Buffer.from(address.replaceAll(':', ''), 'hex')
    : Buffer.from(address.split('.').map(Number))
