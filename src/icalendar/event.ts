// RFC 5545: lines are at most 75 octets long and end with CRLF (3.1), and texts are escaped (3.3.11).

// node-ical reads an escaped backslash before an n as a line end. An invisible word joiner keeps the two apart.
const textOf = (text: string) =>
  text
    .replaceAll(/\\(?=[nN])/g, '\\\u2060')
    .replaceAll(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll(/\r\n|\r|\n/g, '\\n')
    // Other control characters are not allowed.
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
const timeText = (iso: string) => iso.replaceAll(/[-:]|\.\d+/g, '')

/** The lines of a file as they are sent: folded, each with its end. */
export const foldedLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => `${folded(line)}\r\n`)
    .join('')

function folded(line: string): string {
  if (Buffer.byteLength(line) <= 75) return line
  const lines: string[] = []
  let current = ''
  let octets = 0
  // Never divide a character.
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > 75) {
      lines.push(current)
      current = ' '
      octets = 1
    }
    current += character
    octets += size
  }
  return [...lines, current].join('\r\n')
}

export const calendar_statuses = {
  requested: 'TENTATIVE',
  scheduled: 'CONFIRMED',
  cancelled: 'CANCELLED',
  declined: 'CANCELLED',
} as const

/** An event of a calendar file. A later file replaces it, by the same uid and a higher sequence. */
export type CalendarEvent = {
  uid: string
  sequence: number
  title: string
  start_at: string
  end_at: string
  location: string | null
  description: string
  url: string
  status: (typeof calendar_statuses)[keyof typeof calendar_statuses]
  created_at: string
  updated_at: string
  /** It blocks no time. */
  transparent?: true
  /** The addresses that a method needs (RFC 5546, 3.2); without them, the file has no method. */
  invitation?: { method: 'REQUEST' | 'CANCEL'; organizer: string; attendee: string }
}

const begin = (product: string, ...more: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', `PRODID:-//Rapport//${product}//EN`, 'CALSCALE:GREGORIAN', ...more].join(
    '\n',
  )

/** The beginning of a calendar that programs read again and again. */
export const calendarHead = (name: string): string =>
  begin(
    'Calendar',
    `X-WR-CALNAME:${textOf(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
    'X-PUBLISHED-TTL:PT15M',
  )
export const calendarEnd = 'END:VCALENDAR'

type Entry = Pick<
  CalendarEvent,
  'uid' | 'sequence' | 'title' | 'description' | 'url' | 'created_at' | 'updated_at'
>
const sharedLines = ({ uid, sequence, title, description, url, created_at, updated_at }: Entry) => [
  `UID:${uid}`,
  `DTSTAMP:${timeText(updated_at)}`,
  `CREATED:${timeText(created_at)}`,
  `LAST-MODIFIED:${timeText(updated_at)}`,
  `SEQUENCE:${sequence}`,
  `SUMMARY:${textOf(title)}`,
  ...(description ? [`DESCRIPTION:${textOf(description)}`] : []),
  ...(url ? [`URL:${url}`] : []),
]

/** An event, in lines that are not folded yet. */
export function eventLines(event: CalendarEvent): string {
  const { location, status, invitation, transparent } = event
  return [
    'BEGIN:VEVENT',
    ...sharedLines(event),
    `DTSTART:${timeText(event.start_at)}`,
    `DTEND:${timeText(event.end_at)}`,
    ...(location === null ? [] : [`LOCATION:${textOf(location)}`]),
    ...(transparent ? ['TRANSP:TRANSPARENT'] : []),
    ...(invitation
      ? [
          `ORGANIZER:mailto:${invitation.organizer}`,
          `ATTENDEE;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:${invitation.attendee}`,
        ]
      : []),
    `STATUS:${status}`,
    'END:VEVENT',
  ].join('\n')
}

/** A task, in lines that are not folded yet. */
export const todoLines = (task: Entry & { due_at: string; completed_at: string | null }): string =>
  [
    'BEGIN:VTODO',
    ...sharedLines(task),
    `DUE:${timeText(task.due_at)}`,
    ...(task.completed_at === null
      ? ['STATUS:NEEDS-ACTION']
      : ['STATUS:COMPLETED', `COMPLETED:${timeText(task.completed_at)}`]),
    'END:VTODO',
  ].join('\n')

/** The file of an event, in lines that are not folded yet. */
export const eventFile = (event: CalendarEvent): string =>
  [
    begin('Booking', ...(event.invitation ? [`METHOD:${event.invitation.method}`] : [])),
    eventLines(event),
    calendarEnd,
  ].join('\n')
