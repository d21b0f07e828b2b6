import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()
const type = { 'content-type': 'text/vcard; charset=utf-8' }
const fixture = (name: string) =>
  readFileSync(new URL(`../../test/fixtures/imports/cards/${name}.vcf`, import.meta.url))
const importCards = async (file: Uint8Array | string, query = {}) => {
  const done = await importFile(
    rapport,
    { resource: 'contacts', rest: 'custom_fields', ...query },
    file,
    type,
  )
  const errors = (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  const { data } = (await rapport.call('GET', '/api/v1/contacts?sort=-id&per_page=100')).body
  const ids = data.slice(0, done.created).map(({ id }: { id: number }) => id)
  const contacts = await Promise.all(
    ids.reverse().map(async (id: number) => {
      const { data } = (await rapport.call('GET', `/api/v1/contacts/${id}`)).body
      const { first_name, last_name, email, phone, mobile, company, title, tags, custom_fields } = data
      return {
        first_name,
        last_name,
        email,
        phone,
        mobile,
        company: company?.name ?? null,
        title,
        tags,
        custom_fields,
      }
    }),
  )
  return { done, errors, contacts }
}

test('cards of Apple become contacts: names, phones by their types, labels as tags, and the rest', async () => {
  const { done, errors, contacts } = await importCards(fixture('apple-3'))
  assert.deepEqual([done.rows_read, done.created, done.failed], [2, 2, 0], errors)
  assert.deepEqual(contacts, [
    {
      first_name: 'Zoë Anna Maria',
      last_name: 'Müller',
      email: 'zoe@mueller.example',
      phone: '+49 30 1234',
      mobile: '+49 170 1234567',
      company: 'Müller & Söhne GmbH',
      title: 'Head of Purchasing, Europe',
      tags: ['VIP', 'Fair, 2026'],
      custom_fields: {
        'Name Prefix': 'Dr.',
        'Full Name': 'Dr. Zoë Anna Maria Müller',
        Department: 'Einkauf',
        'email 2': 'zoe@home.example',
        Fax: '+49 30 999',
        'phone 2': '+49 30 5678',
        'Own label': 'Sekretariat: +49 30 5678',
        Address: 'Hauptstraße 5\nHinterhaus, Köln, 50667, Deutschland',
        Website: 'https://mueller.example',
        Birthday: '1980-02-29',
        Note: 'Met at the fair; wants an offer.\nSays "soon".',
      },
    },
    {
      first_name: 'Ana',
      last_name: 'Ruiz',
      email: 'ana@cards.example',
      phone: null,
      mobile: null,
      company: null,
      title: null,
      tags: [],
      custom_fields: {},
    },
  ])
})

test("Apple's labels say what a number or a name is, and people's own labels are kept", async () => {
  const card = `BEGIN:VCARD
VERSION:3.0
N:Ruiz;Ana;;;
item1.TEL:+49 30 1
item1.X-ABLabel:_$!<HomeFAX>!$_
item2.TEL:+49 170 2
item2.X-ABLabel:Mobile of her firm
TEL;type=WORK:+49 30 3
item3.X-ABRELATEDNAMES:Berta
item3.X-ABLabel:_$!<Spouse>!$_
item4.X-ABLabel:_$!<Home>!$_
item4.EMAIL:ana@labels.example
SOURCE:ldap://directory.example/ana
END:VCARD
`
  const { done, errors, contacts } = await importCards(card)
  assert.deepEqual([done.created, done.failed], [1, 0], errors)
  const [{ phone, mobile, email, custom_fields } = {} as never] = contacts
  assert.deepEqual([phone, mobile, email], ['+49 30 3', '+49 170 2', 'ana@labels.example'])
  assert.deepEqual(custom_fields, {
    Fax: '+49 30 1',
    'Own label': 'Mobile of her firm: +49 170 2',
    'X-ABRELATEDNAMES (Spouse)': 'Berta',
    'Source of the card': 'ldap://directory.example/ana',
  })
  const { data } = (await rapport.call('GET', `/api/v1/imports/${done.id}`)).body
  const left = (await importFile(rapport, { resource: 'contacts', dry_run: 'true' }, card, type)).columns
  const sum = (columns: { stored: number; left_out: number }[]) =>
    columns.reduce((all, one) => all + one.stored + one.left_out, 0)
  assert.deepEqual([sum(data.columns), sum(left)], [9, 9])
})

test('a property is no field because its name is the header of one, and the picture that Outlook adds is not read', async () => {
  const card = `BEGIN:VCARD
VERSION:2.1
N;LANGUAGE=de:Groß;Jürgen
NAME:Card of a colleague
EMAIL;PREF;INTERNET:juergen@property.example
ADR;WORK;PREF:;;Weg 1;Berlin;;10115;Deutschland
LABEL;WORK;PREF;ENCODING=QUOTED-PRINTABLE:Weg 1=0D=0A=
10115 Berlin
X-MS-OL-DEFAULT-POSTAL-ADDRESS:2
X-MS-CARDPICTURE;TYPE=JPEG;ENCODING=BASE64:
${' /9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8U\n'.repeat(500)}
X-ICON;ENCODING=b;TYPE=PNG:iVBORw0KGgo=
END:VCARD
`
  const { done, errors, contacts } = await importCards(card)
  assert.deepEqual([done.created, done.failed], [1, 0], errors)
  const [{ first_name, last_name, tags, custom_fields } = {} as never] = contacts
  assert.deepEqual([first_name, last_name, tags], ['Jürgen', 'Groß', []])
  assert.deepEqual(custom_fields, {
    Address: 'Weg 1, Berlin, 10115, Deutschland',
    'Address label': 'Weg 1\r\n10115 Berlin',
    'Name of the card': 'Card of a colleague',
    'X-MS-OL-DEFAULT-POSTAL-ADDRESS': '2',
  })
})

test('cards of version 4 are read: preferences, quoted types and telephone numbers as addresses', async () => {
  const { done, errors, contacts } = await importCards(fixture('four'))
  assert.deepEqual([done.created, done.failed], [2, 0], errors)
  const [jose, wang] = contacts
  assert.deepEqual(
    [jose?.first_name, jose?.last_name, jose?.email, jose?.mobile, jose?.company, jose?.tags],
    ['José María', 'de la Peña', 'jose@cards.example', '+34-600-123-456', 'Peña, S.L.', ['cliente']],
  )
  assert.equal(jose?.custom_fields['email 2'], 'later@cards.example')
  assert.equal(jose?.custom_fields['X-SOCIALPROFILE'], 'https://social.example/jose')
  assert.deepEqual([wang?.first_name, wang?.last_name, wang?.email], ['Wang', 'Wei', 'wang@cards.example'])
})

test('a card of version 2.1 is read: quoted-printable texts in their character sets, and bare types', async () => {
  const { done, errors, contacts } = await importCards(fixture('outlook-2.1'))
  assert.deepEqual([done.created, done.failed], [1, 0], errors)
  const [ngozi] = contacts
  assert.deepEqual(
    [ngozi?.first_name, ngozi?.last_name, ngozi?.mobile, ngozi?.phone, ngozi?.company],
    ['Ngozi ✓', 'Okafor', '+234 803 1', '+234 1 3', 'Café Lagos'],
  )
  assert.deepEqual(
    [ngozi?.custom_fields.Fax, ngozi?.custom_fields.Note],
    ['+234 1 2', 'one\r\ntwo = three C:\\new'],
  )
})

test('a card that cannot be read is an error with its number, and the others are imported', async () => {
  const card = (...lines: string[]) => `BEGIN:VCARD\nVERSION:3.0\n${lines.join('\n')}\nEND:VCARD\n`
  const named = (name: string) => card(`N:Card;${name};;;`, `FN:${name} Card`)
  const file = Buffer.concat([
    Buffer.from(
      named('First') + card(`N:Long;${'x'.repeat(300_000)};;;`) + card(...Array(600).fill('X-A:1')),
    ),
    Buffer.from(card('N:Brok\u0000en;B;;;').replace('\u0000', '\u0001')),
    Buffer.from('BEGIN:VCARD\nN:Br'),
    Buffer.from([0xff]),
    Buffer.from(`ken;É;;;\nEND:VCARD\n\n${named('Élast')}`),
  ])
  const { done, errors, contacts } = await importCards(file)
  assert.deepEqual([done.rows_read, done.created + done.failed], [6, 6])
  assert.match(errors, /\r\n2,,.*row_too_long\r\n3,,.*too_many_names\r\n/s)
  assert.match(errors, /\r\n5,,.*invalid_encoding/)
  assert.deepEqual([contacts[0]?.first_name, contacts.at(-1)?.first_name], ['First', 'Élast'])
  const cut = await importCards(`${named('Whole')}BEGIN:VCARD\nN:Cut`)
  assert.deepEqual([cut.done.status, cut.done.created], ['failed', 1])
  assert.match(cut.done.message, /The card 2 has no END:VCARD/)
})

test('the preview shows cards, and refuses a file without them and other kinds of records', async () => {
  const shown = (await upload(rapport, '/preview?resource=contacts', fixture('apple-3'), type)).body.data
  assert.deepEqual([shown.file_type, shown.rows.length, shown.header_row], ['vcf', 2, null])
  const fields = Object.fromEntries(
    shown.columns.map(({ header, field }: { header: string; field: string | null }) => [header, field]),
  )
  assert.deepEqual([fields.mobile, fields['Full Name'], fields.Note], ['mobile', 'name', null])
  for (const path of ['', '/preview']) {
    const none = await upload(rapport, `${path}?resource=contacts`, 'name\nx\n', type)
    assert.equal(none.status, 400)
    assert.match(none.body.error.message, /no vCards/)
    const other = await upload(rapport, `${path}?resource=companies`, fixture('four'), type)
    assert.deepEqual([other.status, other.body.error.fields[0].field], [422, 'resource'])
    const as_csv = await upload(rapport, `${path}?resource=contacts`, fixture('four'))
    assert.match(as_csv.body.error.message, /Send it with Content-Type text\/vcard/)
  }
})

test('a property whose name begins like another one is kept, also with the same value', async () => {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    'N:Card;Ana;;;',
    'X-ID-OLD:7',
    'X-ID:7',
    'X-ID:7',
    'X-ID:8',
    'END:VCARD',
  ]
  const { contacts } = await importCards(lines.join('\r\n'))
  assert.deepEqual(contacts[0]?.custom_fields, { 'X-ID-OLD': '7', 'X-ID': '7', 'X-ID 2': '8' })
})
