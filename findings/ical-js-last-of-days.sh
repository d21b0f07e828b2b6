#!/bin/sh
# ical.js 2.2.1 (npm) ignores BYSETPOS beside BYMONTHDAY.
#
# Source: RFC 5545, section 3.3.10: BYSETPOS=-1 takes the last day of the set that the other parts give within one month.
# Behaviour: "the later one of the 15th and the last day" gives both days of each month. Beside BYDAY, the part works.
# rrule-temporal 2.2.8 gives one day a month.
# Output seen, FREQ=MONTHLY;BYMONTHDAY=15,-1;BYSETPOS=-1;COUNT=3 from 2024-01-31:
#   ical.js        2024-01-31 2024-02-15 2024-02-29
#   rrule-temporal 2024-01-31 2024-02-29 2024-03-31
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

const rule = 'FREQ=MONTHLY;BYMONTHDAY=15,-1;BYSETPOS=-1;COUNT=3'
const days = []
const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString('2024-01-31T09:00:00'))
for (let time = iterator.next(); time; time = iterator.next()) days.push(time.toString().slice(0, 10))
const ical = days.join(' ')
const rruleString = `DTSTART:20240131T090000Z\nRRULE:${rule}`
const temporal = new RRuleTemporal({ rruleString }).all().map((time) => time.toPlainDate().toString()).join(' ')
console.log(`ical.js        ${ical}\nrrule-temporal ${temporal}`)
const differ = ical === '2024-01-31 2024-02-15 2024-02-29' && temporal === '2024-01-31 2024-02-29 2024-03-31'
process.exit(differ ? 0 : 1)
END
node repeat.mjs
