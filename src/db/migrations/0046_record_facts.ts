import type { Migration } from '../migrate.ts'
import { liveIndex } from './parts.ts'

// The records that have the fields, with the columns by which activities and deals refer to them.
const kinds = { contacts: 'contact_id', companies: 'company_id' } as const
type Kind = keyof typeof kinds
const both = Object.keys(kinds) as Kind[]

// A cursor holds integers below 2^53, but a sum may be higher.
const open_deals =
  '(CASE WHEN open_deals_units < 9007199254740991 THEN open_deals_units ELSE 9007199254740991 END)'

const contact_types = "('call', 'email', 'meeting')"
const last_conditions = `deleted_at IS NULL AND completed_at IS NOT NULL AND type IN ${contact_types}`
const next_conditions = 'deleted_at IS NULL AND completed_at IS NULL AND due_at IS NOT NULL'

/**
 * The last contact, the next step and the value of open deals of contacts and companies. Triggers keep them, so that no way of
 * writing forgets them.
 */
export const recordFacts: Migration = {
  name: '0046_record_facts',
  kind: 'expand',
  scans: ['contacts', 'companies', 'activities', 'deals'],
  statements: (engine) => [
    ...both.flatMap((kind) =>
      ['last_contacted_at text', 'next_activity_at text', 'open_deals_units bigint NOT NULL DEFAULT 0'].map(
        (column) => `ALTER TABLE ${kind} ADD COLUMN ${column}`,
      ),
    ),
    // Before the values: on PostgreSQL, a running older process waits until the triggers count its writes.
    ...(engine === 'sqlite' ? both.flatMap(sqliteTriggers) : postgresTriggers()),
    ...both.flatMap((kind) => [
      fillOf(kind, 'last_contacted_at', 'max(completed_at)', `activities WHERE ${last_conditions}`),
      fillOf(kind, 'next_activity_at', 'min(due_at)', `activities WHERE ${next_conditions}`),
      fillOf(kind, 'open_deals_units', 'sum(value_units)', `deals WHERE ${counted('')}`),
      liveIndex(kind, 'by_last_contact', "coalesce(last_contacted_at, 'z')"),
      liveIndex(kind, 'by_next_activity', "coalesce(next_activity_at, 'z')"),
      liveIndex(kind, 'by_open_deals', open_deals),
    ]),
  ],
}

/** The condition that a deal counts. */
const counted = (row: string) =>
  `${row}deleted_at IS NULL AND ${row}status = 'open' AND ${row}value_units IS NOT NULL`

function fillOf(kind: Kind, column: string, value: string, from: string): string {
  const by = kinds[kind]
  return `UPDATE ${kind} SET ${column} = found.value FROM (
      SELECT workspace_id, ${by} AS id, ${value} AS value FROM ${from} AND ${by} IS NOT NULL GROUP BY workspace_id, ${by}
    ) AS found WHERE ${kind}.workspace_id = found.workspace_id AND ${kind}.id = found.id`
}

const activity_columns = ['contact_id', 'company_id', 'type', 'due_at', 'completed_at', 'deleted_at']
// The status follows from the stage.
const deal_columns = ['contact_id', 'company_id', 'stage', 'value_units', 'deleted_at']

function sqliteTriggers(kind: Kind): string[] {
  const by = kinds[kind]
  const changed = (columns: string[]) =>
    columns
      .filter((column) => !Object.values(kinds).some((other) => other === column && other !== by))
      .map((column) => `old.${column} IS NOT new.${column}`)
      .join(' OR ')
  const row = (of: 'old' | 'new') => `WHERE workspace_id = ${of}.workspace_id AND id = ${of}.${by}`
  const times = (of: 'old' | 'new', and = '') => `UPDATE ${kind} SET
    last_contacted_at = (SELECT max(completed_at) FROM activities WHERE workspace_id = ${of}.workspace_id AND ${by} = ${of}.${by} AND ${last_conditions}),
    next_activity_at = (SELECT min(due_at) FROM activities WHERE workspace_id = ${of}.workspace_id AND ${by} = ${of}.${by} AND ${next_conditions})
    ${row(of)}${and};`
  const value = (of: 'old' | 'new', sign: '+' | '-') =>
    `UPDATE ${kind} SET open_deals_units = open_deals_units ${sign} ${of}.value_units ${row(of)} AND ${counted(`${of}.`)};`
  const trigger = (table: string, name: string, event: string, when: string, body: string) =>
    `CREATE TRIGGER ${table}_${kind}_${name} AFTER ${event} ON ${table} WHEN (${when}) BEGIN ${body} END`
  return [
    trigger(
      'activities',
      'next',
      'INSERT',
      `new.${by} IS NOT NULL AND new.deleted_at IS NULL AND new.completed_at IS NULL AND new.due_at IS NOT NULL`,
      `UPDATE ${kind} SET next_activity_at = new.due_at ${row('new')} AND (next_activity_at IS NULL OR next_activity_at > new.due_at);`,
    ),
    trigger(
      'activities',
      'last',
      'INSERT',
      `new.${by} IS NOT NULL AND new.deleted_at IS NULL AND new.completed_at IS NOT NULL AND new.type IN ${contact_types}`,
      `UPDATE ${kind} SET last_contacted_at = new.completed_at ${row('new')} AND (last_contacted_at IS NULL OR last_contacted_at < new.completed_at);`,
    ),
    trigger(
      'activities',
      'change',
      `UPDATE OF ${activity_columns.join(', ')}`,
      changed(activity_columns),
      `${times('old', ` AND old.${by} IS NOT new.${by}`)} ${times('new')}`,
    ),
    trigger(
      'activities',
      'remove',
      'DELETE',
      `old.${by} IS NOT NULL AND old.deleted_at IS NULL`,
      times('old'),
    ),
    trigger('deals', 'value', 'INSERT', `new.${by} IS NOT NULL AND ${counted('new.')}`, value('new', '+')),
    trigger(
      'deals',
      'change',
      `UPDATE OF ${deal_columns.join(', ')}`,
      changed(deal_columns),
      `${value('old', '-')} ${value('new', '+')}`,
    ),
    trigger('deals', 'remove', 'DELETE', `old.${by} IS NOT NULL AND ${counted('old.')}`, value('old', '-')),
  ]
}

// A statement of a function sees what was committed before it. So the row is locked first: the subqueries of an UPDATE that
// waits for the row would not see what it waited for. The triggers are of statements, not of rows, to lock the records of a
// batch in the order of their ids: two batches of the same records would lock each other out.
function postgresTriggers(): string[] {
  const timesOf = (kind: Kind) => `CREATE FUNCTION keep_times_of_${kind}(workspace bigint, record bigint)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE last_time text; next_time text;
    BEGIN
      PERFORM 1 FROM ${kind} WHERE workspace_id = workspace AND id = record FOR NO KEY UPDATE;
      SELECT max(completed_at) INTO last_time FROM activities WHERE workspace_id = workspace AND ${kinds[kind]} = record AND ${last_conditions};
      SELECT min(due_at) INTO next_time FROM activities WHERE workspace_id = workspace AND ${kinds[kind]} = record AND ${next_conditions};
      UPDATE ${kind} SET last_contacted_at = last_time, next_activity_at = next_time
        WHERE workspace_id = workspace AND id = record
        AND (last_contacted_at, next_activity_at) IS DISTINCT FROM (last_time, next_time);
    END $$`
  const dated = 'deleted_at IS NULL AND (completed_at IS NOT NULL OR due_at IS NOT NULL)'
  const changed = activity_columns
    .map((column) => `earlier.${column} IS DISTINCT FROM later.${column}`)
    .join(' OR ')
  const keepTimes = (kind: Kind, event: PostgresEvent) => {
    const by = kinds[kind]
    const datedIn = (rows: string) => `SELECT workspace_id, ${by} AS id FROM ${rows} WHERE ${dated}`
    const found = {
      insert: datedIn('later_rows'),
      remove: datedIn('earlier_rows'),
      change: `SELECT later.workspace_id, named.id FROM earlier_rows AS earlier
          JOIN later_rows AS later ON later.workspace_id = earlier.workspace_id AND later.id = earlier.id
          CROSS JOIN LATERAL (VALUES (earlier.${by}), (later.${by})) AS named (id) WHERE ${changed}`,
    }[event]
    return `FOR found IN SELECT DISTINCT workspace_id, id FROM (${found}) AS named WHERE id IS NOT NULL ORDER BY workspace_id, id LOOP
        PERFORM keep_times_of_${kind}(found.workspace_id, found.id);
      END LOOP;`
  }
  const keepValue = (kind: Kind, event: PostgresEvent) => {
    const by = kinds[kind]
    const units = (rows: string, sign: '' | '-') =>
      `SELECT workspace_id, ${by} AS id, ${sign}value_units AS units FROM ${rows} WHERE ${counted('')} AND ${by} IS NOT NULL`
    const [added, taken] = [units('later_rows', ''), units('earlier_rows', '-')]
    const changes = { insert: added, remove: taken, change: `${added} UNION ALL ${taken}` }[event]
    return `FOR found IN SELECT workspace_id, id, sum(units) AS units FROM (${changes}) AS changes
          GROUP BY workspace_id, id HAVING sum(units) <> 0 ORDER BY workspace_id, id LOOP
        UPDATE ${kind} SET open_deals_units = open_deals_units + found.units WHERE workspace_id = found.workspace_id AND id = found.id;
      END LOOP;`
  }
  const keeper = (
    table: string,
    name: string,
    keep: (kind: Kind, event: PostgresEvent) => string,
    event: PostgresEvent,
  ) => [
    `CREATE FUNCTION ${name}_on_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE found record;
    BEGIN
      ${both.map((kind) => keep(kind, event)).join('\n      ')}
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER ${table}_facts_${event} AFTER ${postgres_events[event]} ON ${table}
    REFERENCING ${transitions[event]} FOR EACH STATEMENT EXECUTE FUNCTION ${name}_on_${event}()`,
  ]
  const events = Object.keys(postgres_events) as PostgresEvent[]
  return [
    ...both.map(timesOf),
    ...events.flatMap((event) => keeper('activities', 'keep_activity_times', keepTimes, event)),
    ...events.flatMap((event) => keeper('deals', 'keep_open_deals', keepValue, event)),
  ]
}

const postgres_events = { insert: 'INSERT', change: 'UPDATE', remove: 'DELETE' } as const
type PostgresEvent = keyof typeof postgres_events
const transitions: Record<PostgresEvent, string> = {
  insert: 'NEW TABLE AS later_rows',
  change: 'OLD TABLE AS earlier_rows NEW TABLE AS later_rows',
  remove: 'OLD TABLE AS earlier_rows',
}
