import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'
import { bookOf, zipOf } from '../../test/zip.ts'

const rapport = useRapport()

const folder = new URL('../../test/fixtures/imports/sheets/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(`${name}.xlsx`, folder))
const type = { 'content-type': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' }
const importSheet = (file: Uint8Array, query: Record<string, string>) =>
  importFile(rapport, query, file, type)
const preview = (file: Uint8Array, query: string) => upload(rapport, `/preview?${query}`, file, type)
const recordsOf = async (resource: string, search: string) =>
  (await rapport.call('GET', `/api/v1/${resource}?sort=id&search=${search}`)).body.data
const errorsOf = async (id: string) => (await rapport.call('GET', `/api/v1/imports/${id}/errors`)).text
const inline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`

for (const [program, sheets] of [
  ['xlsxwriter', ['Hidden', 'People', 'Deals']],
  ['libreoffice', ['Hidden', 'People', 'Deals']],
  ['openpyxl-1904', ['People']],
] as const)
  test(`the sheet of ${program} is imported with the days, numbers and texts that a person sees`, async () => {
    const file = fixture(program)
    const shown = (await preview(file, 'resource=contacts')).body.data
    assert.deepEqual(
      [shown.file_type, shown.sheet, shown.sheets, shown.header_row, shown.delimiter],
      ['xlsx', 'People', sheets, 3, null],
    )
    assert.equal(shown.rows.length, 3)
    const before = (await rapport.call('GET', '/api/v1/contacts?sort=-id&per_page=1')).body.data[0]?.id ?? 0
    const done = await importSheet(file, {
      resource: 'contacts',
      rest: 'custom_fields',
      file_name: `${program}.xlsx`,
    })
    assert.deepEqual(
      [done.status, done.rows_read, done.skipped, done.failed],
      ['succeeded', 4, 1, 0],
      await errorsOf(done.id),
    )
    const records = (await recordsOf('contacts', 'sheet.example')).filter(
      ({ id }: { id: number }) => id > before,
    )
    const read = await Promise.all(
      records.map(
        async ({ id }: { id: number }) => (await rapport.call('GET', `/api/v1/contacts/${id}`)).body.data,
      ),
    )
    const first_day = program === 'openpyxl-1904' ? '1904-01-02' : '1900-03-01'
    assert.deepEqual(
      read.map(({ first_name, last_name, phone, company, custom_fields }) => [
        first_name,
        last_name,
        phone,
        company.name,
        custom_fields,
      ]),
      [
        [
          'Ana',
          'Ruiz',
          '34910555010',
          'Acme Inc.',
          {
            Probability: '25%',
            'Signed on': '2026-12-31',
            'Called at': '2026-12-31T14:30:00',
            Member: true,
            Postcode: '01067',
            Amount: 1234.5,
            Remark: 'plain',
          },
        ],
        [
          'Zoë',
          'Müller',
          '+49 30 1234',
          'Müller & Söhne',
          {
            Probability: '100%',
            'Signed on': first_day,
            'Called at': '2024-02-29T00:00:01',
            Member: false,
            Postcode: '99999',
            Amount: -3,
            Remark: 'two\nlines',
          },
        ],
        [
          '伟',
          '王',
          null,
          '北京示例有限公司',
          { Probability: '12.5%', 'Signed on': '2000-02-29', Amount: 0.1, Remark: '<b>&amp; "quoted"' },
        ],
      ],
    )
  })

test('sheet= names another sheet; formulas give their results, and an error of a cell is one of its row', async () => {
  for (const [program, sheet] of [
    ['xlsxwriter', 'deals'],
    ['libreoffice', '3'],
  ] as const) {
    const done = await importSheet(fixture(program), { resource: 'deals', sheet, dry_run: 'false' })
    assert.deepEqual([done.created, done.failed], [2, 1], await errorsOf(done.id))
    const errors = await errorsOf(done.id)
    assert.match(errors, /\r\n4,value,.*has the error #DIV\/0!.*,"?Broken,#DIV\/0!"?,cell_error/)
  }
  const deals = await recordsOf('deals', 'Sum')
  assert.deepEqual(
    deals.map(({ value, expected_close_date }: Record<string, unknown>) => [value, expected_close_date]),
    Array.from({ length: 2 }, () => [25, '2027-01-16']),
  )
  for (const path of ['?resource=deals&sheet=Angebote', '/preview?resource=deals&sheet=4']) {
    const reply = await upload(rapport, path, fixture('xlsxwriter'), type)
    assert.deepEqual([reply.status, reply.body.error.fields[0].field], [422, 'sheet'])
    assert.match(reply.body.error.fields[0].message, /Its sheets are: "Hidden", "People", "Deals"/)
  }
})

test('cells are read as Excel writes them: without places, with runs, phonetic texts, escapes and prefixes', async () => {
  const rows = [
    `<row><c t="s"><v>0</v></c>${inline('address')}<c t="str"><f>"web"&amp;"site"</f><v>website</v></c></row>`,
    `<row r="3"><c r="A3" t="s"><v>1</v></c><c r="C3" t="inlineStr"><is><r><t>https://</t></r><r><t xml:space="preserve">a.example</t></r></is></c></row>`,
    `<row r="7" spans="1:3"><c r="A7" t="s"><v>2</v></c><c r="B7" s="1"/><c r="C7" t="str"><v></v></c></row>`,
    '<row r="1000"><c r="A1000" s="1"/></row>',
  ]
  const shared =
    '<si><t>name</t></si><si><r><t>Excel </t></r><r><rPr><b/></rPr><t>runs</t></r><rPh sb="0" eb="1"><t>phonetic</t></rPh></si><si><t>Excel_x0020_escape _x005F_x0041_ &#x1F600;</t></si>'
  const book = bookOf(rows.join(''), shared)
  const sheet = 'xl/worksheets/sheet1.xml'
  const prefixed = {
    ...book,
    [sheet]: (book[sheet] as string).replaceAll(/<(\/?)(?=[a-z])/gi, '<$1x:').replace('xmlns=', 'xmlns:x='),
  }
  for (const parts of [book, prefixed]) {
    const done = await importSheet(zipOf(parts), { resource: 'companies' })
    assert.deepEqual([done.rows_read, done.created, done.skipped, done.failed], [6, 2, 4, 0])
  }
  const companies = await recordsOf('companies', 'Excel')
  assert.deepEqual(
    companies.slice(0, 2).map(({ name, website }: Record<string, unknown>) => [name, website]),
    [
      ['Excel runs', 'https://a.example'],
      ['Excel escape _x0041_ 😀', null],
    ],
  )
})

test('a value without a header is an error of its row, and rows keep the numbers of the sheet', async () => {
  const rows = `<row r="2">${inline('name')}${inline('')}${inline('address')}</row><row r="5">${inline('Stray one')}</row><row r="9">${inline('Stray two')}<c r="AB9"><v>1</v></c></row>`
  const done = await importSheet(zipOf(bookOf(rows)), { resource: 'companies' })
  assert.deepEqual([done.created, done.failed], [1, 1])
  assert.match(await errorsOf(done.id), /\r\n9,,"?The row has a value in column AB, which has no header/)
})

test('a telephone number or a code of digits keeps the zeros that its format shows', async () => {
  const formats: [code: string, value: number, read: string | number][] = [
    // Excel has these for France, Poland, Sweden, the United States and Germany.
    ['0#&quot; &quot;##&quot; &quot;##&quot; &quot;##&quot; &quot;##', 612_345_678, '0612345678'],
    ['00-000', 1234, '01234'],
    ['000\\ 00', 1234, '01234'],
    ['000-00-0000', 12_345_678, '012345678'],
    ['(00) 0000-0000', 112_345_678, '0112345678'],
    ['&quot;D-&quot;00000', 1067, '01067'],
    ['[&lt;=9999999]###-####;(###) ###-####', 5_551_234_567, 5_551_234_567],
    ['# ##0', 12, 12],
    ['#,##0.00', 1250.5, 1250.5],
    ['0.00', 7, 7],
    ['# ?/?', 0.5, 0.5],
    ['0', 7, 7],
  ]
  const styles = `<numFmts>${formats.map(([code], n) => `<numFmt numFmtId="${n + 164}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs>${formats.map((_, n) => `<xf numFmtId="${n + 164}"/>`).join('')}</cellXfs>`
  const header = formats.map((_, n) => inline(`Code ${n}`)).join('')
  const cells = formats.map(([, value], n) => `<c s="${n}"><v>${value}</v></c>`).join('')
  const rows = `<row>${inline('name')}${header}</row><row>${inline('Coded')}${cells}</row>`
  const done = await importSheet(zipOf(bookOf(rows, '', styles)), {
    resource: 'companies',
    rest: 'custom_fields',
  })
  assert.equal(done.created, 1, await errorsOf(done.id))
  const [{ id }] = await recordsOf('companies', 'Coded')
  const { custom_fields } = (await rapport.call('GET', `/api/v1/companies/${id}`)).body.data
  for (const [n, [code, , read]] of formats.entries()) assert.equal(custom_fields[`Code ${n}`], read, code)
})

test('a file that is not a sound workbook is refused with what to do, in the preview too', async () => {
  const row = `<row r="1">${inline('name')}</row>`
  const book = bookOf(`${row}<row r="2">${inline('x')}</row>`)
  const sheet = 'xl/worksheets/sheet1.xml'
  const changed = (change: (text: string) => string) =>
    zipOf({ ...book, [sheet]: change(book[sheet] as string) })
  const sound = zipOf(book)
  const packed_bomb = zipOf({ ...book, [sheet]: Buffer.alloc(40 * 1024 * 1024, ' ') })
  const cases: [string, Uint8Array, RegExp][] = [
    ['no ZIP file', Buffer.from('name\nx\n'), /not an \.xlsx file/],
    ['a cut file', sound.subarray(0, sound.length - 30), /damaged/],
    ['a ZIP file', zipOf({ 'a.txt': 'x' }), /without a workbook/],
    ['.ods', zipOf({ mimetype: 'x', 'content.xml': '<a/>' }), /OpenDocument/],
    ['.numbers', zipOf({ 'Index/Document.iwa': 'x' }), /Numbers/],
    ['.xlsb', zipOf({ 'xl/workbook.bin': 'x' }), /\.xlsb/],
    ['.docx', zipOf({ 'word/document.xml': '<a/>' }), /text document/],
    ['no rows', zipOf(bookOf('')), /"One" is empty/],
    ['invalid XML', changed((text) => text.replace('</row>', '</raw>')), /XML is not valid/],
    ['an unknown entity', changed((text) => text.replace('>name<', '>&bomb;<')), /XML is not valid/],
    [
      'a document type',
      changed((text) => text.replace('<worksheet', '<!DOCTYPE a [<!ENTITY b "x">]><worksheet')),
      /document type/,
    ],
    ['rows in no order', changed((text) => text.replace('r="2"', 'r="1"')), /row 1 is followed by the row 1/],
    [
      'a row beyond all',
      changed((text) => text.replace('r="1"', 'r="1048577"')),
      /followed by the row 1048577/,
    ],
    ['a missing text', zipOf(bookOf('<row><c t="s"><v>7</v></c></row>')), /refers to a text/],
    ['blanks without an end', packed_bomb, /part without an end|XML is not valid|damaged/],
    [
      'elements without an end',
      changed((text) => text.replace('<row', `${'<a>'.repeat(100)}<row`)),
      /nested too deep/,
    ],
  ]
  for (const [what, file, message] of cases)
    for (const path of ['?resource=companies', '/preview?resource=companies']) {
      const reply = await upload(rapport, path, file, type)
      assert.deepEqual([reply.status, reply.body.error?.code], [400, 'bad_request'], what)
      assert.match(reply.body.error.message, message, what)
    }
})

test('a sheet whose damage comes later is imported up to it', async () => {
  const rows = Array.from({ length: 3000 }, (_, n) => `<row>${inline(n ? `Later ${n}` : 'name')}</row>`).join(
    '',
  )
  const file = zipOf(bookOf(`${rows}<row r="4"></row>`))
  const done = await importSheet(file, { resource: 'companies' })
  assert.equal(done.status, 'failed')
  assert.match(done.message, /row 3000 is followed by the row 4/)
  assert.equal(done.created, 2999)
})

test('parameters that a file does not have are refused', async () => {
  const of_sheet = await upload(rapport, '?resource=deals&encoding=utf-8', fixture('xlsxwriter'), type)
  assert.deepEqual([of_sheet.status, of_sheet.body.error.fields[0].field], [422, 'encoding'])
  const of_text = await upload(rapport, '/preview?resource=deals&sheet=1', 'name\nx\n')
  assert.deepEqual([of_text.status, of_text.body.error.fields[0].field], [422, 'sheet'])
})
