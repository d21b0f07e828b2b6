import { hash } from 'node:crypto'
import type { Appointment } from '../resources/appointments/schema.ts'

// RFC 5545. Lines are at most 75 octets long and end with CRLF (3.1); of a text, these characters are escaped (3.3.11).

const textOf = (text: string) =>
  text
    .replaceAll(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll(/\r\n|\r|\n/g, '\\n')
    // Other control characters may not occur at all.
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
const timeText = (iso: string) => iso.replaceAll(/[-:]|\.\d+/g, '')

function folded(line: string): string {
  const lines: string[] = []
  let current = ''
  let octets = 0
  // By characters: none is divided.
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
 * The appointment as a calendar file. Loaded again after a change, it replaces what it was, by its UID and by SEQUENCE,
 * which grows with every change.
 */
export function calendarFile(
  appointment: Appointment,
  { link, token, sequence }: { link: string; token: string; sequence: number },
): string {
  const { title, location, start_at, end_at, status, created_at, updated_at } = appointment
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Rapport//Booking//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    // Of the link, so that it stays whatever changes; nobody learns the link from it.
    `UID:${hash('sha256', `calendar ${token}`).slice(0, 32)}@rapport`,
    `DTSTAMP:${timeText(updated_at)}`,
    `CREATED:${timeText(created_at)}`,
    `LAST-MODIFIED:${timeText(updated_at)}`,
    `SEQUENCE:${sequence}`,
    `DTSTART:${timeText(start_at)}`,
    `DTEND:${timeText(end_at)}`,
    `SUMMARY:${textOf(title)}`,
    `DESCRIPTION:${textOf(`${status === 'requested' ? 'Not confirmed yet. ' : ''}Cancel or move: ${link}`)}`,
    ...(location === null ? [] : [`LOCATION:${textOf(location)}`]),
    `URL:${link}`,
    `STATUS:${calendar_statuses[status]}`,
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}
