// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { before, use } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import { searchContacts, searchText, searchWords } from './search.ts'

const database = use(openMigrated)

test('a query is split at any white space, and a word that another one contains is looked for once', () => {
  assert.deepEqual(searchWords(' Ana\tRUIZ\u00a0an\u2003ána  '), ['ruiz', 'ana'])
  assert.deepEqual(searchWords(' \n'), [])
})

describe('searchContacts', () => {
  // More than the trigram index is asked for, so that every way of searching is taken.
  const size = 2600
  const rows: { id: number; workspace_id: number; stage: string | null; text: string }[] = []
  before(async () => {
    await transaction(database.db, async (tx) => {
      for (let id = 1; id <= size; id++) {
        const workspace_id = id % 5 === 0 ? 2 : 1
        const first_name = ['Åsa', 'Bo', 'Chloé "Coco"', 'Dmitri 100%', 'Eve_\\'][id % 5] as string
        const last_name = `${['Quist', 'Zhāng', '😀😀😀'][id % 3]} ${id}`
        const email = id % 7 === 0 ? null : `m${id}@mail.example`
        const stage = id % 100 === 0 ? 'rare' : id % 2 === 0 ? 'lead' : null
        const text = searchText([first_name, last_name, email ?? ''])
        rows.push({ id, workspace_id, stage, text })
        await sql`INSERT INTO contacts (workspace_id, first_name, last_name, email, stage, search_text, created_at, updated_at)
          VALUES (${workspace_id}, ${first_name}, ${last_name}, ${email}, ${stage}, ${text}, '', '')`.execute(
          tx,
        )
      }
    })
  })

  const queries = {
    'a word that nearly all have': 'example',
    'a rare word': 'm1234@',
    'a common and a rare word': 'example m77',
    'a common and a short word': 'mail bo',
    'two letters': 'zh',
    'one letter': 'q',
    'short words of different fields': 'å q 9',
    'characters with a meaning in SQL': '%',
    'an underscore and a backslash': '_\\',
    'quotes around a long word': '"coco"',
    'a lone quote': '"',
    'operators of the index': 'bo OR asa NOT NEAR(quist)',
    'three characters of two units each': '😀😀😀',
    'two characters of two units each': '😀😀',
    'a word that nobody has': 'nobody',
    'two letters that nobody has': 'wx',
  }
  for (const [what, query] of Object.entries(queries)) {
    test(`finds ${what}: every match, exactly counted, page by page, under each filter`, async () => {
      const words = searchWords(query)
      for (const stage of [undefined, 'lead', 'rare', 'none'])
        for (const workspace_id of [1, 2]) {
          const expected = rows
            .filter((row) => row.workspace_id === workspace_id)
            .filter((row) => stage === undefined || row.stage === stage)
            .filter((row) => words.every((word) => row.text.includes(word)))
            .map((row) => row.id)
            .reverse()
          const where = stage === undefined ? [] : [sql<boolean>`contacts.stage = ${stage}`]
          for (const offset of [0, 25, expected.length - 1, expected.length, 5000]) {
            if (offset < 0) continue
            const page = { limit: 25, offset }
            const found = await searchContacts(database.db, {
              workspace_id,
              words,
              conditions: where,
              ...page,
            })
            assert.deepEqual(found, { ids: expected.slice(offset, offset + 25), total: expected.length })
          }
        }
    })
  }
})
