#!/bin/sh
# ical.js 2.2.1 (npm) moves a yearly event of 29 February to 1 March in other years.
#
# Source: RFC 5545, section 3.3.10: a recurrence on a date that does not exist, such as 30 February, is ignored and not counted.
# Behaviour: FREQ=YEARLY from 2024-02-29 gives 1 March 2025. With BYMONTH=2 and BYMONTHDAY=29 beside it, the same event happens
# on leap days alone. rrule-temporal 2.2.8 gives leap days for both.
# Output seen:
#   FREQ=YEARLY;COUNT=3
#     ical.js        2024-02-29 2025-03-01 2026-03-01
#     rrule-temporal 2024-02-29 2028-02-29 2032-02-29
#   FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=3
#     ical.js        2024-02-29 2028-02-29 2032-02-29
#     rrule-temporal 2024-02-29 2028-02-29 2032-02-29
#
# Exits with 0 while it is so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1 rrule-temporal@2.2.8
cat > repeat.mjs <<'END'
import ICAL from 'ical.js'
import { RRuleTemporal } from 'rrule-temporal'

function both(rule) {
  const days = []
  const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString('2024-02-29T09:00:00'))
  for (let time = iterator.next(); time; time = iterator.next()) days.push(time.toString().slice(0, 10))
  const rruleString = `DTSTART:20240229T090000Z\nRRULE:${rule}`
  const temporal = new RRuleTemporal({ rruleString }).all().map((time) => time.toPlainDate().toString())
  console.log(`${rule}\n  ical.js        ${days.join(' ')}\n  rrule-temporal ${temporal.join(' ')}`)
  return { ical: days.join(' '), temporal: temporal.join(' ') }
}

const plain = both('FREQ=YEARLY;COUNT=3')
const explicit = both('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=3')
const leap = '2024-02-29 2028-02-29 2032-02-29'
const so = plain.ical === '2024-02-29 2025-03-01 2026-03-01' && plain.temporal === leap
process.exit(so && explicit.ical === leap && explicit.temporal === leap ? 0 : 1)
END
node repeat.mjs
