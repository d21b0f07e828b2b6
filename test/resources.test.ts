// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { change } from '../src/across/timeline/sources.ts'
import { scopes } from '../src/app.ts'
import { defineEvent } from '../src/events/define.ts'
import { OptionalId, Text } from '../src/http/fields.ts'
import { createReadRights } from '../src/http/scopes.ts'
import { not_copied, tablesOf } from '../src/move/tables.ts'
import { mainOf } from '../src/resources/derived.ts'
import { resources, rooms } from '../src/resources/index.ts'
import { type Column, defineResource, type Resource } from '../src/resources/resource.ts'
import { openMigrated } from './engine.ts'
import { useFor } from './use.ts'

// Rules of descriptions that the compiler cannot check. Each check also gets a wrong description.

type Table = { name: string; columns: readonly string[] }

// Tables with a workspace that do not belong to a resource. An erasure cleans them, or they have no data of records.
const cleaned_by_erasure = [
  'audit_log',
  'events',
  'field_values',
  'idempotency_keys',
  'mail_attempts',
  'mails',
  'defined_values',
  'dismissed_pairs',
  'merged_values',
  'merges',
  'record_counts',
  'webhook_attempts',
]
const without_records = [
  'api_keys',
  'booking_visits',
  'bookings',
  'choices',
  'busy_calendars',
  'busy_periods',
  'calendar_feeds',
  'import_changes',
  'import_chunks',
  'import_errors',
  'imports',
  'invitations',
  'memberships',
  'merge_links',
  'merged_records',
  'notifications',
  'record_blocks',
  'taken_times',
  'field_definitions',
  'reminder_stops',
  'saved_views',
  'view_tabs',
  'sessions',
  'webhook_deliveries',
  'webhook_queue',
  'webhook_registrations',
  'webhook_subscriptions',
  'webhooks',
  'work',
]
// Its few pages are in the settings.
const without_search = ['booking_pages']
// Ids of contacts that triggers list on SQLite. The commit that changes a contact also empties the list.
const empty_after_commits = ['contacts_search_changes']

// Of entries that are not records.
const other_ranks = [change.rank, ...rooms.flatMap(({ entries }) => entries?.rank ?? [])]

const numeric = ['integer', 'number', 'boolean', 'null']
/** Whether a field may hold a text, such as one of its tags. */
function isText({ shown, embeds }: Column): boolean {
  const { type } = shown as { type?: string | string[] }
  return !embeds && ![type].flat().every((one) => one !== undefined && numeric.includes(one))
}

const repeated = (values: readonly unknown[]) =>
  values.filter((value, index) => value !== undefined && values.indexOf(value) < index)

function problemsOf(all: readonly Resource[]): string[] {
  const prefixesOf = ({ events = [] }: Resource) => [...new Set(events.map(({ name }) => name.split('.')[0]))]
  const ranks = [...all.map(({ timeline }) => timeline?.rank), ...other_ranks]
  return [
    ...repeated(all.map(({ table }) => table)).map((table) => `${table} is described twice`),
    ...repeated(all.flatMap(prefixesOf)).map((prefix) => `two resources have events ${prefix}.*`),
    ...repeated(ranks).map((rank) => `two types of entries have the rank ${rank}`),
    ...all.flatMap((resource) => {
      const { table, scope, title, columns, events } = resource
      const problem = (is_wrong: boolean, text: string) => (is_wrong ? [`${table} ${text}`] : [])
      return [
        ...problem(!events, 'does not say whether it has events'),
        ...problem(prefixesOf(resource).length > 1, 'has events of two prefixes'),
        ...problem(!/^[a-z_]+$/.test(scope), 'lacks a scope'),
        ...problem(
          !resource.part_of && !mainOf([resource]).length && !without_search.includes(table),
          'has no subtitle and name to sort by, so no search, saved views and assistants know it',
        ),
        ...problem(!title.fields.length, 'lacks a name in the trash'),
        ...title.fields.flatMap((field) =>
          problem(
            !resource.stored.some(({ name }) => name === field),
            `has no column ${field} for its name in the trash`,
          ),
        ),
        ...Object.values(resource.references).flatMap((other) =>
          problem(!all.some(({ table }) => table === other), `refers to ${other}, which nobody describes`),
        ),
        ...Object.entries(columns).flatMap(([name, column]) =>
          problem(
            isText(column) && column.personal === undefined,
            `does not say whether ${name} is personal`,
          ),
        ),
      ]
    }),
  ]
}

function tableProblems(all: readonly Resource[], tables: readonly Table[]): string[] {
  const owned = all.flatMap(({ table, owns }) => [table, ...Object.keys(owns)])
  const moved = [...tablesOf(all).map(({ name }) => name), ...not_copied, ...empty_after_commits]
  const erased = [...owned, ...cleaned_by_erasure, ...without_records, ...empty_after_commits]
  return tables
    .filter(({ columns }) => columns.includes('workspace_id'))
    .flatMap(({ name, columns }) => {
      const resource = all.find(({ table }) => table === name)
      return [
        ...(moved.includes(name) ? [] : [`a move does not know ${name}`]),
        ...(erased.includes(name) ? [] : [`nobody has said what an erasure does about ${name}`]),
        ...(resource ? unknownColumns(resource, columns) : []),
      ]
    })
}

function unknownColumns(resource: Resource, columns: readonly string[]): string[] {
  const { table, hidden, sort_name } = resource
  const usual = ['id', 'workspace_id', 'created_at', 'updated_at', 'deleted_at']
  const known = [...usual, ...resource.stored.map(({ name }) => name), ...Object.keys(hidden)]
  if (sort_name.length) known.push('sort_name')
  known.push(...resource.keyed.map(({ name }) => name))
  return columns
    .filter((column) => !known.includes(column))
    .map((column) => `${table} does not describe its column ${column}`)
}

async function tablesOfDatabase(t: TestContext): Promise<Table[]> {
  const { db } = await useFor(t, openMigrated())
  const tables = await db.introspection.getTables()
  return tables.map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }))
}

// A table that only these tests know.
const vessels = defineResource({
  table: 'vessels' as 'deals',
  noun: 'vessel',
  columns: { name: { shown: Text(255), personal: true } },
  title: { fields: ['name'] },
  subtitle: 'name',
  sort_name: ['name'],
  events: [],
})
const columns_of_vessels = ['id', 'workspace_id', 'name', 'created_at', 'updated_at', 'deleted_at']
const made = (name: string) =>
  defineEvent(name, 'An event.', vessels.columns.name.shown as never, {} as never)

test('every resource says what the others are made from', () => {
  assert.deepEqual(problemsOf(resources), [])
  assert.deepEqual(problemsOf([...resources, vessels]), [])
})

test('a resource has events of one prefix of its own, or says that it has none', () => {
  const silent = { ...vessels, events: undefined as never }
  assert.deepEqual(problemsOf([silent]), ['vessels does not say whether it has events'])
  const mixed = { ...vessels, events: [made('vessel.created'), made('item.deleted')] }
  assert.deepEqual(problemsOf([mixed]), ['vessels has events of two prefixes'])
  const taken = { ...vessels, events: [made('deal.created')] }
  assert.deepEqual(problemsOf([...resources, taken]), ['two resources have events deal.*'])
})

test('a resource has a scope, which keys can have and which shows its records', () => {
  for (const scope of ['', 'Vessels', 'vessels:read'])
    assert.deepEqual(problemsOf([{ ...vessels, scope }]), ['vessels lacks a scope'])
  for (const { scope } of resources)
    for (const access of ['read', 'write']) assert.ok(scopes.includes(`${scope}:${access}`), scope)
  const { mayRead } = createReadRights([...resources, vessels])
  assert.ok(mayRead(['vessels:read'], 'vessels'))
  assert.ok(!mayRead(scopes, 'vessels'))
})

test('a resource has a name in the trash, of fields that are stored', () => {
  assert.deepEqual(problemsOf([{ ...vessels, title: { fields: [] } }]), ['vessels lacks a name in the trash'])
  assert.deepEqual(problemsOf([{ ...vessels, title: { fields: ['label'] } }]), [
    'vessels has no column label for its name in the trash',
  ])
})

test('every text says whether it is personal', () => {
  for (const shown of [
    Text(255),
    { type: ['string', 'null'] },
    { type: 'array' },
    { type: ['object', 'null'] },
    {},
  ])
    assert.deepEqual(problemsOf([{ ...vessels, columns: { ...vessels.columns, label: { shown } } }]), [
      'vessels does not say whether label is personal',
    ])
  const columns = { ...vessels.columns, seats: { shown: { type: ['integer', 'null'] } } }
  assert.deepEqual(problemsOf([{ ...vessels, columns }]), [])
})

test('a search, saved views and assistants know each resource that is not a part of another', () => {
  for (const missing of [{ subtitle: undefined }, { sort_name: [] }])
    assert.deepEqual(problemsOf([{ ...vessels, ...missing } as Resource]), [
      'vessels has no subtitle and name to sort by, so no search, saved views and assistants know it',
    ])
  assert.deepEqual(
    problemsOf([{ ...vessels, subtitle: undefined, part_of: { table: 'deals', by: 'deal_id' } } as never]),
    [],
  )
})

test('a resource refers to others that are described', () => {
  const columns = { ...vessels.columns, maker_id: { shown: OptionalId(), refers_to: 'makers' } }
  assert.deepEqual(problemsOf([defineResource({ ...vessels, columns })]), [
    'vessels refers to makers, which nobody describes',
  ])
})

test('no two types of entries of timelines have one rank', () => {
  for (const rank of [4, ...other_ranks]) {
    const vessel = { ...vessels, timeline: { type: 'vessel', rank } }
    assert.deepEqual(problemsOf([...resources, vessel]), [`two types of entries have the rank ${rank}`])
  }
})

test('every table with a workspace is known to moves and erasures, and every column of a record is described', async (t) => {
  const tables = await tablesOfDatabase(t)
  assert.ok(tables.length > 25)
  assert.deepEqual(tableProblems(resources, tables), [])

  const table = { name: 'vessels', columns: columns_of_vessels }
  assert.deepEqual(tableProblems(resources, [...tables, table]), [
    'a move does not know vessels',
    'nobody has said what an erasure does about vessels',
  ])
  const all = [...resources, vessels]
  assert.deepEqual(tableProblems(all, [...tables, table]), [])
  const wider = { ...table, columns: [...columns_of_vessels, 'comment'] }
  assert.deepEqual(tableProblems(all, [...tables, wider]), ['vessels does not describe its column comment'])
})
