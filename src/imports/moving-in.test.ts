import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { useRapport } from '../../test/harness.ts'
import { importFile, importsOf, upload } from '../../test/imports.ts'
import { csvRow } from '../files/csv.ts'

const rapport = useRapport()

const { found, detailsOf, run } = importsOf(rapport)

test('a deal has its own title, the name of a person beside it is its contact, and other columns of a person are nothing', async () => {
  await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const done = await run({ resource: 'deals' }, [
    'Person - Name,Deal - Title,Organization - Name,Person - Phone,Deal - Value',
    'Ana Ruiz,Lamps of prefix,Acme Inc.,+1 555 0100,12.5',
  ])
  assert.deepEqual([done.created, done.reported], [1, []])
  const deal = await detailsOf('deals', 'Lamps of prefix')
  assert.deepEqual(
    [deal.name, deal.value, deal.contact.last_name, deal.company.name],
    ['Lamps of prefix', 12.5, 'Ruiz', 'Acme Inc.'],
  )
  const phone = done.columns.find(({ header }: { header: string }) => header === 'Person - Phone')
  assert.deepEqual([phone.field, phone.left_out, phone.reasons], [null, 1, { other_kind: 1 }])
})

test('a deal that was won in another year closed then, and a state against the stage is an error of its row', async () => {
  const done = await run({ resource: 'deals', time_zone: 'Europe/Berlin' }, [
    'Deal - Title,Deal - Stage,Deal - Status,Deal - Won time,Deal - Lost time,Deal - Lost reason',
    'Won then,Demo,Won,2024-05-13 14:30:00,,',
    'Lost then,Proposal,Lost,,2025-01-31 09:00:00,Price',
    'Still open,Negotiation,Open,,,',
    'Against itself,Won,Lost,,2025-01-31 09:00:00,Price',
    'Against its time,Demo,Won,,2025-01-31 09:00:00,',
    'Open and won,Demo,Open,2024-05-13 14:30:00,,',
  ])
  assert.deepEqual(
    [done.created, done.reported],
    [
      3,
      [
        [5, 'status', 'not_allowed'],
        [6, 'status', 'not_allowed'],
        [7, 'status', 'not_allowed'],
      ],
    ],
  )
  const states = await Promise.all(
    ['Won then', 'Lost then', 'Still open'].map((name) => detailsOf('deals', name)),
  )
  assert.deepEqual(
    states.map(({ stage, status, closed_at, lost_reason }) => [stage, status, closed_at, lost_reason]),
    [
      ['won', 'won', '2024-05-13T12:30:00.000Z', null],
      ['lost', 'lost', '2025-01-31T08:00:00.000Z', 'Price'],
      ['negotiation', 'open', null, null],
    ],
  )
})

test('a closing time that a single request sends is not its own', async () => {
  const { body } = await rapport.call('POST', '/api/v1/deals', {
    name: 'By request',
    stage: 'won',
    closed_at: '2020-01-01T00:00:00.000Z',
  })
  assert.ok(body.data.closed_at > '2025')
})

test('an activity has one time from a day and a time, is done as its file says, and finds its contact, company and deal', async () => {
  await rapport.call('POST', '/api/v1/contacts', {
    first_name: 'Maja',
    last_name: 'Lindström',
    email: 'maja@nord.example',
  })
  await rapport.call('POST', '/api/v1/deals', { name: 'Street lights' })
  const done = await run({ resource: 'activities', time_zone: 'America/New_York' }, [
    'Subject;Type;Due date;Due time;Done;Contact person;Deal;Assigned to',
    'Ring back;Anruf;31/12/2026;2:30 PM;To do;maja@nord.example;Street lights;',
    'Sent offer;E-mail;05/06/2026;;Done;Maja Lindström;;',
    'Nobody;task;;;Nein;Nobody Known;;nobody@x.example',
  ])
  assert.deepEqual(
    [done.created, done.reported],
    [
      3,
      [
        [4, 'contact_id', 'not_found'],
        [4, 'owner_id', 'no_such_member'],
      ],
    ],
  )
  const activities = await found('activities?sort=id&details=true&search=')
  const of = (subject: string) => activities.find((one: { subject: string }) => one.subject === subject)
  const ring = of('Ring back')
  assert.deepEqual(
    [ring.type, ring.due_at, ring.completed_at, ring.contact.last_name, ring.deal.name],
    ['call', '2026-12-31T19:30:00.000Z', null, 'Lindström', 'Street lights'],
  )
  const sent = of('Sent offer')
  assert.deepEqual([sent.due_at, sent.completed_at], ['2026-06-05T04:00:00.000Z', '2026-06-05T04:00:00.000Z'])
})

test('a name of two contacts is an error that names both, and an e-mail address decides', async () => {
  for (const email of ['one@twins.example', 'two@twins.example'])
    await rapport.call('POST', '/api/v1/contacts', { first_name: 'Tom', last_name: 'Twin', email })
  const done = await run({ resource: 'deals' }, [
    'name,contact',
    'Of whom,Tom Twin',
    'Of two,two@twins.example',
  ])
  assert.deepEqual([done.created, done.reported], [1, [[2, 'contact_id', 'ambiguous']]])
  assert.match(
    (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text,
    /one@twins.example.*two@twins.example/,
  )
})

test('a name with its e-mail address is the contact of the address, and of several names the first counts', async () => {
  for (const [first_name, email] of [
    ['Lia', 'lia@refs.example'],
    ['Leo', 'leo@refs.example'],
  ])
    await rapport.call('POST', '/api/v1/contacts', { first_name, last_name: 'Refs', email })
  const done = await run({ resource: 'deals', rest: 'custom_fields' }, [
    'Record ID,Deal Name,Deal Stage,Associated Contact,Associated Company,Associated Company (Primary)',
    '1,Refs 1,Closed Won,Lia Refs (lia@refs.example),Refs One;Refs Two,Refs Two',
    '2,Refs 2,Closed Won,Leo Refs <LEO@refs.example>;Lia Refs (lia@refs.example),Refs One;Refs Two,',
    '3,Refs 3,Closed Won,"Refs, Lia;Refs, Leo",,',
  ])
  assert.deepEqual([done.created, done.reported], [3, []])
  const deals = await Promise.all(['Refs 1', 'Refs 2', 'Refs 3'].map((name) => detailsOf('deals', name)))
  assert.deepEqual(
    deals.map(({ contact, company, custom_fields: { 'Record ID': _, ...rest } }) => [
      contact.first_name,
      company?.name,
      rest,
    ]),
    [
      ['Lia', 'Refs Two', { 'Associated Company': 'Refs One;Refs Two' }],
      [
        'Leo',
        'Refs One',
        { 'Associated Contact': 'Lia Refs (lia@refs.example)', 'Associated Company': 'Refs Two' },
      ],
      ['Lia', undefined, { 'Associated Contact': 'Refs, Leo' }],
    ],
  )
})

test('a file of Google is recognised without the columns that somebody has deleted, and a fax is no phone', async () => {
  const done = await run({ resource: 'contacts', rest: 'custom_fields' }, [
    'First Name,Last Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value',
    'Ana,Trimmed,Work Fax,+49 30 99,Mobile,+49 170 1',
  ])
  const { phone, mobile, custom_fields } = await detailsOf('contacts', 'Trimmed')
  assert.deepEqual([done.program, phone, mobile], ['google', null, '+49 170 1'])
  assert.equal(custom_fields['Phone 1 - Value'], '+49 30 99')
})

test('a French export of companies is recognised', async () => {
  const file =
    "ID de fiche d'informations,Nom de l'entreprise,URL du site web,Nom de domaine de l'entreprise,Adresse postale,Ville\n" +
    '7,Acier SA,https://acier.example,acier.example,1 rue Haute,Lyon\n'
  const { program, columns } = (await upload(rapport, '/preview?resource=companies', file)).body.data
  assert.equal(program.id, 'hubspot')
  assert.deepEqual(
    columns.map(({ field }: { field: string }) => field),
    [null, 'name', 'website', 'website', 'address_part', 'address_part'],
  )
})

test('one cell of a column decides how the others are read, and without any, two readings are refused', async () => {
  const day = async (search: string) => (await detailsOf('deals', search)).expected_close_date
  const first = await run({ resource: 'deals' }, [
    'Name\tAmount\tExpected Close',
    'Decided 1\t1.234\t05/06/2026',
    'Decided 2\t99,5\t31/12/2026',
  ])
  assert.deepEqual([first.created, first.reported], [2, []])
  assert.deepEqual(
    [(await detailsOf('deals', 'Decided 1')).value, await day('Decided 1')],
    [1234, '2026-06-05'],
  )
  const second = await run({ resource: 'deals' }, [
    'Name\tBeträge\tExpected Close',
    'Undecided 1\t\t05/06/2026',
    'Undecided 2\t\t12/31/2026',
    'Undecided 3\t\t31/12/2026',
  ])
  assert.deepEqual([second.created, second.reported], [2, [[2, 'expected_close_date', 'two_readings']]])
  const third = await run({ resource: 'deals' }, ['name|value', 'Alone|1.234'])
  assert.deepEqual([third.created, third.reported], [0, [[2, 'value', 'two_readings']]])
})

test('the delimiter and the language of the headers decide last, and an amount keeps its value in any form', async () => {
  const german = await run({ resource: 'deals' }, [
    'Name;Betrag;Wahrscheinlichkeit',
    'German;1.234;25%',
    'Half;1;0,5 %',
  ])
  assert.deepEqual([german.created, german.reported], [1, [[3, 'probability', 'invalid_type']]])
  const deal = await detailsOf('deals', 'German')
  assert.deepEqual([deal.value, deal.probability], [1234, 25])
  const english = await run({ resource: 'deals' }, [
    'Deal Name,Amount',
    'English,"1,234"',
    'Rupees,"₹ 12,34,567.50"',
  ])
  assert.deepEqual(
    [
      english.created,
      (await detailsOf('deals', 'English')).value,
      (await detailsOf('deals', 'Rupees')).value,
    ],
    [2, 1234, 1_234_567.5],
  )
})

test('booleans and options of custom fields are read in the words of spreadsheets', async () => {
  for (const [key, type, options] of [
    ['vip', 'boolean', undefined],
    ['size', 'select', ['Small', 'Large']],
  ] as const)
    await rapport.call('POST', '/api/v1/custom-fields', {
      resource: 'companies',
      key,
      type,
      label: key.toUpperCase(),
      options,
    })
  const done = await run({ resource: 'companies' }, [
    'name,VIP,size',
    'Words 1,WAHR,LARGE',
    'Words 2,Y,small',
    'Words 3,0,',
    'Words 4,perhaps,',
  ])
  assert.deepEqual([done.created, done.reported], [3, [[5, 'custom_fields.vip', 'invalid_type']]])
  assert.deepEqual((await detailsOf('companies', 'Words 1')).custom_fields, { vip: true, size: 'Large' })
})

test('the first of several addresses is the field, the others are rest, and equal headers get keys of their own', async () => {
  const done = await run({ resource: 'contacts', rest: 'custom_fields' }, [
    'Name,E-mail,Note,Note',
    '"Several, Ana",a@several.example; b@several.example,one,two',
  ])
  assert.deepEqual([done.created, done.reported], [1, []])
  const contact = await detailsOf('contacts', 'several')
  assert.deepEqual(
    [contact.first_name, contact.last_name, contact.email, contact.custom_fields],
    ['Ana', 'Several', 'a@several.example', { 'E-mail': 'b@several.example', Note: 'one', 'Note 2': 'two' }],
  )
})

test('two columns of one field with different values are named in the account', async () => {
  const done = await run({ resource: 'contacts' }, [
    'first_name,last_name,Email,Email - Work',
    'Two,Columns,a@two.example,b@two.example',
    'Same,Columns,a@same.example,a@same.example',
  ])
  const work = done.columns.find(({ header }: { header: string }) => header === 'Email - Work')
  assert.deepEqual([work.stored, work.left_out, work.reasons], [1, 1, { other_value: 1 }])
})

test('a person chooses another program, and a time zone is never UTC without a word', async () => {
  const file = 'Record ID,First Name,Last Name,Phone Number\n7,Ana,Chosen,+1 555 0100\n'
  const by_headers = (await upload(rapport, '/preview?resource=contacts', file)).body.data
  assert.deepEqual(
    [by_headers.program.id, by_headers.program.evidence],
    ['hubspot', ['Record ID', 'First Name', 'Last Name']],
  )
  assert.equal(by_headers.time_zone, 'UTC')
  const chosen = (await upload(rapport, '/preview?resource=contacts&program=none', file)).body.data
  assert.equal(chosen.program, null)
  assert.ok(chosen.programs.some(({ id }: { id: string }) => id === 'pipedrive'))
  const done = await importFile(
    rapport,
    { resource: 'contacts', program: 'none', time_zone: 'Asia/Tokyo' },
    file,
  )
  assert.deepEqual([done.program, done.options.program, done.options.time_zone], [null, 'none', 'Asia/Tokyo'])
})

test('the account of any file adds up: stored, changed and left out are all cells with a value', async () => {
  const headers = [
    'First Name',
    'Last Name',
    'Name',
    'Email',
    'E-mail',
    'Phone',
    'Mobile',
    'Company',
    'Tags',
    'id',
    'Deal - Title',
    'Region',
    'Region',
    'owner_id',
    '',
  ]
  const cell = fc.constantFrom(
    '',
    '',
    ' ',
    'Ana',
    'a@x.example',
    'a@x.example; b@x.example',
    '+1 555 0100',
    '1.234',
    'x'.repeat(300),
    'ja',
    '05/06/2026',
    'Ruiz, Ana',
    ' ::: ',
    '=1+1',
  )
  const file = fc.record({
    columns: fc
      .array(fc.constantFrom(...headers), { minLength: 1, maxLength: 8 })
      .filter((all) => all.some((one) => one !== '')),
    rows: fc.array(fc.array(cell, { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 6 }),
    rest: fc.constantFrom('ignore', 'custom_fields'),
  })
  await fc.assert(
    fc.asyncProperty(file, async ({ columns, rows, rest }) => {
      const cut = rows.map((row) => row.slice(0, columns.length))
      const text = [columns, ...cut].map(csvRow).join('')
      const { columns: account } = await importFile(rapport, { resource: 'contacts', rest }, text)
      const read: string[][] = parse(text, { relax_column_count: true, skip_empty_lines: true })
      const filled = read
        .slice(1)
        .flat()
        .filter((one) => one.trim() !== '').length
      let sum = 0
      for (const { stored, changed, left_out, reasons } of account) {
        sum += stored + changed + left_out
        assert.equal(
          Object.values(reasons as Record<string, number>).reduce((a, b) => a + b, 0),
          left_out,
        )
      }
      assert.equal(sum, filled, text)
    }),
    { numRuns: 40 },
  )
})

test('a word of the language of programs is a value like any other', async () => {
  const done = await run({ resource: 'activities', rest: 'custom_fields' }, [
    'Record ID,Task Title,Task Status,Task Type',
    '1,Prototype,constructor,toString',
  ])
  assert.deepEqual([done.status, done.created], ['succeeded', 1])
})

test('a time with an offset that no zone has is an error of its row', async () => {
  const done = await run({ resource: 'activities' }, [
    'subject,due_at',
    'Far,12/31/2026 14:30 +99:99',
    'Day,0001-01-01',
  ])
  assert.deepEqual([done.status, done.failed > 0], ['succeeded', true])
})

test('a deal keeps the time when it closed, with and without fractions of a second', async () => {
  await run({ resource: 'deals' }, [
    'name,stage,closed_at',
    'Closed plain,won,2024-05-01T10:00:00Z',
    'Closed east,won,2024-05-01T10:00:00+02:00',
  ])
  const closed = await Promise.all(['Closed plain', 'Closed east'].map((name) => detailsOf('deals', name)))
  assert.deepEqual(
    closed.map(({ closed_at }) => closed_at),
    ['2024-05-01T10:00:00.000Z', '2024-05-01T08:00:00.000Z'],
  )
})

test('states of other languages are read, and unknown ones are left out by name', async () => {
  const done = await run({ resource: 'deals' }, ['name,status', 'Langue 1,Gagné', 'Langue 2,in progress'])
  assert.deepEqual([done.created, done.failed], [2, 0])
  assert.equal((await detailsOf('deals', 'Langue 1')).stage, 'won')
  const status = done.columns.find(({ header }: { header: string }) => header === 'status')
  assert.deepEqual([status.stored + status.changed, status.reasons], [1, { unknown_value: 1 }])
  const tasks = await run({ resource: 'activities' }, ['Subject,Done', 'Wort 1,Erledigt', 'Wort 2,perhaps'])
  const word = tasks.columns.find(({ header }: { header: string }) => header === 'Done')
  assert.deepEqual([word.stored + word.changed, word.reasons], [1, { unknown_value: 1 }])
})

test('a part that another column has decided is left out, or kept as a custom field', async () => {
  const lines = [
    'Name,Stage,Won time,Expected Close Date,Close Date',
    'Parts,demo,2024-05-01,2027-01-01,2027-02-02',
  ]
  const left = await run({ resource: 'deals' }, lines)
  const reasons = Object.fromEntries(
    left.columns.map((one: { header: string; reasons: object }) => [one.header, one.reasons]),
  )
  assert.deepEqual([reasons['Won time'], reasons['Close Date']], [{ other_value: 1 }, { other_value: 1 }])
  await run({ resource: 'deals', rest: 'custom_fields' }, lines)
  assert.deepEqual((await detailsOf('deals', 'Parts')).custom_fields, {
    'Won time': '2024-05-01',
    'Close Date': '2027-02-02',
  })
})

test('the separator of Google stands between tags, also in a column of tags', async () => {
  await run({ resource: 'contacts' }, ['first_name,last_name,tags', 'Ana,Separated,* fair ::: * work'])
  assert.deepEqual((await detailsOf('contacts', 'Separated')).tags, ['fair', 'work'])
})

test('the preview of a header without rows shows its columns', async () => {
  const { columns } = (await upload(rapport, '/preview?resource=contacts', 'First Name,E-mail\n')).body.data
  assert.deepEqual(
    columns.map(({ field }: { field: string }) => field),
    ['first_name', 'email'],
  )
})

test('a middle name that the full name has is not in the first name twice', async () => {
  await run({ resource: 'contacts' }, [
    'Full Name,Middle Name',
    'Ana Maria Twice,Maria',
    '"Twice, Bo",Lee',
    'Maria Twice,Maria',
    'Eva Eva Twice,Eva',
  ])
  const names = (await found('contacts?search=twice&sort=id')).map(
    ({ first_name }: { first_name: string }) => first_name,
  )
  assert.deepEqual(names, ['Ana Maria', 'Bo Lee', 'Maria', 'Eva Eva'])
})

test('a middle name alone changes no first name', async () => {
  await run({ resource: 'contacts' }, ['first_name,last_name,email', 'Ana,Mid,mid@x.example'])
  await run({ resource: 'contacts', on_match: 'update', match: 'email' }, [
    'Email,Middle Name',
    'mid@x.example,Maria',
  ])
  assert.equal((await detailsOf('contacts', 'mid@x.example')).first_name, 'Ana')
})
