import { crc32, deflateRawSync } from 'node:zlib'

/** A ZIP file of these files, packed or stored as they are. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, is_packed = true): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = is_packed ? deflateRawSync(bytes) : bytes
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(is_packed ? 8 : 0, 4)
    facts.writeUInt32LE(crc32(bytes), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(bytes.length, 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed])
    const end = Buffer.alloc(14)
    end.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, end, Buffer.from(name)]))
    parts.push(local)
    at += local.length
  }
  const listed = Buffer.concat(directory)
  const last = Buffer.alloc(18)
  last.writeUInt16LE(parts.length, 4)
  last.writeUInt16LE(parts.length, 6)
  last.writeUInt32LE(listed.length, 8)
  last.writeUInt32LE(at, 12)
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), last])
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
const relations = (list: readonly (readonly [string, string])[]) =>
  `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list
    .map(
      ([type, target], n) => `<Relationship Id="rId${n + 1}" Type="${related}/${type}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`

/** The parts of a workbook with one sheet, from the XML of its rows, its shared texts and its styles. */
export const bookOf = (rows: string, shared = '', styles = ''): Record<string, string> => ({
  '[Content_Types].xml': `${xml}<Types/>`,
  '_rels/.rels': relations([['officeDocument', '/xl/workbook.xml']]),
  'xl/workbook.xml': `${xml}<workbook xmlns="${main}" xmlns:r="${related}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations([
    ['worksheet', 'worksheets/sheet1.xml'],
    ['styles', 'styles.xml'],
    ['sharedStrings', 'sharedStrings.xml'],
  ]),
  'xl/worksheets/sheet1.xml': `${xml}<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
  'xl/styles.xml': `${xml}<styleSheet xmlns="${main}">${styles}</styleSheet>`,
  'xl/sharedStrings.xml': `${xml}<sst xmlns="${main}">${shared}</sst>`,
})
