#!/bin/sh
# node-ical 0.27.2 (npm) reads an escaped backslash before an n as a line end.
#
# Source: RFC 5545, section 3.3.11: in a TEXT value, "\\" is a backslash and "\n" is a line end. "C:\\new" is C:\new.
# Behaviour: lib/ical-parser-utils.js replaces "\n" everywhere before it replaces "\\". So the second backslash and the n
# become a line end. ical.js 2.2.1 reads the same bytes right.
# Output seen:
#   node-ical "C:\\\new"
#   ical.js   "C:\\new"
# (a backslash, a line end and "ew"; then a backslash and "new", both as JSON texts)
#
# Exits with 0 while node-ical does this and ical.js does not, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund node-ical@0.27.2 ical.js@2.2.1
cat > read.mjs <<'END'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'

const text = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Example//EN',
  'BEGIN:VEVENT',
  'UID:1@example.com',
  'DTSTAMP:20261201T000000Z',
  'DTSTART:20261215T140000Z',
  String.raw`SUMMARY:C:\\new`,
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')
const event = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT')
const right = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent').getFirstPropertyValue('summary')
console.log('node-ical', JSON.stringify(event.summary))
console.log('ical.js  ', JSON.stringify(right))
process.exitCode = event.summary === 'C:\\\new' && right === 'C:\\new' ? 0 : 1
END
node read.mjs
