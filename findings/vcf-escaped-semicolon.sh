#!/bin/sh
# vcf 2.1.2 (npm) splits a name at an escaped semicolon.
#
# Source: RFC 6350, section 3.4: a semicolon in a component of a value is escaped with a backslash. So N:de la\; Peña;José;;;
# has the family name "de la; Peña" and the given name "José".
# Behaviour: the components are "de la\", " Peña", "José". So the given name of the person is " Peña". Texts such as NOTE keep
# their backslashes, too. ical.js 2.2.1 reads the same bytes right.
# Output seen:
#   vcf     ["de la\\"," Peña","José","","",""]
#   ical.js ["de la; Peña","José","","",""]
#
# Exits with 0 while vcf does this and ical.js does not, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund vcf@2.1.2 ical.js@2.2.1
cat > read.mjs <<'END_OF_SCRIPT'
import ICAL from 'ical.js'
import VCard from 'vcf'

const lines = ['BEGIN:VCARD', 'VERSION:4.0', 'FN:José de la Peña', String.raw`N:de la\; Peña;José;;;`, 'END:VCARD', '']
const text = lines.join('\r\n')
const of_vcf = new VCard().parse(text).toJSON()[1].find(([name]) => name === 'n')[3]
const of_ical = ICAL.parse(text)[1].find(([name]) => name === 'n')[3]
console.log('vcf    ', JSON.stringify(of_vcf))
console.log('ical.js', JSON.stringify(of_ical))
const is_wrong = JSON.stringify(of_vcf) === JSON.stringify(['de la\\', ' Peña', 'José', '', '', ''])
process.exitCode = is_wrong && JSON.stringify(of_ical) === JSON.stringify(['de la; Peña', 'José', '', '', '']) ? 0 : 1
END_OF_SCRIPT
node read.mjs
