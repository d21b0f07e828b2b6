#!/bin/sh
# node-ical 0.27.2 (npm) moves one occurrence where the file moves this one and all that follow.
#
# Source: RFC 5545, section 3.2.13: RECURRENCE-ID with RANGE=THISANDFUTURE holds for the given occurrence and all later ones.
# Behaviour: expandRecurringEvent() moves the third day alone; the fourth and fifth stay at the old hour. There is no warning.
# ical.js 2.2.1 moves the third, fourth and fifth.
# Output seen (hours of the five days):
#   node-ical 10 10 14 10 10
#   ical.js   10 10 14 14 14
#
# Exits with 0 while the two differ so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1 node-ical@0.27.2
cat > read.mjs <<'END'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'

const event = (lines) => `BEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20250101T000000Z\n${lines}\nEND:VEVENT`
const text = `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN
${event('DTSTART:20250602T100000Z\nDTEND:20250602T110000Z\nRRULE:FREQ=DAILY;COUNT=5')}
${event('RECURRENCE-ID;RANGE=THISANDFUTURE:20250604T100000Z\nDTSTART:20250604T140000Z\nDTEND:20250604T150000Z')}
END:VCALENDAR
`.replaceAll('\n', '\r\n')

const repeated = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT')
const range = { from: new Date('2025-06-01T00:00:00Z'), to: new Date('2025-06-30T00:00:00Z') }
const node = nodeIcal.expandRecurringEvent(repeated, range).map(({ start }) => start.getUTCHours()).join(' ')

const events = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((part) => new ICAL.Event(part))
const main = events.find((part) => !part.isRecurrenceException())
for (const part of events) if (part !== main) main.relateException(part)
const hours = []
const iterator = main.iterator()
for (let next = iterator.next(); next; next = iterator.next()) hours.push(main.getOccurrenceDetails(next).startDate.hour)

console.log(`node-ical ${node}\nical.js   ${hours.join(' ')}`)
process.exit(node === '10 10 14 10 10' && hours.join(' ') === '10 10 14 14 14' ? 0 : 1)
END
node read.mjs
