#!/bin/sh
# ical.js 2.2.1 reads 24 hours as a day, and node-ical 0.27.2 (both npm) reads a day as 24 hours.
#
# Source: RFC 5545, section 3.3.6: days and weeks of a duration are nominal, hours are exact. On the night of a clock change a
# day has 23 hours. From noon of 2025-03-29 in Berlin (11:00Z), P1D ends at noon (10:00Z) and PT24H at 13:00 (11:00Z).
# Behaviour: each library gives one end for both durations, and each gives another one. So an end that a file writes as a
# duration is an hour wrong in one of them, and only twice a year.
# Output seen:
#   P1D    ical.js 2025-03-30T10:00:00.000Z  node-ical 2025-03-30T11:00:00.000Z
#   PT24H  ical.js 2025-03-30T10:00:00.000Z  node-ical 2025-03-30T11:00:00.000Z
#
# Exits with 0 while it is so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1 node-ical@0.27.2
cat > read.mjs <<'END'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'

const rules = [
  ['DAYLIGHT', '+0100', '+0200', '19700329T020000', 3],
  ['STANDARD', '+0200', '+0100', '19701025T030000', 10],
].map(([name, from, to, start, month]) =>
  `BEGIN:${name}\nTZOFFSETFROM:${from}\nTZOFFSETTO:${to}\nDTSTART:${start}
RRULE:FREQ=YEARLY;BYMONTH=${month};BYDAY=-1SU\nEND:${name}`)
const zone = `BEGIN:VTIMEZONE\nTZID:Europe/Berlin\n${rules.join('\n')}\nEND:VTIMEZONE`

function ends(duration) {
  const event = `BEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20250101T000000Z
DTSTART;TZID=Europe/Berlin:20250329T120000\nDURATION:${duration}\nEND:VEVENT`
  const text = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\n${zone}\n${event}\nEND:VCALENDAR\n`.replaceAll('\n', '\r\n')
  const calendar = new ICAL.Component(ICAL.parse(text))
  ICAL.TimezoneService.register(calendar.getFirstSubcomponent('vtimezone'))
  const ical = new ICAL.Event(calendar.getFirstSubcomponent('vevent')).endDate.toJSDate().toISOString()
  const node = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT').end.toISOString()
  console.log(`${duration.padEnd(6)} ical.js ${ical}  node-ical ${node}`)
  return { ical, node }
}

const [day, hours] = [ends('P1D'), ends('PT24H')]
const [nominal, exact] = ['2025-03-30T10:00:00.000Z', '2025-03-30T11:00:00.000Z']
const so = day.ical === nominal && hours.ical === nominal && day.node === exact && hours.node === exact
process.exit(so ? 0 : 1)
END
node read.mjs
