#!/bin/sh
# ical.js 2.2.1 (npm) takes a time of the lost hour and of the repeated hour one hour otherwise than RFC 5545.
#
# Source: RFC 5545, section 3.3.5: a local time that does not occur has the offset of before the gap, so 02:30 in Berlin on
# 2025-03-30 is 01:30Z. A local time that occurs twice is the first one, so 02:30 on 2025-10-26 is 00:30Z.
# Behaviour: toJSDate() gives 00:30Z, which is 01:30 on a wall in Berlin, and 01:30Z, the second one. It is the same for single
# events and for repeated ones. The VTIMEZONE of the file is registered.
# Output seen:
#   20250330T023000 2025-03-30T00:30:00.000Z
#   20251026T023000 2025-10-26T01:30:00.000Z
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

const rules = [
  ['DAYLIGHT', '+0100', '+0200', '19700329T020000', 3],
  ['STANDARD', '+0200', '+0100', '19701025T030000', 10],
].map(([name, from, to, start, month]) =>
  `BEGIN:${name}\nTZOFFSETFROM:${from}\nTZOFFSETTO:${to}\nDTSTART:${start}
RRULE:FREQ=YEARLY;BYMONTH=${month};BYDAY=-1SU\nEND:${name}`)
const zone = `BEGIN:VTIMEZONE\nTZID:Europe/Berlin\n${rules.join('\n')}\nEND:VTIMEZONE`

function read(time) {
  const event = `BEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20250101T000000Z\nDTSTART;TZID=Europe/Berlin:${time}\nEND:VEVENT`
  const text = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\n${zone}\n${event}\nEND:VCALENDAR\n`
  const calendar = new ICAL.Component(ICAL.parse(text.replaceAll('\n', '\r\n')))
  ICAL.TimezoneService.register(calendar.getFirstSubcomponent('vtimezone'))
  const start = new ICAL.Event(calendar.getFirstSubcomponent('vevent')).startDate.toJSDate().toISOString()
  console.log(time, start)
  return start
}

const lost = read('20250330T023000')
const repeated = read('20251026T023000')
process.exit(lost === '2025-03-30T00:30:00.000Z' && repeated === '2025-10-26T01:30:00.000Z' ? 0 : 1)
END
node read.mjs
