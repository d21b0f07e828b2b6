// runs: once
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { runs } from '../../test/quick.ts'
import { bookOf, zipOf } from '../../test/zip.ts'
import { csvRow, guardCell, unguardCell } from './csv.ts'
import { type CsvForm, guessDelimiter, rowEnds } from './delimiter.ts'
import { createEncodingDetector, type Encoding } from './encoding.ts'
import { readRows } from './read-rows.ts'
import { createRowEnds } from './row-groups.ts'
import { FileError, type FileRow, max_row_characters, type TextForm } from './rows.ts'
import { readSheet, sheetRows } from './sheet-rows.ts'
import { tar_end, tarFile } from './tar.ts'
import { openWorkbook } from './workbook.ts'

async function* inParts(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

function detect(bytes: Buffer, size = 7): Encoding {
  const detector = createEncodingDetector()
  for (let from = 0; from < bytes.length; from += size) detector.add(bytes.subarray(from, from + size))
  return detector.result().encoding
}

const csv = (form: Partial<TextForm> = {}): TextForm =>
  ({ format: 'csv', encoding: 'utf-8', delimiter: ',', header_line: 1, ...form }) as TextForm

async function rowsOf(bytes: Buffer | string, form: TextForm, size = 5): Promise<FileRow[]> {
  return (await Array.fromAsync(readRows(inParts(Buffer.from(bytes), size), form))).flat()
}

const bytes_of: Record<string, (text: string) => Buffer> = {
  'utf-8': (text) => Buffer.from(text),
  'utf-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
  'utf-16le': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'utf-16be': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  // Latin 1 has the same letters.
  'windows-1252': (text) => Buffer.from(text, 'latin1'),
}

test('each encoding and delimiter is found, and the cells are read', async () => {
  const table = [
    ['Vorname', 'Größe', 'Note'],
    ['Zoë', '1,5; 2 | 3\t4', 'two\r\nlines and "quotes"'],
    ['', 'Ñandú', ''],
  ]
  for (const [name, bytesOf] of Object.entries(bytes_of))
    for (const delimiter of [',', ';', '\t', '|'] as const) {
      const text = table
        .map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter))
        .join('\r\n')
      const bytes = bytesOf(text)
      const encoding = detect(bytes)
      assert.equal(encoding, name.split(' ')[0], name)
      const form = guessDelimiter(new TextDecoder(encoding).decode(bytes))
      assert.deepEqual(form, { delimiter, header_line: 1 })
      const rows = await rowsOf(bytes, csv({ encoding, ...form }))
      assert.deepEqual(
        rows,
        table.slice(1).map((values, n) => ({ number: n + 2, names: table[0], values })),
      )
    }
})

test('UTF-16 without a mark is found', () => {
  assert.equal(detect(Buffer.from('Name,Ort\nZoë,Köln', 'utf16le')), 'utf-16le')
  assert.equal(detect(Buffer.from('Name,Ort\nZoë,Köln', 'utf16le').swap16()), 'utf-16be')
})

test('a byte far behind the start decides between UTF-8 and Windows-1252', () => {
  const start = 'a'.repeat(100_000)
  assert.equal(detect(Buffer.concat([Buffer.from(start), Buffer.from([0xe9])]), 4096), 'windows-1252')
  assert.equal(detect(Buffer.from(`${start}é`), 4096), 'utf-8')
})

test('broken bytes are found wherever the parts of a file end, and U+FFFD of the file is none', async () => {
  const bytes = Buffer.concat([
    Buffer.from('a,b\n1,\ufffd é\n2,'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('\n3,日本\n4,'),
    Buffer.from([0xf0, 0x9f, 0x98]),
    Buffer.from('\n5,😀'),
  ])
  for (let size = 1; size < 12; size++) {
    assert.equal(detect(bytes, size), 'utf-8')
    const rows = await rowsOf(bytes, csv(), size)
    assert.deepEqual(
      rows.map(({ number, values, problem }) => [number, problem?.code ?? values[1]]),
      [
        [2, '\ufffd é'],
        [3, 'invalid_encoding'],
        [4, '日本'],
        [5, 'invalid_encoding'],
        [6, '😀'],
      ],
    )
  }
})

test('any text is the same after it was written and read', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^'{0,2}[=+\-@\t\r][\s\S]{0,5}$/),
    fc.constantFrom('=1+1', "'=1", "''@a", '-5', "'-5", '+34 910', "'+34 910", 'a,b', 'a"b', '\r', '\n'),
  )
  const written = fc.array(fc.tuple(cell, cell), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(written, fc.integer({ min: 3, max: 64 }), async (table, size) => {
      const text = csvRow(['a', 'b']) + table.map(csvRow).join('')
      const rows = await rowsOf(text, csv(), size)
      assert.deepEqual(
        rows.map(({ values }) => values),
        table,
      )
    }),
    { numRuns: runs(50) },
  )
})

test('a formula gets an apostrophe; a number and a phone number do not', () => {
  for (const [text, cell] of [
    ['=HYPERLINK("x")', `'=HYPERLINK("x")`],
    ['+cmd', "'+cmd"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ["'=x", "''=x"],
    ['-12.5', '-12.5'],
    ['+34 910 55-01 (42)', '+34 910 55-01 (42)'],
    ["O'Hara", "O'Hara"],
    ["'quoted", "'quoted"],
  ] as const) {
    assert.equal(guardCell(text), cell)
    assert.equal(unguardCell(cell), text)
  }
})

test('a row with more cells than the header has a problem, and the next row is read', async () => {
  const [first, second] = await rowsOf('a,b\n1,2,3\n4,5,\n', csv())
  assert.equal(first?.problem?.code, 'too_many_cells')
  assert.match(first.problem.message, /3 cells, and the header has 2/)
  assert.deepEqual([second?.problem, second?.number], [undefined, 3])
})

test('a quote that is not closed ends the file with the row that has it', async () => {
  await assert.rejects(rowsOf('a,b\n1,2\n"3,4\n5,6\n', csv()), (error: Error) => {
    assert.ok(error instanceof FileError)
    assert.match(error.message, /row 3 is not closed/)
    return true
  })
  const long = `a,b\n1,2\n"${'x\n'.repeat(max_row_characters)}`
  await assert.rejects(rowsOf(long, csv(), 65_536), /row 3 is not closed/)
})

test('a CSV row that is too long, or has more than 2,000 cells, has a problem, and the rows after it are read', async () => {
  const far = 'x'.repeat(max_row_characters)
  const quoted = `"${'say ""yes"",\r\n'.repeat(max_row_characters / 10)}"`
  const long_rows = [`1,${far}x`, `"1",${quoted}`, `${quoted},2`, `1,x"${far}`]
  const wide_rows = ['1,'.repeat(300_000), ','.repeat(300_000), ','.repeat(2000), '",",'.repeat(2000)]
  const beyond = [
    ...long_rows.map((row) => [row, 'row_too_long'] as const),
    ...wide_rows.map((row) => [row, 'too_many_cells'] as const),
  ]
  for (const [row, code] of beyond)
    for (const [line_end, form, size] of [
      ['\n', {}, 8191],
      ['\r\n', {}, 65_536],
      ['\r', { ends_at_cr: true }, 10_000_000],
    ] as const) {
      const lines = ['\ufeffa,b', '1,2', row, '3,"4\n"', row, '', row, '5,6', row]
      const rows = await rowsOf(lines.join(line_end), csv(form), size)
      assert.deepEqual(
        rows.map(({ number, problem, blank_lines, values }) => [
          number,
          problem?.code ?? blank_lines ?? values,
        ]),
        [
          [2, ['1', '2']],
          [3, code],
          [4, ['3', '4\n']],
          [5, code],
          [6, 1],
          [7, code],
          [8, ['5', '6']],
          [9, code],
        ],
      )
      assert.ok(row.startsWith(rows[1]?.text?.trimEnd() ?? '?'))
    }
  const [allowed] = await rowsOf(`a,b\n${','.repeat(1999)}\n`, csv())
  assert.deepEqual([allowed?.problem, allowed?.values.length], [undefined, 2000])
  await assert.rejects(rowsOf(','.repeat(3000), csv(), 65_536), /The header has more than 500 columns/)
  await assert.rejects(rowsOf(`a,${far}xx\n1,2`, csv(), 65_536), /The header has more than 262144 characters/)
})

test('a row that is too long ends where the parser would end it', () => {
  const sign = fc.constantFrom('"', '"', ',', '\n', '\r', 'x')
  fc.assert(
    fc.property(fc.array(sign), fc.integer({ min: 1, max: 5 }), fc.boolean(), (signs, size, at_cr) => {
      const form: CsvForm = { delimiter: ',', header_line: 1, ...(at_cr && { ends_at_cr: true }) }
      const text = signs.join('')
      const expected: number[] = []
      const on_record = (_: unknown, info: { bytes: number }) => void expected.push(info.bytes)
      const options = { record_delimiter: rowEnds(form), relax_quotes: true, relax_column_count: true }
      try {
        parse(text, { ...options, on_record })
      } catch {
        // The last quote may not be closed.
      }
      const found: number[] = []
      const ends = createRowEnds(form)
      for (let from = 0; from < text.length; from += size) {
        const part = text.slice(0, from + size)
        for (let at = from; ; ) {
          const row = ends.next(part, at)
          if (!row) break
          found.push(row.end)
          at = row.end
        }
      }
      assert.deepEqual(found, expected.slice(0, found.length))
      // The end of the file ends the last row, too.
      assert.ok(expected.length - found.length <= 1)
    }),
    { numRuns: runs(500) },
  )
})

test('a file that is continued after any of its rows gives the other ones', async () => {
  const sign = fc.constantFrom('"', ',', '\n', '\n', '\r', 'x', '{}', ' ')
  const forms: TextForm[] = [csv(), csv({ ends_at_cr: true }), { format: 'ndjson', encoding: 'utf-8' }]
  const read = async (text: string, form: TextForm, size: number, after: number) => {
    const parts = readRows(inParts(Buffer.from(text), size), form, after)
    const rows: FileRow[] = []
    try {
      for await (const some of parts) rows.push(...some)
    } catch (error) {
      // The last quote may not be closed.
      assert.ok(error instanceof FileError)
    }
    // Blank lines can be divided.
    return rows.flatMap((row) => {
      const { number, blank_lines = 1 } = row
      return Array.from({ length: blank_lines }, (_, n) => ({
        ...row,
        number: number - blank_lines + n + 1,
        ...(row.blank_lines && { blank_lines: 1 }),
      }))
    })
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(sign, { maxLength: 40 }),
      fc.constantFrom(...forms),
      fc.integer({ min: 1, max: 9 }),
      fc.nat({ max: 12 }),
      async (signs, form, size, after) => {
        const text = `a,b\n${signs.join('')}`
        const all = await read(text, form, size, 0)
        assert.deepEqual(
          all.map(({ number }) => number),
          all.map((_, n) => n + (form.format === 'csv' ? 2 : 1)),
        )
        assert.deepEqual(
          await read(text, form, size + 1, after),
          all.filter(({ number }) => number > after),
        )
      },
    ),
    { numRuns: runs(500) },
  )
})

test('a file with notes before its header is continued after any of its rows', async () => {
  const text = `note,\n\n"a\nnote",x,y\nname,address\n${Array.from({ length: 1200 }, (_, n) => `Row ${n},x`).join('\n')}`
  for (const size of [7, 4096]) {
    const read = async (after: number) => {
      const parts = readRows(inParts(Buffer.from(text), size), csv({ header_row: 4 }), after)
      return (await Array.fromAsync(parts)).flat()
    }
    const all = await read(0)
    assert.deepEqual(
      all.map(({ number, names, values }) => [number, names[0], values[0]]),
      Array.from({ length: 1200 }, (_, n) => [n + 5, 'name', `Row ${n}`]),
    )
    for (const after of [1, 4, 5, 6, 600, 1203, 1204])
      assert.deepEqual(await read(after), all.slice(Math.max(0, after - 4)))
  }
})

test('a file may have line ends of several systems', async () => {
  const read = async (text: string) => {
    const form = guessDelimiter(text)
    return (await rowsOf(text, csv(form), 3)).map(({ values }) => values)
  }
  const rows = [
    ['1', ''],
    ['2', 'x\r\ny'],
    ['3', 'z'],
  ]
  for (const [header, ...ends] of [
    ['\r\n', '\n', '\n', '\r\n'],
    ['\n', '\r\n', '\r\n', ''],
    ['\r', '\n', '\r\n', '\r'],
    ['\r', '\r', '\r', ''],
  ]) {
    const text = `"a\r\n",b${header}1,${ends[0]}2,"x\r\ny"${ends[1]}3,z${ends[2]}`
    assert.deepEqual(await read(text), rows, JSON.stringify(text))
  }
  assert.deepEqual(await read('a,b\n1,x\ry\n'), [['1', 'x\ry']])
})

test('a file of an old Mac is read with quotes inside its cells, and with the line sep= of Excel', async () => {
  const read = async (text: string) => {
    const form = guessDelimiter(text)
    return (await rowsOf(text, csv(form), 3)).map(({ names, values }) => [...names, ...values])
  }
  assert.deepEqual(await read('size 5",b\r1,2\r3,4\r'), [
    ['size 5"', 'b', '1', '2'],
    ['size 5"', 'b', '3', '4'],
  ])
  assert.deepEqual(await read('a;"b\r\n ""x"""\r1;say "hi"\r'), [['a', 'b\r\n "x"', '1', 'say "hi"']])
  assert.deepEqual(await read('sep=;\ra;b\r1,5;2\r'), [['a', 'b', '1,5', '2']])
})

test('a far too long line of JSON has a problem, and the next one is read', async () => {
  const long = `{"a":"${'x'.repeat(max_row_characters * 3)}"}`
  // Its first part is blank.
  const indented = `${' '.repeat(max_row_characters * 2)}{"a":3}`
  const text = `{"a":1}\n${long}\n{"a":2}\n${indented}`
  const rows = await rowsOf(text, { format: 'ndjson', encoding: 'utf-8' }, 32_768)
  assert.deepEqual(
    rows.map(({ number, problem, values }) => [number, problem?.code ?? values]),
    [
      [1, [1]],
      [2, 'row_too_long'],
      [3, [2]],
      [4, 'row_too_long'],
    ],
  )
})

test('the line sep= of Excel names the delimiter', async () => {
  const text = 'sep=|\r\na|b\r\n1|2\r\n'
  const form = guessDelimiter(text)
  assert.deepEqual(form, { delimiter: '|', header_line: 2 })
  assert.deepEqual(
    (await rowsOf(text, csv(form))).map(({ values }) => values),
    [['1', '2']],
  )
})

test('lines of JSON are read, and one that is not an object has a problem', async () => {
  const text = '{"a":1}\n\n{"a":\n[1]\n{"__proto__":{}}\n{"a":"é"}'
  const rows = await rowsOf(text, { format: 'ndjson', encoding: 'utf-8' }, 3)
  assert.deepEqual(
    rows.map(({ number, values, blank_lines, problem }) => [
      number,
      problem?.message ?? blank_lines ?? values,
    ]),
    [
      [1, [1]],
      [2, 1],
      [3, 'The line is not valid JSON.'],
      [4, 'The line is not a JSON object.'],
      [5, 'The line is not valid JSON.'],
      [6, ['é']],
    ],
  )
})

test('tar reads the archive', () => {
  const archive = Buffer.concat([
    tarFile('a.ndjson', Buffer.from('{"a":1}\n'), 1_790_000_000),
    tarFile('b.ndjson', Buffer.alloc(0), 1_790_000_000),
    tar_end,
  ])
  const listed = execFileSync('tar', ['-tvf', '-'], { input: archive }).toString()
  assert.match(listed, /8 .*a\.ndjson\n.* 0 .*b\.ndjson\n$/)
  assert.equal(execFileSync('tar', ['-xOf', '-', 'a.ndjson'], { input: archive }).toString(), '{"a":1}\n')
})

test('a sheet that is continued after any of its rows gives the other ones', async () => {
  const cell = (n: number) => `<c t="s"><v>${n % 50}</v></c>`
  const rows = Array.from({ length: 3000 }, (_, n) =>
    // Two of ten rows are blank, and one has only a format.
    n % 10 < 2
      ? ''
      : n % 10 === 2
        ? `<row r="${n + 3}"><c s="1"/></row>`
        : `<row r="${n + 3}">${cell(n)}</row>`,
  )
  const texts = Array.from({ length: 50 }, (_, n) => `<si><t>text ${n}</t></si>`)
  const content = zipOf(bookOf(`<row r="2">${cell(1)}</row>${rows.join('')}`, texts.join('')))
  const file = {
    size: content.length,
    read: (from: number, to: number) => inParts(content.subarray(from, to), 999),
  }
  const read = async (after: number) => {
    const book = await openWorkbook(file, null)
    const found = (await Array.fromAsync(readSheet(book, { header_row: 2 }, after))).flat()
    return found.flatMap(({ number, values, blank_lines = 1 }) =>
      Array.from({ length: blank_lines }, (_, n) => [number - blank_lines + n + 1, values[0] ?? null]),
    )
  }
  const all = await read(0)
  assert.deepEqual(
    all.map(([number]) => number),
    Array.from({ length: 3000 }, (_, n) => n + 3),
  )
  assert.deepEqual(
    [all[3], all[4]],
    [
      [6, 'text 3'],
      [7, 'text 4'],
    ],
  )
  for (const after of [2, 3, 4, 5, 6, 1500, 2999, 3001, 3002])
    assert.deepEqual(await read(after), all.slice(after - 2))
})

test('a sheet yields while it reads texts, so that an import keeps its lease', async () => {
  const content = zipOf(bookOf('<row><c t="s"><v>99999</v></c></row>', '<si><t/></si>'.repeat(100_000)))
  const file = {
    size: content.length,
    read: (from: number, to: number) => inParts(content.subarray(from, to), 999),
  }
  let yields = 0
  for await (const rows of sheetRows(await openWorkbook(file, null), 0)) {
    if (rows.length) break
    yields++
  }
  // The texts have 1.3 MB, and a piece 16 KiB.
  assert.ok(yields > 70, `${yields}`)
})
