import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()
const namesAfter = async (search: string) =>
  (await rapport.call('GET', `/api/v1/companies?sort=id&search=${search}`)).body.data.map(
    ({ name }: { name: string }) => name,
  )

test('a file of UTF-8 with a few broken bytes is UTF-8: their rows are errors, and the others are imported', async () => {
  const file = Buffer.concat([
    Buffer.from('name,address\nGrün Alpha,Köln\nGr'),
    Buffer.from([0xfc]),
    Buffer.from('n Beta,x\n"Grün Gamma","two\nlines � é"\nGrün Delta,'),
    Buffer.from([0xe2, 0x82]),
    Buffer.from('\nGrün Epsilon,y\n'),
  ])
  const done = await importFile(rapport, { resource: 'companies' }, file)
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 3, 2])
  assert.deepEqual(await namesAfter('Gr%C3%BCn'), ['Grün Alpha', 'Grün Gamma', 'Grün Epsilon'])
  const errors = (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  const lines = errors.trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    lines.map((line) => [line.split(',')[0], line.split(',').at(-1)]),
    [
      ['3', 'invalid_encoding'],
      ['5', 'invalid_encoding'],
    ],
  )
  assert.match(errors, /not valid in utf-8/)
  assert.match(lines[0] as string, /Gr\ufffdn Beta/)
})

test('a broken line of JSON is an error, and the others are imported', async () => {
  const file = Buffer.concat([
    Buffer.from('{"name":"Línea uno"}\n{"name":"L'),
    Buffer.from([0xed]),
    Buffer.from('nea dos"}\n{"name":"Línea tres"}\n'),
  ])
  const done = await importFile(rapport, { resource: 'companies' }, file, {
    'content-type': 'application/x-ndjson',
  })
  assert.deepEqual([done.created, done.failed], [2, 1])
  const errors = (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  assert.match(errors, /2,.*invalid_encoding/)
})

test('the charset of the content type and the parameter encoding name the encoding of a file', async () => {
  const text = { 'windows-1251': [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2], shift_jis: [0x93, 0xfa, 0x96, 0x7b] }
  const sent = (bytes: number[], search: string) =>
    Buffer.concat([Buffer.from(`name,address\n${search} `), Buffer.from(bytes), Buffer.from(',x\n')])
  await importFile(rapport, { resource: 'companies' }, sent(text['windows-1251'], 'cyr'), {
    'content-type': 'text/csv; header=present; charset="CP1251"',
  })
  assert.deepEqual(await namesAfter('cyr'), ['cyr Привет'])
  // The parameter goes before the charset.
  await importFile(rapport, { resource: 'companies', encoding: 'sjis' }, sent(text.shift_jis, 'jis'), {
    'content-type': 'text/csv; charset=utf-8',
  })
  assert.deepEqual(await namesAfter('jis'), ['jis 日本'])
  const reply = await upload(rapport, '/preview?resource=companies&encoding=koi8-r', sent([0xd0], 'x'))
  assert.deepEqual(
    [reply.body.data.encoding, reply.body.data.encoding_is_guess, reply.body.data.rows[0][0]],
    ['koi8-r', false, 'x п'],
  )
})

test('bytes that a named encoding does not have are errors of their rows', async () => {
  const file = Buffer.concat([
    Buffer.from('name,address\nsevered '),
    Buffer.from([0xff]),
    Buffer.from(',x\nsevered whole,y\n'),
  ])
  const done = await importFile(rapport, { resource: 'companies', encoding: 'shift_jis' }, file)
  assert.deepEqual([done.created, done.failed], [1, 1])
  const declared = await importFile(rapport, { resource: 'companies' }, file, {
    'content-type': 'text/csv; charset=utf-8',
  })
  assert.deepEqual([declared.created, declared.failed], [1, 1])
})

test('an encoding that is not known is 415, in the parameter and in the content type', async () => {
  for (const path of ['?resource=companies', '/preview?resource=companies']) {
    const by_parameter = await upload(rapport, `${path}&encoding=utf-7`, 'name\nx\n')
    const by_type = await upload(rapport, path, 'name\nx\n', { 'content-type': 'text/csv; charset=klingon' })
    for (const reply of [by_parameter, by_type]) {
      assert.deepEqual([reply.status, reply.body.error.code], [415, 'unsupported_media_type'])
      assert.match(reply.body.error.message, /is not a known encoding. Use a name such as utf-8/)
    }
  }
})

test('a byte order mark goes before the encoding that a request names', async () => {
  const file = Buffer.from('\ufeffname,address\nmarked é,x\n', 'utf16le')
  await importFile(rapport, { resource: 'companies', encoding: 'windows-1252' }, file)
  assert.deepEqual(await namesAfter('marked'), ['marked é'])
})

test('the preview calls a guess a guess, with a sample of a text that it decides', async () => {
  const preview = async (file: Uint8Array) => {
    const { data } = (await upload(rapport, '/preview?resource=companies', file)).body
    return [data.encoding, data.encoding_is_guess, data.encoding_sample]
  }
  assert.deepEqual(await preview(Buffer.from('name,address\nAcme,x\n')), ['utf-8', false, null])
  assert.deepEqual(await preview(Buffer.from('name,address\nAcme,Köln\n')), ['utf-8', false, 'Acme,Köln'])
  assert.deepEqual(await preview(Buffer.from('name,address\nAcme,x\nZoë,Köln\n', 'latin1')), [
    'windows-1252',
    true,
    'Zoë,Köln',
  ])
  const far = `name,address\n${'Acme,x\n'.repeat(200_000)}`
  assert.deepEqual(await preview(Buffer.from(`${far}Zoë,Köln\n`, 'latin1')), [
    'windows-1252',
    true,
    'Zoë,Köln',
  ])
  const utf16 = Buffer.from('name,address\nZoë,Köln\n', 'utf16le')
  assert.deepEqual(await preview(utf16), ['utf-16le', true, 'Zoë,Köln'])
})
