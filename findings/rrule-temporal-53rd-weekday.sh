#!/bin/sh
# rrule-temporal 2.2.8 (npm) puts the 53rd Tuesday of a year with 52 Tuesdays into January of the next year.
#
# Source: RFC 5545, section 3.3.10: a number before a weekday counts within the year, and a date that does not exist is ignored.
# 2025 begins on a Wednesday, so it has 52 Tuesdays. 2024 has 53, the last on 31 December.
# Behaviour: each year gives a day; for most of them it is the first Tuesday of the year that follows. rrule 2.8.1 gives the
# years that have a 53rd Tuesday.
# Output seen, FREQ=YEARLY;BYDAY=53TU;COUNT=3 from 2024-12-31:
#   rrule-temporal 2024-12-31 2026-01-06 2027-01-05
#   rrule          2024-12-31 2030-12-31 2036-12-30
#
# Exits with 0 while the two differ so, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund rrule-temporal@2.2.8 rrule@2.8.1
cat > repeat.mjs <<'END'
import rrule from 'rrule'
import { RRuleTemporal } from 'rrule-temporal'

const rruleString = 'DTSTART:20241231T090000Z\nRRULE:FREQ=YEARLY;BYDAY=53TU;COUNT=3'
const temporal = new RRuleTemporal({ rruleString }).all().map((time) => time.toPlainDate().toString()).join(' ')
const old = rrule.rrulestr(rruleString).all().map((time) => time.toISOString().slice(0, 10)).join(' ')
console.log(`rrule-temporal ${temporal}\nrrule          ${old}`)
const differ = temporal === '2024-12-31 2026-01-06 2027-01-05' && old === '2024-12-31 2030-12-31 2036-12-30'
process.exit(differ ? 0 : 1)
END
node repeat.mjs
