// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { runs } from '../../../test/quick.ts'
import { useFor } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import type { Tx } from '../tx.ts'
import { normaliseText } from './normalise.ts'
import { searchContacts, searchFilter, searchText, searchWords } from './search.ts'

type Person = { workspace_id: number; first_name: string; last_name: string; email: string | null }
type Row = Person & { deleted: boolean; text: string }

// More than the search reads as a list of candidates.
const size = 2400
// The plain reading of all contacts by the rule of the contract, with which the search is compared.
const rows = new Map<number, Row>()
let next_id = 1

// Signs with a meaning in SQL, in LIKE or in the index, and letters that have several spellings.
const signs = [
  ...'aaabnoN1.@@',
  ...'äÄéßøłıςΣ王',
  ...`-_%\\"'*()^:+#,;~\``,
  ...['e\u0301', 'A\u0308', 'ﬁ', 'İ', '😀', '😁', '👩\u200d💻', '\u3099', '\u0007', '\u00a0', 'ガ'],
]
const sign = fc.constantFrom(...signs)
const word = fc.string({ unit: sign, minLength: 1, maxLength: 15 })
const name = fc.oneof(
  fc.constantFrom('Anna', 'Banana', 'ánna-bell', 'NANA', 'Ánnabellanna'),
  // They differ only in the middle, between their first and last 8 characters.
  fc.constantFrom('Habakkuk-Nehemiah', 'Habakkuk.Nehemiah', 'HabakkukNehemiah'),
  fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join(' ')),
)
const email = fc.oneof(
  fc.constant(null),
  fc.tuple(name, fc.constantFrom('example.com', 'Example.ORG')).map(([who, where]) => `${who}@${where}`),
)
const person: fc.Arbitrary<Person> = fc.record({
  workspace_id: fc.constantFrom(1, 1, 1, 2),
  first_name: name,
  last_name: name,
  email,
})

const textsOf = ({ first_name, last_name, email }: Person) => [first_name, last_name, email ?? '']

async function insert(tx: Tx, id: number, { workspace_id, first_name, last_name, email }: Person) {
  const text = searchText([first_name, last_name, email ?? ''])
  await sql`INSERT INTO contacts (id, workspace_id, first_name, last_name, email, search_text, created_at, updated_at)
    VALUES (${id}, ${workspace_id}, ${first_name}, ${last_name}, ${email}, ${text}, '', '')`.execute(tx)
}

type Step = { kind: 'create' | 'change' | 'trash' | 'restore' | 'remove'; which: number; person: Person }
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('create', 'create', 'change', 'change', 'trash', 'restore', 'remove'),
  which: fc.nat(),
  person,
})
const member = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), fails: fc.boolean() })

/** Takes a step in the database and in a copy of the rows. */
async function take(tx: Tx, model: Map<number, Row>, { kind, which, person }: Step) {
  if (kind === 'create') {
    const id = next_id++
    await insert(tx, id, person)
    model.set(id, { ...person, deleted: false, text: searchText(textsOf(person)) })
    return
  }
  const ids = [...model.keys()].slice(-40)
  const id = ids[which % ids.length] as number
  const row = model.get(id) as Row
  if (kind === 'change') {
    const changed = { ...row, ...person, workspace_id: row.workspace_id }
    const text = searchText(textsOf(changed))
    await sql`UPDATE contacts SET first_name = ${changed.first_name}, last_name = ${changed.last_name},
      email = ${changed.email}, search_text = ${text} WHERE id = ${id}`.execute(tx)
    model.set(id, { ...changed, text })
  } else if (kind === 'remove') {
    await sql`DELETE FROM contacts WHERE id = ${id}`.execute(tx)
    model.delete(id)
  } else {
    const deleted = kind === 'trash'
    await sql`UPDATE contacts SET deleted_at = ${deleted ? '2026' : null} WHERE id = ${id}`.execute(tx)
    model.set(id, { ...row, deleted })
  }
}

// A part of what somebody is called, in another spelling, or anything.
const part = fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 15 }), fc.nat(3)).map((numbers) => {
  const [which, from, length, spelling] = numbers
  const people = [...rows.values()]
  const characters = [...textsOf(people[which % people.length] as Person).join(' ')]
  const cut = characters
    .slice(from % characters.length)
    .slice(0, length)
    .join('')
  return [cut, cut.toUpperCase(), cut.normalize('NFD'), cut.normalize('NFC')][spelling] as string
})
const query = fc.oneof(
  { weight: 4, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' ')) },
  { weight: 1, arbitrary: fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join(' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'a',
      'an',
      'example',
      '@example.com',
      '.com',
      'anna exa',
      'o e',
      'habakkuknehemiah',
      'habakkuk.nehemiah',
    ),
  },
)
const asked = fc.record({
  query,
  workspace_id: fc.constantFrom(1, 1, 2),
  limit: fc.constantFrom(1, 25, 100),
  offset: fc.constantFrom(0, 0, 25, 500, 2100),
  filtered: fc.boolean(),
})

function expectedIds({
  query,
  workspace_id,
  filtered,
}: {
  query: string
  workspace_id: number
  filtered: boolean
}) {
  const words = normaliseText(query).split(/\s+/).filter(Boolean)
  return [...rows]
    .filter(([, row]) => row.workspace_id === workspace_id && !row.deleted)
    .filter(([, row]) => !filtered || row.email !== null)
    .filter(([, row]) => words.every((one) => textsOf(row).some((text) => normaliseText(text).includes(one))))
    .map(([id]) => id)
    .sort((a, b) => b - a)
}

test('the search finds what a plain reading of all texts finds, after any history of committed and failed writes', async (t) => {
  const database = await useFor(t, openMigrated())
  const people = fc.sample(person, { numRuns: size, seed: 7 })
  await transaction(database.db, async (tx) => {
    for (const one of people) {
      const id = next_id++
      await insert(tx, id, one)
      rows.set(id, { ...one, deleted: false, text: searchText(textsOf(one)) })
    }
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(member, { maxLength: 6 }),
      fc.array(asked, { minLength: 4, maxLength: 8 }),
      async (members, searches) => {
        // On PostgreSQL, members that run side by side would wait for each other's rows.
        const works = members.map(({ steps, fails }) => async () => {
          const model = new Map(rows)
          await transaction(database.db, async (tx) => {
            model.clear()
            for (const [id, row] of rows) model.set(id, row)
            for (const one of steps) await take(tx, model, one)
            if (fails) throw new Error('undone')
            rows.clear()
            for (const [id, row] of model) rows.set(id, row)
          }).catch((error) => assert.equal((error as Error).message, 'undone'))
        })
        if (database.engine === 'sqlite') await Promise.all(works.map((work) => work()))
        else for (const work of works) await work()

        for (const search of searches) {
          const words = searchWords(search.query)
          if (!words.length) continue
          const { workspace_id, limit, offset, filtered } = search
          const conditions = filtered ? [sql<boolean>`contacts.email IS NOT NULL`] : []
          const page = { limit, offset }
          const found = await searchContacts(database.db, { workspace_id, words, conditions, ...page })
          const expected = expectedIds(search)
          const what = JSON.stringify(search)
          assert.deepEqual(
            found,
            { ids: expected.slice(offset, offset + limit), total: expected.length },
            what,
          )
          const { where, plain, total } = await searchFilter(database.db, workspace_id, words)
          for (const condition of [where, plain]) {
            const listed = await sql<{ id: number }>`SELECT id FROM contacts
              WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND ${condition} ORDER BY id DESC`.execute(
              database.db,
            )
            const all = expectedIds({ ...search, filtered: false })
            assert.deepEqual(
              listed.rows.map(({ id }) => id),
              all,
              what,
            )
            if (total !== undefined) assert.equal(total, all.length, what)
          }
        }
      },
    ),
    { numRuns: runs(30) },
  )
  if (database.engine !== 'sqlite') return
  const live = [...rows.values()].filter(({ deleted }) => !deleted).length
  const { rows: kept } = await sql`SELECT (SELECT count(*) FROM contacts_search_docsize) AS indexed,
    (SELECT count(*) FROM contacts_search_changes) AS listed`.execute(database.db)
  assert.deepEqual({ ...(kept[0] as object) }, { indexed: live, listed: 0 })
})
