import { hash } from 'node:crypto'
import type { Appointment } from '../resources/appointments/schema.ts'
import type { Texts } from './texts.ts'

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

function folded(line: string): string {
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

const calendar_statuses = {
  requested: 'TENTATIVE',
  scheduled: 'CONFIRMED',
  cancelled: 'CANCELLED',
  declined: 'CANCELLED',
} as const

/**
 * The appointment as a calendar file, without METHOD: every method needs an ORGANIZER (RFC 5546, 3.2), and a booking page
 * has no address. A later file replaces it, by the same UID and a higher SEQUENCE.
 */
export function calendarFile(
  appointment: Appointment,
  { link, token, sequence, texts }: { link: string; token: string; sequence: number; texts: Texts },
): string {
  const { title, location, start_at, end_at, status, created_at, updated_at } = appointment
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Rapport//Booking//EN',
    'CALSCALE:GREGORIAN',
    'BEGIN:VEVENT',
    // A hash of the link's token: it never changes, and does not reveal the link.
    `UID:${hash('sha256', `calendar ${token}`).slice(0, 32)}@rapport`,
    `DTSTAMP:${timeText(updated_at)}`,
    `CREATED:${timeText(created_at)}`,
    `LAST-MODIFIED:${timeText(updated_at)}`,
    `SEQUENCE:${sequence}`,
    `DTSTART:${timeText(start_at)}`,
    `DTEND:${timeText(end_at)}`,
    `SUMMARY:${textOf(title)}`,
    `DESCRIPTION:${textOf(texts.in_calendar({ requested: status === 'requested', link }))}`,
    ...(location === null ? [] : [`LOCATION:${textOf(location)}`]),
    `URL:${link}`,
    `STATUS:${calendar_statuses[status]}`,
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}
