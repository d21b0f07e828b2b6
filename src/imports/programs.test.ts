import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'
import { beside, makeKey } from '../../test/keys.ts'
import { insertWorkspace } from '../access/workspaces.ts'
import { systemClock } from '../clock.ts'
import { transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { command_line } from '../events/context.ts'

// Files in the form of other programs. Beside each file, the records that a careful person would enter.

const rapport = useRapport()

const folder = new URL('../../test/fixtures/imports/', import.meta.url)
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.csv'))
  .map((name) => name.slice(0, -4))

type Entered = { row: number; data: Record<string, unknown>; rest: Record<string, string> }
const kinds: Readonly<Record<string, string>> = {
  people: 'contacts',
  organizations: 'companies',
  accounts: 'companies',
  tasks: 'activities',
  notes: 'activities',
  calls: 'activities',
  meetings: 'activities',
  leads: 'contacts',
}

/** A workspace with the members, contacts and deals that a file names. */
async function workspaceFor(entered: readonly Entered[]) {
  const named = (field: string) => [
    ...new Set(entered.flatMap(({ data }) => (data[field] as string | undefined) ?? [])),
  ]
  const workspace_id = await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const id = await insertWorkspace(tx, systemClock, command_line, 'Moving in')
      for (const name of named('owner')) {
        const user_id = newId('usr')
        const email = `${user_id}@team.example`
        const now = new Date().toISOString()
        const person = {
          id: user_id,
          name,
          email,
          email_key: email,
          password_hash: '-',
          created_at: now,
          updated_at: now,
        }
        await tx
          .insertInto('users')
          .values(person as never)
          .execute()
        await tx
          .insertInto('memberships')
          .values({ workspace_id: id, user_id, role: 'member', created_at: now, entered_at: now } as never)
          .execute()
      }
      return id
    }),
  )
  const { token, call } = await makeKey(rapport, { workspace_id })
  for (const name of named('contact')) {
    const [first_name, ...last] = name.split(' ')
    const sent = { first_name, last_name: last.join(' ') || '-', ...(name.includes('@') && { email: name }) }
    assert.equal((await call('POST', '/api/v1/contacts', sent)).status, 201)
  }
  for (const name of named('deal')) assert.equal((await call('POST', '/api/v1/deals', { name })).status, 201)
  return { url: rapport.url, key: token, call }
}

type Named = { name?: string; first_name?: string; last_name?: string }
type Shown = Record<string, unknown> & { owner_id?: string; contact?: Named; company?: Named; deal?: Named }

/** The value of a record that answers for an entered one. */
function shown(field: string, record: Shown, members: ReadonlyMap<string, string>): unknown {
  if (field === 'owner') return members.get(record.owner_id ?? '')
  if (field === 'contact') return record.contact && `${record.contact.first_name} ${record.contact.last_name}`
  if (field === 'company' || field === 'deal') return record[field]?.name
  return record[field]
}

for (const name of files)
  test(`each value of ${name}.csv comes where a careful person would put it, and every cell is accounted for`, async () => {
    const file = readFileSync(new URL(`${name}.csv`, folder))
    const entered: Entered[] = JSON.parse(readFileSync(new URL(`${name}.expected.json`, folder), 'utf8'))
    const [program = '', word = ''] = name.split('-')
    const resource = kinds[word] ?? word
    const workspace = await workspaceFor(entered)
    const before_import =
      (await workspace.call('GET', `/api/v1/${resource}?sort=-id&per_page=1`)).body.data[0]?.id ?? 0

    const preview = (await upload(workspace, `/preview?resource=${resource}`, file)).body.data
    assert.deepEqual([preview.program?.id, preview.program?.kind], [program, resource], name)
    const done = await importFile(workspace, { resource, rest: 'custom_fields', time_zone: 'UTC' }, file)
    const errors = (await workspace.call('GET', `/api/v1/imports/${done.id}/errors`)).text
    assert.equal(done.program, program)

    const members = new Map<string, string>(
      await beside(rapport.data_dir, async (db) =>
        (await db.selectFrom('users').select(['id', 'name']).execute()).map(
          ({ id, name }) => [id, name] as const,
        ),
      ),
    )
    const details = resource === 'deals' || resource === 'activities' ? '&details=true' : ''
    const listed = (await workspace.call('GET', `/api/v1/${resource}?sort=id&per_page=100${details}`)).body
    const ids = listed.data.map(({ id }: { id: number }) => id).filter((id: number) => id > before_import)
    const records = await Promise.all(
      ids.map(async (id: number) => {
        const { body } = await workspace.call('GET', `/api/v1/${resource}/${id}`)
        const of_list = listed.data.find((one: { id: number }) => one.id === id)
        return {
          ...of_list,
          ...body.data,
          contact: of_list.contact,
          company: of_list.company ?? body.data.company,
        }
      }),
    )
    const got = entered.map(({ data }, n) =>
      Object.fromEntries(Object.keys(data).map((field) => [field, shown(field, records[n] ?? {}, members)])),
    )
    assert.deepEqual(
      got,
      entered.map(({ data }) => data),
      errors,
    )
    assert.deepEqual(
      records.map(({ custom_fields }) => custom_fields),
      entered.map(({ rest }) => rest),
    )
    const cells: string[][] = parse(file, {
      bom: true,
      relax_column_count: true,
      delimiter: preview.delimiter,
    })
    const filled = cells
      .slice(preview.header_row)
      .flat()
      .filter((cell) => cell.trim() !== '').length
    const accounted = done.columns.reduce(
      (sum: number, { stored, changed, left_out }: Record<string, number>) =>
        sum + (stored ?? 0) + (changed ?? 0) + (left_out ?? 0),
      0,
    )
    assert.equal(accounted, filled)
  })
