// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { dataOf } from '../envelope.ts'
import { type Rapport, useRapport } from '../harness.ts'

const rapport = useRapport()

type Call = Rapport['call']
const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
const kinds: Record<string, (name: string) => object> = {
  contacts: (last_name) => ({ first_name: 'Ada', last_name }),
  companies: (name) => ({ name }),
  deals: (name) => ({ name }),
  activities: (subject) => ({ subject, type: 'call' }),
  appointments: (title) => ({ title, ...times }),
}
const make = async (call: Call, kind: string, name: string): Promise<number> =>
  dataOf(await call('POST', `/api/v1/${kind}`, kinds[kind]?.(name)), 201).id
const idsOf = async (call: Call, path: string, query: object): Promise<number[]> =>
  dataOf(await call('GET', `/api/v1/${path}?${new URLSearchParams({ ...query })}`), 200).map(
    ({ id }: { id: number }) => id,
  )

// Each spelling of a row finds all the others.
const spellings = [
  ["O'Neil", 'O’Neil', 'O‘Neil', 'OʼNeil', 'O´Neil', 'O`Neil', 'O′Neil', 'O＇NEIL'],
  ['Kawaʻiki', "Kawa'iki", 'Kawa‘iki'],
  ['"Delta"', '“Delta”', '„Delta“', '«Delta»', '＂Delta＂'],
  [
    'Jean-Luc',
    'Jean‐Luc',
    'Jean‑Luc',
    'Jean–Luc',
    'Jean—Luc',
    'Jean−Luc',
    'Jean－Luc',
    'Je\u00adan-Lu\u200bc',
  ],
  ['Griffin', 'Griﬃn', 'Griﬀin', 'GRIFﬁN', 'Ｇｒｉｆｆｉｎ'],
  ['Æsop & Cœur', 'aesop & coeur', 'Ǽsop & CŒUR'],
  ['Straße', 'STRASSE', 'Strasſe', 'Strasse'],
  ['Isparta Irmak', 'ısparta ırmak', 'İsparta İrmak'],
  ['Łódź Øst', 'lodz ost', 'Lo\u0301dz\u0301 O\u0338st'],
  ['שלום', 'שָׁלוֹם'],
]

for (const kind of Object.keys(kinds))
  test(`${kind} are found by each spelling of signs, dashes and ligatures in their name, in the list and in /search`, async () => {
    const call = await newWorkspace(rapport)
    for (const row of spellings) {
      const ids: number[] = []
      for (const name of row) ids.unshift(await make(call, kind, name))
      for (const search of row) {
        assert.deepEqual(await idsOf(call, kind, { search }), ids, `list: ${search}`)
        const found = await idsOf(call, 'search', { q: search, kinds: kind })
        assert.deepEqual(
          found.sort((a, b) => b - a),
          ids,
          `/search: ${search}`,
        )
      }
    }
  })

test('a changed name is found by its new spelling only', async () => {
  const call = await newWorkspace(rapport)
  const id = await make(call, 'contacts', 'O’Neil')
  await call('PUT', `/api/v1/contacts/${id}`, { last_name: 'D‘Arcy' })
  assert.deepEqual(await idsOf(call, 'contacts', { search: "o'neil" }), [])
  assert.deepEqual(await idsOf(call, 'contacts', { search: "d'arcy" }), [id])
})

test('signs are still plain: an apostrophe finds no quotation mark, and a dash no underscore', async () => {
  const call = await newWorkspace(rapport)
  const id = await make(call, 'companies', '“One”_two')
  for (const search of ["'", '’', '-', '–'])
    assert.deepEqual(await idsOf(call, 'companies', { search }), [], search)
  for (const search of ['"', '»', '_'])
    assert.deepEqual(await idsOf(call, 'companies', { search }), [id], search)
})

test('names that differ only in their signs are likely duplicates', async () => {
  const call = await newWorkspace(rapport)
  const ids = [await make(call, 'companies', "O'Neil-Energy"), await make(call, 'companies', 'O’Neil–Energy')]
  assert.deepEqual(dataOf(await call('GET', '/api/v1/companies/duplicates'), 200), [{ reason: 'name', ids }])
})

test('an upsert by name still compares without case, and with every sign', async () => {
  const call = await newWorkspace(rapport)
  const id = await make(call, 'companies', "O'Neil")
  const upsert = async (name: string) => {
    const items = [{ op: 'upsert', match: 'name', data: { name, industry: name } }]
    const [item] = dataOf(await call('POST', '/api/v1/companies/batch', { items }), 200)
    return item
  }
  assert.equal((await upsert("o'NEIL")).id, id)
  assert.equal((await upsert('O’Neil')).status, 'created')
})
