import { systemClock } from '../src/clock.ts'
import { insertCompany } from '../src/companies/queries.ts'
import { insertContact } from '../src/contacts/queries.ts'
import { transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { openSqlite } from '../src/db/sqlite/open.ts'
import { insertKey } from '../src/keys/keys.ts'
import { insertWorkspace } from '../src/workspaces/workspaces.ts'

const syllables = [
  'an',
  'be',
  'cor',
  'di',
  'el',
  'fa',
  'gor',
  'hu',
  'is',
  'jo',
  'ka',
  'li',
  'mo',
  'ne',
  'ol',
  'pe',
  'ri',
  'so',
  'ti',
  'vu',
]

// The same names every time: a number's digits in base 20, as syllables.
function name(number: number): string {
  const digits = [number % 20, Math.floor(number / 20) % 20, Math.floor(number / 400) % 20]
  const text = digits.map((digit) => syllables[digit]).join('')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Fills a new database with contacts through the program's own functions; returns an API key for it. */
export async function seed(file: string, contacts: number): Promise<string> {
  const database = openSqlite(file)
  await migrate(database)
  const { db } = database
  const workspace_id = await transaction(db, (tx) => insertWorkspace(tx, systemClock, 'Bench'))
  const { token } = await transaction(db, (tx) =>
    insertKey(tx, systemClock, {
      workspace_id,
      name: 'bench',
      scopes: null,
      expires_at: null,
    }),
  )
  const now = new Date().toISOString()
  const none = { phone: null, mobile: null, title: null, source: null, stage: null, custom_fields: {} }
  await transaction(db, async (tx) => {
    for (let i = 1; i <= 100; i++) {
      const company = {
        name: `${name(i * 37)} Ltd`,
        website: null,
        industry: null,
        phone: null,
        address: null,
      }
      await insertCompany(tx, workspace_id, now, { ...company, custom_fields: {} })
    }
  })
  const batch = 5000
  for (let from = 0; from < contacts; from += batch)
    await transaction(db, async (tx) => {
      for (let i = from; i < Math.min(contacts, from + batch); i++) {
        const first_name = name(i * 7919)
        const last_name = name(i * 104_729 + 13)
        const email = `${first_name}.${last_name}.${i}@example.com`.toLowerCase()
        const company_id = i % 3 === 0 ? null : (i % 100) + 1
        await insertContact(tx, workspace_id, now, {
          ...none,
          first_name,
          last_name,
          email,
          company_id,
          tags: [],
        })
      }
    })
  await database.close()
  return token
}
