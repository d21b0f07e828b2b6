#!/bin/sh
# ical.js 2.2.1 (npm) cannot give the details of an occurrence that an RDATE states as a period.
#
# Source: RFC 5545, section 3.8.5.2: an RDATE may be a PERIOD, which gives the occurrence a length of its own.
# Behaviour: Event.iterator() returns an ICAL.Period among times. Event.getOccurrenceDetails() of it throws a TypeError, so the
# loop of the library's guide ends at such an event. The period itself has the right start and end.
# Output seen:
#   period 2025-04-01T08:00:00Z/2025-04-01T11:30:00Z: TypeError occurrence.convertToZone is not a function
#
# Exits with 0 while it throws, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1
cat > read.mjs <<'END'
import ICAL from 'ical.js'

const event = `BEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20250101T000000Z\nDTSTART:20250328T090000Z\nDTEND:20250328T100000Z
RDATE;VALUE=PERIOD:20250401T080000Z/20250401T113000Z\nEND:VEVENT`
const text = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\n${event}\nEND:VCALENDAR\n`.replaceAll('\n', '\r\n')
const read = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent'))
const iterator = read.iterator()
let thrown = false
for (let next = iterator.next(); next; next = iterator.next()) {
  try {
    const { startDate, endDate } = read.getOccurrenceDetails(next)
    console.log(startDate.toICALString(), endDate.toICALString())
  } catch (error) {
    thrown = next instanceof ICAL.Period && error instanceof TypeError
    console.log(`period ${next}: ${error.name} ${error.message}`)
  }
}
process.exit(thrown ? 0 : 1)
END
node read.mjs
