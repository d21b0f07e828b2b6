import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()

const preview = async (file: string, query = '') => {
  const reply = await upload(rapport, `/preview?resource=contacts${query}`, file)
  assert.equal(reply.status, 200, reply.text)
  const { header_row, delimiter, columns, rows } = reply.body.data
  return { header_row, delimiter, headers: columns.map(({ header }: { header: string }) => header), rows }
}

test('the header is found behind notes, by headers with a field, whatever the delimiter', async () => {
  for (const delimiter of [',', ';', '\t']) {
    const line = (...cells: string[]) => `${cells.join(delimiter)}\n`
    const notes = `Contacts of the fair\n"Exported, for you"\n\n${line('Date', '2026-11-28', '', '')}`
    const shown = await preview(
      `${notes}${line('First name', 'Last name', 'Email')}${line('Ana', 'Ruiz', 'ana@a.example')}`,
    )
    assert.deepEqual(shown, {
      header_row: 5,
      delimiter,
      headers: ['First name', 'Last name', 'Email'],
      rows: [['Ana', 'Ruiz', 'ana@a.example']],
    })
  }
})

test('a header without any known name is found behind a note of one cell', async () => {
  const shown = await preview('List 7\n\nKennung,Farbe,Ort\n1,red,Köln\n2,blue,Bonn\n')
  assert.deepEqual([shown.header_row, shown.headers], [3, ['Kennung', 'Farbe', 'Ort']])
})

test('a file whose header is its first row keeps it, however its rows look', async () => {
  for (const file of [
    'name\nAcme, Inc, and, others\n',
    'first_name,colour\nAna,red\nfirst_name,last_name,email\n',
    'Kennung,Farbe\n1,red,Köln\n2,blue,Bonn\n',
    'email,x\n"a@b.example","two\nlines"\nphone,email,title,name\n',
  ])
    assert.equal((await preview(file)).header_row, 1, file)
  assert.equal((await preview('sep=;\nfirst_name;email\nAna;x\n')).header_row, 1)
})

test('header_row names the row of the header, and rows keep the numbers of a spreadsheet', async () => {
  const file =
    'first_name,last_name\nold,header\n"a\nnote",x\nFirst name,Last name,Email\nAna,Ruiz,ana@h.example\nBo,Day,no address\n'
  const shown = await preview(file, '&header_row=4')
  assert.deepEqual(
    [shown.header_row, shown.headers, shown.rows.length],
    [4, ['First name', 'Last name', 'Email'], 2],
  )
  const done = await importFile(rapport, { resource: 'contacts', header_row: '4' }, file)
  assert.deepEqual([done.rows_read, done.created, done.failed], [2, 1, 1])
  const errors = (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  assert.match(errors, /\r\n6,email,/)
})

test('a header_row beyond the file, or of a file without a header, is refused', async () => {
  const beyond = await upload(rapport, '/preview?resource=contacts&header_row=9', 'a,b\n1,2\n')
  assert.deepEqual([beyond.status, beyond.body.error.code], [400, 'bad_request'])
  assert.match(beyond.body.error.message, /has no row 9/)
  const lines = await upload(rapport, '?resource=contacts&header_row=2', '{}\n', {
    'content-type': 'application/x-ndjson',
  })
  assert.deepEqual([lines.status, lines.body.error.fields[0].field], [422, 'header_row'])
  for (const wrong of ['0', 'two', '1001'])
    assert.equal((await upload(rapport, `?resource=contacts&header_row=${wrong}`, 'a\n')).status, 422)
})
