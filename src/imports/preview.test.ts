import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { upload } from '../../test/imports.ts'

const rapport = useRapport()

test('a preview leaves out a row that is too long, and refuses a file that has no other', async () => {
  const preview = (file: string) => upload(rapport, '/preview?resource=companies', file)
  const long = `${'x'.repeat(300_000)},line\n`
  const { data } = (await preview(`name,line\nAcme,1\n${long}Basta,2\n`)).body
  assert.deepEqual(data.rows, [
    ['Acme', '1'],
    ['Basta', '2'],
  ])
  const refused = await preview(`name,line\n${long}`)
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'bad_request'])
  assert.match(refused.body.error.message, /more than 262144 characters/)
})

test('a preview guesses encoding, delimiter and columns, also of exports of other CRMs', async () => {
  const hubspot =
    'Record ID;First Name;Last Name;Email;Phone Number;Associated Company;Job Title;Lifecycle Stage;Colour\n1;Zoë;Day;z@x.example;1;Acme;CEO;lead;red\n'
  const reply = await upload(rapport, '/preview?resource=contacts', Buffer.from(hubspot, 'latin1'))
  assert.equal(reply.status, 200, reply.text)
  const { encoding, delimiter, columns, rows, fields } = reply.body.data
  assert.deepEqual([encoding, delimiter, rows[0][1]], ['windows-1252', ';', 'Zoë'])
  const mapped = (list: { header: string; field: string | null }[]) => list.map(({ field }) => field)
  assert.deepEqual(mapped(columns), [
    null,
    'first_name',
    'last_name',
    'email',
    'phone',
    'company',
    'title',
    'stage',
    null,
  ])
  assert.ok(fields.includes('company') && fields.includes('tags'))
  const guess = async (resource: string, header: string) =>
    mapped((await upload(rapport, `/preview?resource=${resource}`, `${header}\nx\n`)).body.data.columns)
  assert.deepEqual(
    await guess(
      'contacts',
      'Person - Name,Person - Email - Work,Person - Phone - Mobile,Person - Organization,Person - Label',
    ),
    ['name', 'email', 'mobile', 'company', 'tags'],
  )
  assert.deepEqual(
    await guess(
      'contacts',
      'First Name,Last Name,Organization Name,Organization Title,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Value',
    ),
    ['first_name', 'last_name', 'company', 'title', 'tags', null, 'email', 'phone'],
  )
  assert.deepEqual(await guess('deals', 'Deal Name,Amount,Close Date,Deal Stage,Closed Lost Reason'), [
    'name',
    'value',
    'close_date',
    'stage',
    'lost_reason',
  ])
  assert.deepEqual(
    await guess('companies', 'Organization - Name,Organization - Address,Company Domain Name'),
    ['name', 'address', 'website'],
  )
  assert.deepEqual(
    await guess(
      'contacts',
      'Vorname,Nachname,E-Mail-Adresse,Telefonnummer,Handy,Firma,Berufsbezeichnung,Schlagwörter',
    ),
    ['first_name', 'last_name', 'email', 'phone', 'mobile', 'company', 'title', 'tags'],
  )
  assert.deepEqual(await guess('companies', 'Firmenname,Webseite,Branche,Telefon,Anschrift'), [
    'name',
    'website',
    'industry',
    'phone',
    'address',
  ])
  assert.deepEqual(await guess('deals', 'Deal-Name,Betrag,Phase,Abschlussdatum,Unternehmen'), [
    'name',
    'value',
    'stage',
    'close_date',
    'company',
  ])
  assert.deepEqual(await guess('activities', 'Betreff,Art,Fällig am,Notizen'), [
    'subject',
    'type',
    'due_date',
    'body',
  ])
})

test('a preview of lines with more than 500 names shows the first 500, and says that it is not complete', async () => {
  const line = (names: number) =>
    `${JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, n) => [`n${n}`, n])))}\n`
  const preview = async (file: string) => {
    const types = { 'content-type': 'application/x-ndjson' }
    const { columns, rows, complete } = (await upload(rapport, '/preview?resource=companies', file, types))
      .body.data
    return [columns.length, rows[0].length, complete]
  }
  assert.deepEqual(await preview(line(500)), [500, 500, true])
  assert.deepEqual(await preview(line(400) + line(300).replaceAll('"n', '"m')), [500, 500, false])
})

test('equal headers and long ones get keys of their own, and no value is lost', async () => {
  const long = 'x'.repeat(70)
  const headers = ['Colour', long, 'Colour', `${long}y`, 'Colour 2', 'Colour']
  const { body } = await upload(
    rapport,
    '/preview?resource=companies&rest=custom_fields',
    `${headers}\n1,2,3,4,5,6\n`,
  )
  assert.deepEqual(
    body.data.columns.map(({ field }: { field: string }) => field.replace('custom_fields.', '')),
    ['Colour', 'x'.repeat(64), 'Colour 2', `${'x'.repeat(62)} 2`, 'Colour 2 2', 'Colour 3'],
  )
})
