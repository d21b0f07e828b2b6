import { insertKey } from '../src/access/keys/keys.ts'
import { insertWorkspace } from '../src/access/workspaces.ts'
import { systemClock } from '../src/clock.ts'
import type { Config } from '../src/config.ts'
import { type Tx, transaction } from '../src/db/db.ts'
import { addCounts } from '../src/db/lists/counts.ts'
import { searchText } from '../src/db/lists/search.ts'
import { sortName } from '../src/db/lists/sort-names.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { recordset, rowsOf } from '../src/db/statements/recordset.ts'
import { command_line, contextOf } from '../src/events/context.ts'
import { companyRecords } from '../src/resources/companies/operations.ts'
import { companies as company_resource } from '../src/resources/companies/resource.ts'
import { newValues } from '../src/resources/writing/input.ts'

const syllables = 'an be cor di el fa gor hu is jo ka li mo ne ol pe ri so ti vu'.split(' ')

// Repeatable names: the digits of a number in base 20, as syllables.
function name(number: number): string {
  const digits = [number % 20, Math.floor(number / 20) % 20, Math.floor(number / 400) % 20]
  const text = digits.map((digit) => syllables[digit]).join('')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Names of three syllables. One in 4,000 contacts has such a name. */
export const words = ['gorhuis', 'kalimo', 'sotivu', 'bediel', 'neolpe', 'corfa', 'hujoti', 'vuanbe']
/** Last names of ten contacts each, at any size. Their trigrams also occur in the other names. */
export const rare_names = [
  'gorhuisan',
  'kalimobe',
  'sotivucor',
  'diisvudi',
  'neolpeel',
  'corfafafa',
  'hujotigor',
  'vuanbehu',
]
const contacts_per_rare_name = 10
/** One in this many contacts has a rare name. */
const rareEvery = (contacts: number) =>
  Math.max(1, Math.floor(contacts / (rare_names.length * contacts_per_rare_name)))

export const companies = 100

const columns = {
  first_name: 'text!',
  last_name: 'text!',
  email: 'text!',
  company_id: 'bigint',
  search_text: 'text!',
  sort_name: 'text!',
} as const

function contact(i: number, contacts: number) {
  const first_name = name(i * 7919)
  const turn = i / rareEvery(contacts)
  const rare = Number.isInteger(turn) && turn < rare_names.length * contacts_per_rare_name
  const last_name = rare ? (rare_names[turn % rare_names.length] as string) : name(i * 104_729 + 13)
  const email = `${first_name}.${last_name}.${i}@example.com`.toLowerCase()
  const company_id = i % 3 === 0 ? null : (i % companies) + 1
  const search_text = searchText([first_name, last_name, email])
  const sort_name = sortName(last_name, first_name)
  return { first_name, last_name, email, company_id, search_text, sort_name }
}

/** Inserts a batch of contacts in one statement, and updates the stored totals. */
async function insertContacts(
  tx: Tx,
  { workspace_id, key_id, now }: { workspace_id: number; key_id: string; now: string },
  rows: ReturnType<typeof contact>[],
) {
  await tx
    .insertInto('contacts')
    .columns([
      ...(['workspace_id', 'first_name', 'last_name', 'email', 'company_id', 'search_text'] as const),
      ...(['sort_name', 'custom_fields', 'tags', 'created_at', 'updated_at'] as const),
      ...(['created_by', 'updated_by'] as const),
    ])
    .expression((eb) =>
      eb
        .selectFrom(recordset(tx, rowsOf(columns, rows), columns).as('r'))
        .select((eb) => [
          eb.cast<number>(eb.val(workspace_id), 'bigint').as('workspace_id'),
          ...(['first_name', 'last_name', 'email', 'company_id', 'search_text', 'sort_name'] as const),
          eb.cast<string>(eb.val('{}'), 'text').as('custom_fields'),
          eb.cast<string>(eb.val('[]'), 'text').as('tags'),
          eb.cast<string>(eb.val(now), 'text').as('created_at'),
          eb.cast<string>(eb.val(now), 'text').as('updated_at'),
          eb.cast<string>(eb.val(key_id), 'text').as('created_by'),
          eb.cast<string>(eb.val(key_id), 'text').as('updated_by'),
        ]),
    )
    .execute()
  await addCounts(tx, [
    { workspace_id, name: 'contacts', by: rows.length },
    ...rows
      .filter(({ company_id }) => company_id !== null)
      .map(({ company_id }) => ({ workspace_id, name: `contacts.company_id=${company_id}`, by: 1 })),
  ])
}

const batch = 5000

/** Fills a new database with companies and contacts in few statements, and returns an API key. */
export async function seed(config: Config, contacts: number): Promise<string> {
  const database = await openDatabase(config)
  try {
    await migrate(database)
    const { db } = database
    const workspace_id = await transaction(db, (tx) =>
      insertWorkspace(tx, systemClock, command_line, 'Bench'),
    )
    const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
    const { id: key_id, token } = await transaction(db, (tx) =>
      insertKey(tx, context, { name: 'bench', scopes: null, expires_at: null }),
    )
    const now = new Date().toISOString()
    await transaction(db, async (tx) => {
      for (let i = 1; i <= companies; i++)
        await companyRecords.insert(
          tx,
          { workspace_id, actor: command_line, now },
          newValues(company_resource, { name: `${name(i * 37)} Ltd`, owner_id: null }),
        )
    })
    for (let from = 0; from < contacts; from += batch) {
      const length = Math.min(batch, contacts - from)
      const rows = Array.from({ length }, (_, at) => contact(from + at, contacts))
      await transaction(db, (tx) => insertContacts(tx, { workspace_id, key_id, now }, rows))
    }
    return token
  } finally {
    await database.close()
  }
}
