#!/bin/sh
# ical.js 2.2.1 (npm) repeats a yearly rule with a numbered weekday or a week number each week.
#
# Source: RFC 5545, section 3.8.5.3 has both rules as examples: BYDAY=20MO is the 20th Monday of the year, BYWEEKNO=20 with
# BYDAY=MO is the Monday of week 20. Each happens once a year.
# Behaviour: the iterator drops the number of the weekday and the week. It returns each Monday, or it passes over the first one.
# rrule-temporal 2.2.8 follows the examples.
# Output seen:
#   FREQ=YEARLY;BYDAY=20MO;COUNT=3 from 1997-05-19
#     ical.js        1997-05-19 1997-05-26 1997-06-02
#     rrule-temporal 1997-05-19 1998-05-18 1999-05-17
#   FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3 from 1997-05-12
#     ical.js        1997-05-19 1997-05-26 1997-06-02
#     rrule-temporal 1997-05-12 1998-05-11 1999-05-17
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

function ofIcal(day, rule) {
  const days = []
  const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString(`${day}T09:00:00`))
  for (let time = iterator.next(); time; time = iterator.next()) days.push(time.toString().slice(0, 10))
  return days.join(' ')
}
function ofTemporal(day, rule) {
  const rruleString = `DTSTART:${day.replaceAll('-', '')}T090000Z\nRRULE:${rule}`
  return new RRuleTemporal({ rruleString }).all().map((time) => time.toPlainDate().toString()).join(' ')
}

let wrong = 0
for (const [day, rule, right] of [
  ['1997-05-19', 'FREQ=YEARLY;BYDAY=20MO;COUNT=3', '1997-05-19 1998-05-18 1999-05-17'],
  ['1997-05-12', 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3', '1997-05-12 1998-05-11 1999-05-17'],
]) {
  const [ical, temporal] = [ofIcal(day, rule), ofTemporal(day, rule)]
  console.log(`${rule} from ${day}\n  ical.js        ${ical}\n  rrule-temporal ${temporal}`)
  if (temporal === right && ical === '1997-05-19 1997-05-26 1997-06-02') wrong++
}
process.exit(wrong === 2 ? 0 : 1)
END
node repeat.mjs
