import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../../test/envelope.ts'
import { startRapport, useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'
import { zipOf } from '../../test/zip.ts'

const rapport = useRapport()

/** Another workspace would do; each test has its own names instead. */
const found = async (path: string) => (await rapport.call('GET', `/api/v1/${path}`)).body.data
const errorsOf = async (id: string) => (await rapport.call('GET', `/api/v1/imports/${id}/errors`)).text

test('columns that name a header which the file does not have are refused, and nothing is imported', async () => {
  const before = (await rapport.call('GET', '/api/v1/imports')).body.meta.total
  const query = (columns: object) =>
    `?resource=contacts&columns=${encodeURIComponent(JSON.stringify(columns))}`
  const file = 'Who;Firm\nLi Wei;Four Ltd\n'
  const wrong = await upload(rapport, query({ Who: 'name', firm: 'company', Age: null }), file)
  assert.deepEqual(problems(wrong), { columns: 'not_found' })
  const [{ message }] = wrong.body.error.fields
  assert.equal(
    message,
    'columns has "firm", "Age", which the file does not have. Its headers are: "Who", "Firm".',
  )
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`No ${n}`, null]))
  const cut = await upload(rapport, query(many), file)
  assert.match(cut.body.error.fields[0].message, /"No 49", …, which the file does not have/)
  const previewed = await upload(rapport, `/preview${query({ firm: 'company' })}`, file)
  assert.deepEqual(problems(previewed), { columns: 'not_found' })
  // As a spreadsheet writes it, with a line break in the header.
  const quoted = Buffer.from('sep=;\r\n"Wer\nist es";Größe\r\nBo Li;5\r\n', 'latin1')
  const headers = { 'Wer\nist es': 'name', Größe: 'custom_fields.size' }
  assert.equal((await upload(rapport, `/preview${query(headers)}`, quoted)).status, 200)
  assert.equal((await rapport.call('GET', '/api/v1/imports')).body.meta.total, before)
  // Lines of JSON may have different names.
  const lines = await upload(rapport, query({ Nobody: 'title' }), '{"last_name":"Li","first_name":"Bo"}\n', {
    'content-type': 'application/x-ndjson',
  })
  assert.equal(lines.status, 202)
})

test('columns name the fields, and an unknown field is refused with the possible ones', async () => {
  const file = 'Who,Firm,Skip\nAda Lovelace,Engines,x\n'
  const columns = JSON.stringify({ Who: 'name', Firm: 'company', Skip: null })
  const done = await importFile(rapport, { resource: 'contacts', columns, rest: 'custom_fields' }, file)
  assert.equal(done.created, 1)
  const [ada] = await found('contacts?search=lovelace')
  assert.deepEqual([ada.first_name, ada.company.name], ['Ada', 'Engines'])
  const wrong = await upload(
    rapport,
    `?resource=contacts&columns=${encodeURIComponent('{"Who":"nam"}')}`,
    file,
  )
  assert.deepEqual(problems(wrong), { columns: 'unknown_field' })
  assert.match(wrong.text, /nam.*which is not a field.*first_name/)
  assert.deepEqual(problems(await upload(rapport, '?resource=contacts&columns=x', file)), {
    columns: 'invalid_format',
  })
  assert.deepEqual(problems(await upload(rapport, '?resource=activities&on_match=update', file)), {
    match: 'unknown_value',
  })
})

test('a match that is impossible, or that nothing uses, is refused with what is possible', async () => {
  const file = 'email,phone\nana@acme.example,1\n'
  const refusal = async (query: string) => {
    const reply = await upload(rapport, `?resource=contacts&${query}`, file)
    const [problem] = reply.body.error?.fields ?? []
    return [problems(reply), problem.message]
  }
  assert.deepEqual(await refusal('on_match=create&match=phone'), [
    { match: 'unknown_value' },
    'match must be email or a custom field that is defined as unique.',
  ])
  assert.deepEqual(await refusal('on_match=update&match=custom_fields.region'), [
    { match: 'not_unique' },
    'match must be email or a custom field that is defined as unique; custom_fields.region is not.',
  ])
  assert.deepEqual((await refusal('match=email'))[0], { on_match: 'required' })
  assert.deepEqual((await refusal('match=phone'))[0], { on_match: 'required', match: 'unknown_value' })
  const done = await importFile(rapport, { resource: 'contacts', on_match: 'create', match: 'email' }, file)
  assert.equal(done.options.match, null)
})

test('a row with JSON of many levels is reported, and the others are imported', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const lines = [
    `{"name":${deep}}`,
    '{"name":"Deep Ltd","address":"[[[\\"[{"}',
    `{"custom_fields":{"a":${deep}}}`,
  ]
  const json = { 'content-type': 'application/x-ndjson' }
  const file = `${lines.join('\n')}\n`
  assert.equal((await upload(rapport, '/preview?resource=companies', file, json)).status, 200)
  const done = await importFile(rapport, { resource: 'companies' }, file, json)
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 1, 2])
  assert.match(await errorsOf(done.id), /^1,,The JSON is nested deeper than 64 levels\.,.*,too_deep\r$/m)
  const cells = await importFile(
    rapport,
    { resource: 'companies' },
    `name,custom_fields\nDeep,"{""a"":${deep}}"\n`,
  )
  assert.deepEqual([cells.status, cells.created, cells.failed], ['succeeded', 0, 1])
})

test('a cell of 200,000 blanks or digits is an error of its row, and holds up nothing else', async () => {
  const many = 200_000
  const blank = await importFile(
    rapport,
    { resource: 'contacts' },
    `name\n"${' '.repeat(many)}"\n"Ana  de  Ruiz "\n`,
  )
  assert.deepEqual([blank.status, blank.created, blank.failed], ['succeeded', 1, 1])
  const [{ first_name, last_name }] = await found('contacts?search=ana+ruiz&sort=-id')
  assert.deepEqual([first_name, last_name], ['Ana', 'de Ruiz'])
  const digits = await importFile(
    rapport,
    { resource: 'deals' },
    `name,value\nDigits,${'1'.repeat(many)}x\nPoint,5.\n`,
  )
  assert.deepEqual([digits.status, digits.created, digits.failed], ['succeeded', 1, 1])
})

test('a line with more than 500 names is reported, and the others are imported', async () => {
  const line = (names: number) =>
    JSON.stringify(
      Object.fromEntries([['name', 'Many'], ...Array.from({ length: names - 1 }, (_, n) => [`k${n}`, 1])]),
    )
  const json = { 'content-type': 'application/x-ndjson' }
  const file = `${line(501)}\n${line(20_000)}\n${line(90)}\n`
  const preview = await upload(rapport, '/preview?resource=companies', file, json)
  assert.equal(preview.body.data.columns.length, 90)
  const done = await importFile(rapport, { resource: 'companies', rest: 'custom_fields' }, file, json)
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 1, 2])
  assert.match(await errorsOf(done.id), /^1,,The line has more than 500 names\.,.*,too_many_names\r$/m)
})

test('a CSV row that is too long is reported, and the others are imported', async () => {
  const long = 'x'.repeat(300_000)
  const file = `name,address\nBefore Long,\nLong,${long}\n"Long, too","${long}\n"\nAfter Long,\n`
  const done = await importFile(rapport, { resource: 'companies' }, file)
  assert.deepEqual([done.status, done.rows_read, done.created, done.failed], ['succeeded', 4, 2, 2])
  const errors = await errorsOf(done.id)
  for (const row of [3, 4])
    assert.match(
      errors,
      new RegExp(`^${row},,The row has more than 262144 characters\\..*,row_too_long\r$`, 'ms'),
    )
  assert.deepEqual(
    (await found('companies?search=long&sort=name')).map(({ name }: { name: string }) => name),
    ['After Long', 'Before Long'],
  )
})

test('a broken quote ends the import with the row, and the rows before it stay', async () => {
  const done = await importFile(rapport, { resource: 'companies' }, 'name\nBefore Quote\n"After Quote\n')
  assert.deepEqual([done.status, done.created], ['failed', 1])
  assert.match(done.message, /quote that opens in row 3/)
})

test('other bodies, an empty one and one above the limit are refused', async () => {
  refused(
    await upload(rapport, '?resource=contacts', '{}', { 'content-type': 'application/json' }),
    415,
    'unsupported_media_type',
  )
  refused(await upload(rapport, '?resource=contacts', ''), 400, 'bad_request')
  refused(
    await rapport.call('POST', '/api/v1/contacts', 'a,b', { 'content-type': 'text/csv' }),
    415,
    'unsupported_media_type',
  )
  const small = await startRapport({ env: { MAX_IMPORT_MB: '1' } })
  try {
    const reply = await upload(small, '?resource=contacts', 'a'.repeat(1024 * 1024 + 1))
    refused(reply, 413, 'payload_too_large')
    assert.equal((await small.call('GET', '/api/v1/imports')).body.meta.total, 0)
  } finally {
    await small.close()
  }
})

test('a file without its content type is refused with the types that a file can have', async () => {
  // Browsers on Windows, curl and other programs send these types.
  for (const type of ['application/vnd.ms-excel', 'application/x-www-form-urlencoded', 'text/plain'])
    for (const path of ['?resource=contacts', '/preview?resource=contacts']) {
      const reply = await upload(rapport, path, 'first_name,last_name\nAna,Ruiz\n', { 'content-type': type })
      refused(reply, 415, 'unsupported_media_type')
      assert.match(reply.body.error.message, /with Content-Type text\/csv or/, `${type} ${path}`)
    }
  const { id } = (await upload(rapport, '?resource=contacts', 'first_name\n')).body.data
  const undo = await upload(rapport, `/${id}/undo`, 'a,b')
  refused(undo, 415, 'unsupported_media_type')
  assert.match(undo.body.error.message, /Send the body as JSON/)
})

test('lines of JSON that are sent as CSV are refused with their content type', async () => {
  for (const path of ['?resource=contacts', '/preview?resource=contacts']) {
    const reply = await upload(rapport, path, '\ufeff {"first_name":"Ana","last_name":"Ruiz"}\n')
    assert.match(refused(reply, 400, 'bad_request').message, /application\/x-ndjson/)
  }
})

test('a sheet of Excel and a compressed file are refused with what to do, also in the preview', async () => {
  const { total } = (await rapport.call('GET', '/api/v1/imports')).body.meta
  for (const [start, message] of [
    ['504b0304', /Save the sheet as CSV/],
    ['d0cf11e0', /Save the sheet as CSV/],
    ['1f8b', /Unpack it first/],
  ] as const)
    for (const path of ['', '/preview']) {
      const file = Buffer.concat([Buffer.from(start, 'hex'), Buffer.from('name\nAcme\n')])
      const reply = await upload(rapport, `${path}?resource=companies`, file)
      assert.match(refused(reply, 400, 'bad_request').message, message)
    }
  assert.equal((await rapport.call('GET', '/api/v1/imports')).body.meta.total, total)
})

test('a web page, a PDF, a picture and other files of people are refused by their first bytes, with what to save', async () => {
  const zip = (name: string, content: string) => zipOf({ [name]: content })
  const cases: [string, string | Buffer, RegExp][] = [
    [
      'HTML',
      '\ufeff\n <!DOCTYPE html>\n<html><body>Sign in</body></html>',
      /web page.*save it as \.xlsx or CSV/,
    ],
    ['HTML as .xls', '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table>', /web page/],
    ['XML', '<?xml version="1.0"?><Workbook/>', /XML file.*save it as \.xlsx or CSV/],
    ['7z', Buffer.from('377abcaf271c', 'hex'), /compressed/],
    ['RAR', 'Rar!\x1a\x07', /compressed/],
    ['BMP', 'BM\x46\x10\0\0\0\0\0\0', /picture/],
    ['calendar', 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\n', /calendar/],
    ['PDF', '%PDF-1.7\n', /PDF file. Send a table, as CSV or \.xlsx/],
    ['JSON list', '\ufeff[\n  {"name":"Acme"}]', /list of JSON. Write one object a line/],
    ['SVG', '<svg xmlns="x"/>', /picture or a film/],
    ['film', Buffer.from('1a45dfa3a34286810142f7810142f28104000042f3810842828477656d', 'hex'), /not a text/],
    ['PNG', Buffer.from('89504e470d0a1a0a', 'hex'), /picture/],
    ['JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), /picture/],
    ['RTF', '{\\rtf1\\ansi name}', /text document/],
    ['.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /old Excel file, or one with a password/],
    ['.ods', storedFirst('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'), /OpenDocument/],
    ['.numbers', zip('Index/Document.iwa', 'x'), /Numbers/],
    ['.xlsx', zip('[Content_Types].xml', '<Types/>'), /with Content-Type application\/vnd\.openxml/],
  ]
  for (const [what, file, message] of cases)
    for (const path of ['', '/preview'])
      for (const type of ['text/csv', 'application/x-ndjson']) {
        const headers = { 'content-type': type }
        const reply = await upload(rapport, `${path}?resource=companies`, file, headers)
        assert.match(refused(reply, 400, 'bad_request').message, message, what)
      }
  // A text that only begins like one of them is a text.
  for (const text of [
    'BM,name\n1,Acme\n',
    'II,name\n1,Acme\n',
    '<name>,name\n1,Acme\n',
    'PKW,name\n1,Acme\n',
  ])
    assert.equal((await upload(rapport, '/preview?resource=companies', text)).status, 200, text)
})

/** The start of a ZIP file whose first file is not packed. */
const storedFirst = (name: string, content: string) =>
  Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(name + content)])

test('a cancel and an undo of an import with a stale If-Match are 412 and change nothing, and those with its ETag succeed', async () => {
  const stale = { 'if-match': '"stale"' }
  const rows = Array.from({ length: 20_000 }, (_, n) => `Matched ${n}`).join('\n')
  const { id } = (await upload(rapport, '?resource=companies', `name\n${rows}\n`)).body.data
  const act = (verb: string, headers: Record<string, string>) =>
    rapport.call('POST', `/api/v1/imports/${id}/${verb}`, {}, headers)
  refused(await act('cancel', stale), 412, 'precondition_failed')
  assert.notEqual((await found(`imports/${id}`)).status, 'cancelled')
  assert.equal((await act('cancel', { 'if-match': '*' })).body.data.status, 'cancelled')
  refused(await act('undo', stale), 412, 'precondition_failed')
  const read = await rapport.call('GET', `/api/v1/imports/${id}`)
  assert.equal(read.body.data.status, 'cancelled')
  const current = { 'if-match': read.headers.get('etag') ?? '' }
  assert.equal((await act('undo', current)).body.data.restored, read.body.data.created)
  // An undo that a stop ended continues.
  assert.equal((await act('undo', current)).status, 200)
})
