import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CalendarAnswer = (request: IncomingMessage, response: ServerResponse) => unknown

/** An HTTP server with calendars of other programs. It keeps the requests that it got. */
export async function startCalendars() {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = []
  const answers = new Map<string, CalendarAnswer>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers })
    const answer = answers.get(path)
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Sets the answer of a path: a file, or a function that answers. */
    serve(path: string, answer: string | CalendarAnswer) {
      const send: CalendarAnswer = (_, response) =>
        response.writeHead(200, { 'content-type': 'text/calendar' }).end(answer as string)
      answers.set(path, typeof answer === 'string' ? send : answer)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

let uids = 0
/** A file with events: each is its lines without UID and DTSTAMP. */
export const calendarFile = (...events: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Example//EN',
    ...events.flatMap((lines) => [
      'BEGIN:VEVENT',
      ...(/^UID:/m.test(lines) ? [] : [`UID:${++uids}@example.com`]),
      'DTSTAMP:20260101T000000Z',
      'SUMMARY:Dentist',
      ...lines.split('\n'),
      'END:VEVENT',
    ]),
    'END:VCALENDAR',
    '',
  ].join('\r\n')

/** An event of an hour at a time, in UTC. */
export const hourAt = (ms: number): string => {
  const basic = (at: number) => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `DTSTART:${basic(ms)}\nDTEND:${basic(ms + 3_600_000)}`
}
