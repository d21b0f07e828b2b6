#!/bin/sh
# rrule 2.8.1 (npm) finds no time for a rule whose BYDAY has a plain and a numbered weekday.
#
# Source: RFC 5545, section 3.3.10: each BYDAY value may have a number or not. MO,1SA in a month is each Monday and the first
# Saturday.
# Behaviour: a day must pass the filter of plain weekdays and the one of numbered weekdays. No day passes both, so the answer
# is empty and there is no error. rrule-temporal 2.2.8 and ical.js 2.2.1 give each Monday and the first Saturday.
# Output seen, FREQ=MONTHLY;BYDAY=MO,1SA;COUNT=4 from 2025-03-01:
#   rrule
#   rrule-temporal 2025-03-01 2025-03-03 2025-03-10 2025-03-17
#   ical.js        2025-03-01 2025-03-03 2025-03-10 2025-03-17
#
# Exits with 0 while they differ so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund rrule@2.8.1 ical.js@2.2.1 rrule-temporal@2.2.8
cat > repeat.mjs <<'END'
import ICAL from 'ical.js'
import rrule from 'rrule'
import { RRuleTemporal } from 'rrule-temporal'

const rule = 'FREQ=MONTHLY;BYDAY=MO,1SA;COUNT=4'
const text = `DTSTART:20250301T090000Z\nRRULE:${rule}`
const old = rrule.rrulestr(text).all().map((time) => time.toISOString().slice(0, 10)).join(' ')
const temporal = new RRuleTemporal({ rruleString: text }).all().map((time) => time.toPlainDate().toString()).join(' ')
const days = []
const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString('2025-03-01T09:00:00'))
for (let time = iterator.next(); time; time = iterator.next()) days.push(time.toString().slice(0, 10))
console.log(`rrule          ${old}\nrrule-temporal ${temporal}\nical.js        ${days.join(' ')}`)
const right = '2025-03-01 2025-03-03 2025-03-10 2025-03-17'
process.exit(old === '' && temporal === right && days.join(' ') === right ? 0 : 1)
END
node repeat.mjs
