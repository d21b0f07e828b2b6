#!/bin/sh
# exceljs 4.4.0 (npm) reads a formula with the result FALSE or 0 as one without a result.
#
# Source: ECMA-376, part 1, 18.3.1.96: v is the value of a cell, and of a cell with a formula the last result of the formula.
# LibreOffice writes each boolean as a formula: <c t="b"><f>FALSE()</f><v>0</v></c>.
# Behaviour: the value of the cell is {"formula":"FALSE()"}. With the result TRUE it is {"formula":"TRUE()","result":true}. So
# an importer takes a cell with FALSE for an empty one. hucre 1.0.0 reads the same bytes right.
# Output seen:
#   exceljs [{"formula":"TRUE()","result":true},{"formula":"FALSE()"},{"formula":"1-1"}]
#   hucre   [true,false,0]
#
# Exits with 0 while exceljs does this and hucre does not, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund exceljs@4.4.0 hucre@1.0.0 fflate@0.8.3
cat > read.mjs <<'END_OF_SCRIPT'
import ExcelJS from 'exceljs'
import { strToU8, zipSync } from 'fflate'
import { readXlsx } from 'hucre/xlsx'

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const links = (type, target) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${related}/${type}" Target="${target}"/></Relationships>`
const parts = {
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
  '_rels/.rels': links('officeDocument', 'xl/workbook.xml'),
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${related}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': links('worksheet', 'worksheets/sheet1.xml'),
  'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" t="b"><f>TRUE()</f><v>1</v></c><c r="B1" t="b"><f>FALSE()</f><v>0</v></c><c r="C1"><f>1-1</f><v>0</v></c></row></sheetData></worksheet>`,
}
const file = zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(`<?xml version="1.0"?>${text}`)])))
const book = new ExcelJS.Workbook()
await book.xlsx.load(Buffer.from(file))
const values = JSON.stringify(book.getWorksheet('One').getRow(1).values.slice(1))
const right = JSON.stringify((await readXlsx(file)).sheets[0].rows[0])
console.log('exceljs', values)
console.log('hucre  ', right)
const wrong = '[{"formula":"TRUE()","result":true},{"formula":"FALSE()"},{"formula":"1-1"}]'
process.exitCode = values === wrong && right === '[true,false,0]' ? 0 : 1
END_OF_SCRIPT
node read.mjs
