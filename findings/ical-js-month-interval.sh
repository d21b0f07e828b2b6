#!/bin/sh
# ical.js 2.2.1 (npm) goes back in time in a monthly rule with an interval, BYMONTH and two days of the month.
#
# Source: RFC 5545, section 3.3.10: the times of a rule only go forward, and BYMONTH limits a monthly rule to its months.
# Behaviour: "the 28th and the 30th, each second month, in January, May and September" gives the two days of May twice. Both
# count. rrule-temporal 2.2.8 goes on to September, and to January.
# Output seen, FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,5,9;BYMONTHDAY=28,30;COUNT=6 from 2025-05-28:
#   ical.js        2025-05-28 2025-05-30 2025-05-28 2025-05-30 2025-09-28 2025-09-30
#   rrule-temporal 2025-05-28 2025-05-30 2025-09-28 2025-09-30 2026-01-28 2026-01-30
#
# Exits with 0 while the two differ so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund ical.js@2.2.1 rrule-temporal@2.2.8
cat > repeat.mjs <<'END'
import ICAL from 'ical.js'
import { RRuleTemporal } from 'rrule-temporal'

const rule = 'FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,5,9;BYMONTHDAY=28,30;COUNT=6'
const days = []
const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString('2025-05-28T09:00:00'))
for (let count = 0; count < 6; count++) days.push(iterator.next().toString().slice(0, 10))
const ical = days.join(' ')
const rruleString = `DTSTART:20250528T090000Z\nRRULE:${rule}`
const temporal = new RRuleTemporal({ rruleString }).all().map((time) => time.toPlainDate().toString()).join(' ')
console.log(`ical.js        ${ical}\nrrule-temporal ${temporal}`)
const repeats = ical === '2025-05-28 2025-05-30 2025-05-28 2025-05-30 2025-09-28 2025-09-30'
process.exit(repeats && temporal.startsWith('2025-05-28 2025-05-30 2025-09-28') ? 0 : 1)
END
node repeat.mjs
