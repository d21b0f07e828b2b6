import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { importsOf, upload } from '../../test/imports.ts'

// Exports have notes behind their records, separators at ends, and addresses that have changed since.

const rapport = useRapport()

const { found, detailsOf, run } = importsOf(rapport)

test('the e-mail address of a contact that was merged away finds the contact that it was merged into', async () => {
  const [survivor, merged] = await Promise.all(
    ['new@merged.example', 'old@merged.example'].map(async (email) => {
      const sent = { first_name: 'Mia', last_name: email.slice(0, 3), email }
      return (await rapport.call('POST', '/api/v1/contacts', sent)).body.data.id
    }),
  )
  await rapport.call('POST', `/api/v1/contacts/${survivor}/merge`, { from_ids: [merged] })
  const done = await run({ resource: 'deals' }, [
    'name,contact',
    'Merged 1,OLD@merged.example',
    'Merged 2,Mia old (old@merged.example)',
    'Merged 3,new@merged.example',
  ])
  assert.deepEqual([done.created, done.reported], [3, []])
  const deals = await Promise.all(
    ['Merged 1', 'Merged 2', 'Merged 3'].map((name) => detailsOf('deals', name)),
  )
  assert.deepEqual(
    deals.map(({ contact }) => contact.id),
    [survivor, survivor, survivor],
  )
})

test('the notes behind a report of Salesforce are errors of their rows, and no records', async () => {
  const notes = [
    '"Grand Totals (1 records)"',
    '',
    'Report of notes,,,',
    '"Copyright (c) 2000-2026 salesforce.com, inc. All rights reserved."',
    'Confidential Information - Do Not Distribute,,,',
  ]
  const rows = {
    companies: [['Account Name,Account Owner,Billing City,Rating', 'Of notes,,Bonn,Hot'], 'name'],
    deals: [
      ['Opportunity Name,Stage,Close Date,Account Name', 'Of notes,Closed Won,2024-05-13,Acme Inc.'],
      'name',
    ],
    contacts: [['First Name,Last Name,Account Name,Account Owner', 'Of,Notes,,'], 'last_name'],
  } as const
  for (const [resource, [lines, field]] of Object.entries(rows)) {
    const before_import = (await found(`${resource}?sort=-id&per_page=1`))[0]?.id ?? 0
    const done = await run({ resource, bad_cells: 'leave_out' }, [...lines, '', ...notes])
    assert.deepEqual(
      [done.program, done.created, done.failed, done.reported],
      ['salesforce', 1, 4, [4, 6, 7, 8].map((row) => [row, '', 'not_a_record'])],
    )
    const made = (await found(`${resource}?sort=-id&per_page=100`)).filter(
      ({ id }: { id: number }) => id > before_import,
    )
    assert.deepEqual(
      made.map((one: Record<string, string>) => one[field]),
      [resource === 'contacts' ? 'Notes' : 'Of notes'],
    )
    const sum = done.columns.reduce(
      (all: number, { stored, changed, left_out }: Record<string, number>) =>
        all + (stored ?? 0) + (changed ?? 0) + (left_out ?? 0),
      0,
    )
    assert.equal(sum, notes.filter(Boolean).length + (lines[1] as string).split(',').filter(Boolean).length)
  }
})

test('a list of companies or deals has its name in a column of this kind, in English and in German', async () => {
  const names = { companies: ['Company', 'Organization', 'Firma'], deals: ['Deal', 'Title', 'Titel'] }
  for (const [resource, headers] of Object.entries(names))
    for (const header of headers) {
      const { columns } = (
        await upload(rapport, `/preview?resource=${resource}`, `${header},Phase,City\nListed,,Bonn\n`)
      ).body.data
      assert.equal(columns[0].field, 'name', `${resource}: ${header}`)
    }
})

test('a separator behind an address or a number is no part of it', async () => {
  const done = await run({ resource: 'contacts' }, [
    'Name,E-mail,Phone',
    'Ana Behind,ana@behind.example;,"+1 555 0100, "',
  ])
  assert.deepEqual([done.created, done.reported], [1, []])
  const { first_name, last_name, email, phone } = await detailsOf('contacts', 'behind')
  assert.deepEqual(
    [first_name, last_name, email, phone],
    ['Ana', 'Behind', 'ana@behind.example', '+1 555 0100'],
  )
  assert.deepEqual(
    done.columns.map(({ changed }: { changed: number }) => changed),
    [0, 1, 1],
  )
})

test('a number with the label iPhone is a mobile one in a file of Google, as it is in a card', async () => {
  const done = await run({ resource: 'contacts' }, [
    'First Name,Last Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value',
    'Ana,Labelled,iPhone,+49 170 1234,Work,+49 30 1234',
  ])
  const { phone, mobile } = await detailsOf('contacts', 'Labelled')
  assert.deepEqual([done.program, phone, mobile], ['google', '+49 30 1234', '+49 170 1234'])
})
