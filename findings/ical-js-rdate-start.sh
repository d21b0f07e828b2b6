#!/bin/sh
# ical.js 2.2.1 (npm) drops the first occurrence of an event that repeats by RDATE alone.
#
# Source: RFC 5545, sections 3.8.2.4 and 3.8.5.2: DTSTART is the first instance of the set, and RDATE adds to it.
# Behaviour: Event.iterator() returns the RDATE values only. With an RRULE beside them, DTSTART is there. So the meeting that
# the event itself names is missing from a list of its times.
# Output seen:
#   RDATE           20250401T090000Z
#   RRULE and RDATE 20250328T090000Z 20250329T090000Z 20250401T090000Z
#
# Exits with 0 while it is so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1
cat > read.mjs <<'END'
import ICAL from 'ical.js'

function times(lines) {
  const event = `BEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20250101T000000Z
DTSTART:20250328T090000Z\nDTEND:20250328T100000Z\n${lines}\nEND:VEVENT`
  const text = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\n${event}\nEND:VCALENDAR\n`.replaceAll('\n', '\r\n')
  const iterator = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')).iterator()
  const found = []
  for (let next = iterator.next(); next; next = iterator.next()) found.push(next.toICALString())
  return found.join(' ')
}

const alone = times('RDATE:20250401T090000Z')
const beside = times('RRULE:FREQ=DAILY;COUNT=2\nRDATE:20250401T090000Z')
console.log(`RDATE           ${alone}\nRRULE and RDATE ${beside}`)
process.exit(alone === '20250401T090000Z' && beside.startsWith('20250328T090000Z') ? 0 : 1)
END
node read.mjs
