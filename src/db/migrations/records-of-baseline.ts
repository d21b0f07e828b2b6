import {
  blockTriggers,
  busy,
  countInBlock,
  type Engine,
  identity,
  int,
  liveIndex,
  recordTable,
  reference,
  sortNameColumn,
  table,
  trashIndex,
} from './parts.ts'

/** The tables of records in the schema of version 0.1.0, with their indexes and triggers. */
export const baselineRecords = (engine: Engine): string[] => [
  ...records(engine),
  ...dealRecords(engine),
  ...activities(engine),
  ...bookings(engine),
  ...blocks(engine),
  ...withoutOverlap(engine),
  ...(engine === 'sqlite' ? searchOnSqlite : []),
]

/** The indexes of a list: its order by id, its filters, its orders by name and by its dates, and its part of the trash. */
const filterIndexes = (name: string, ...filters: string[]) => [
  liveIndex(name, 'live', ''),
  ...filters.map((filter) => liveIndex(name, `${filter}_live`, filter)),
]
const dateIndexes = (name: string) => [
  liveIndex(name, 'by_creation', 'created_at'),
  liveIndex(name, 'by_change', 'updated_at'),
]
const namedIndexes = (name: string) => [
  liveIndex(name, 'by_name', 'sort_name'),
  ...dateIndexes(name),
  trashIndex(name),
]

/**
 * The indexes of references. The removal of a record finds all that refer to it, those in the trash too. A timeline sorts by
 * time without reading the rows: a company may have 10,000 of them.
 */
const linkIndexes = (name: string, columns: string[], with_time = columns) => [
  ...columns.map(
    (column) => `CREATE INDEX ${name}_${column}_all ON ${name} (${column}) WHERE ${column} IS NOT NULL`,
  ),
  ...with_time.map(
    (column) =>
      `CREATE INDEX ${name}_${column}_live ON ${name} (workspace_id, ${column}, id, created_at) WHERE deleted_at IS NULL`,
  ),
]

const records = (engine: Engine): string[] => [
  recordTable(
    engine,
    'companies',
    [
      `name text NOT NULL, website text, industry text, phone text, address text,
      custom_fields text NOT NULL DEFAULT '{}'`,
    ],
    [],
    [sortNameColumn(engine)],
  ),
  ...filterIndexes('companies'),
  ...namedIndexes('companies'),
  recordTable(
    engine,
    'contacts',
    [
      `first_name text NOT NULL, last_name text NOT NULL, email text, phone text, mobile text, company_id bigint,
      title text, stage text, source text, custom_fields text NOT NULL DEFAULT '{}',
      tags text NOT NULL DEFAULT '[]', search_text text NOT NULL`,
    ],
    [reference(engine, 'company_id', 'companies')],
    [sortNameColumn(engine)],
  ),
  ...(engine === 'sqlite'
    ? [
        ...filterIndexes('contacts', 'stage'),
        // This covering index finds words that are too short or too common for the index of tokens.
        'CREATE INDEX contacts_search_text ON contacts (workspace_id, id, search_text) WHERE deleted_at IS NULL',
      ]
    : [
        ...filterIndexes('contacts', 'company_id', 'stage'),
        'CREATE EXTENSION IF NOT EXISTS pg_trgm',
        // A search scans the pending list of a GIN index row by row, so keep the list short.
        'CREATE INDEX contacts_search ON contacts USING gin (search_text gin_trgm_ops) WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL',
      ]),
  ...namedIndexes('contacts'),
  // A visitor's contact is found by its e-mail.
  `CREATE INDEX contacts_by_email ON contacts (workspace_id, lower(email${engine === 'postgres' ? ' COLLATE "C"' : ''}), id)
      WHERE deleted_at IS NULL AND email IS NOT NULL`,
  // Two indexes would cost each new contact of SQLite two random pages. A contact without a company is not in this one.
  ...(engine === 'sqlite'
    ? [
        `CREATE INDEX contacts_company_id_all ON contacts (company_id, workspace_id, deleted_at) WHERE company_id IS NOT NULL`,
      ]
    : linkIndexes('contacts', ['company_id'], [])),
  recordTable(
    engine,
    'notes',
    ['contact_id bigint NOT NULL', 'body text NOT NULL'],
    [reference(engine, 'contact_id', 'contacts')],
  ),
  liveIndex('notes', 'live', ''),
  trashIndex('notes'),
  ...linkIndexes('notes', ['contact_id']),
]

const dealRecords = (engine: Engine): string[] => [
  recordTable(
    engine,
    'deals',
    [
      `name text NOT NULL, value_units bigint, stage text NOT NULL,
      status text NOT NULL GENERATED ALWAYS AS (CASE stage WHEN 'won' THEN 'won' WHEN 'lost' THEN 'lost' ELSE 'open' END) STORED,
      own_probability smallint, closed_probability smallint, lost_reason text, closed_at text, contact_id bigint,
      company_id bigint, expected_close_date text, priority text, source text`,
    ],
    [reference(engine, 'contact_id', 'contacts'), reference(engine, 'company_id', 'companies')],
    [sortNameColumn(engine)],
  ),
  ...filterIndexes('deals', 'stage', 'status'),
  ...namedIndexes('deals'),
  // A record without a value comes after every value, and one without a date after every date.
  liveIndex('deals', 'by_value', 'coalesce(value_units, -1) DESC, sort_name'),
  liveIndex('deals', 'by_close_date', "coalesce(expected_close_date, 'z')"),
  ...linkIndexes('deals', ['contact_id', 'company_id']),
  // Reports read only these indexes, so long texts of deals do not slow them. SQLite reads the row for a column
  // that is not in the index, also for deleted_at.
  'CREATE INDEX deals_pipeline ON deals (workspace_id, stage, own_probability, closed_probability, value_units, deleted_at) WHERE deleted_at IS NULL',
  'CREATE INDEX deals_closed ON deals (workspace_id, stage, closed_at, value_units, deleted_at) WHERE deleted_at IS NULL AND closed_at IS NOT NULL',
  table('deal_stages', [
    `id ${identity(engine)}`,
    `workspace_id ${int(engine)} NOT NULL`,
    'deal_id bigint NOT NULL',
    'from_stage text',
    'to_stage text NOT NULL',
    'changed_at text NOT NULL',
    'changed_by text NOT NULL',
    ...(engine === 'sqlite' ? [] : ['PRIMARY KEY (workspace_id, id)']),
  ]),
  'CREATE INDEX deal_stages_deal ON deal_stages (workspace_id, deal_id, id, changed_at, from_stage)',
]

const activities = (engine: Engine): string[] => [
  recordTable(
    engine,
    'activities',
    [
      `type text NOT NULL, subject text NOT NULL, body text, due_at text, completed_at text, outcome text,
      contact_id bigint, company_id bigint, deal_id bigint`,
    ],
    [
      reference(engine, 'contact_id', 'contacts'),
      reference(engine, 'company_id', 'companies'),
      reference(engine, 'deal_id', 'deals'),
    ],
  ),
  ...filterIndexes('activities', 'type'),
  ...dateIndexes('activities'),
  // An activity without a due date comes after every date, in every collation: some sort punctuation before digits.
  liveIndex('activities', 'by_due', "coalesce(due_at, 'z')"),
  // Open activities are few, and are listed often.
  liveIndex('activities', 'open_by_due', "coalesce(due_at, 'z')", ' AND completed_at IS NULL'),
  liveIndex('activities', 'by_completion', 'completed_at', ' AND completed_at IS NOT NULL'),
  trashIndex('activities'),
  ...linkIndexes('activities', ['contact_id', 'company_id', 'deal_id']),
]

const bookings = (engine: Engine): string[] => [
  recordTable(
    engine,
    'booking_pages',
    [
      'slug text NOT NULL',
      'title text NOT NULL',
      'description text',
      'duration_minutes bigint NOT NULL',
      'buffer_minutes bigint NOT NULL',
      'minimum_notice_minutes bigint NOT NULL',
      'horizon_days bigint NOT NULL',
      'time_zone text NOT NULL',
      'availability text NOT NULL',
      'date_overrides text NOT NULL',
      // 0 or 1
      'active smallint NOT NULL',
    ],
    [],
    [
      'open_bookings_per_email bigint NOT NULL DEFAULT 3',
      'bookings_per_address_per_day bigint NOT NULL DEFAULT 10',
      'bookings_per_hour bigint NOT NULL DEFAULT 30',
      // 0 or 1
      'approval smallint NOT NULL DEFAULT 0',
    ],
  ),
  // The public address of a page does not have the workspace. A page in the trash does not block its name.
  'CREATE UNIQUE INDEX booking_pages_slug ON booking_pages (slug) WHERE deleted_at IS NULL',
  ...filterIndexes('booking_pages'),
  ...dateIndexes('booking_pages'),
  trashIndex('booking_pages'),
  recordTable(
    engine,
    'appointments',
    [
      'title text NOT NULL',
      'type text',
      'start_at text NOT NULL',
      'end_at text NOT NULL',
      'contact_id bigint',
      'booking_page_id bigint',
      'location text',
      'notes text',
      'status text NOT NULL',
      'cancel_reason text',
      // SHA-256 of the private link's token, for those that a visitor booked.
      'link_hash text',
    ],
    [
      reference(engine, 'contact_id', 'contacts'),
      reference(engine, 'booking_page_id', 'booking_pages'),
      'CONSTRAINT appointments_end CHECK (end_at > start_at)',
    ],
  ),
  'CREATE INDEX appointments_link ON appointments (link_hash) WHERE link_hash IS NOT NULL',
  ...filterIndexes('appointments', 'status', 'type', 'booking_page_id'),
  liveIndex('appointments', 'by_start', 'start_at'),
  ...dateIndexes('appointments'),
  trashIndex('appointments'),
  ...linkIndexes('appointments', ['contact_id', 'booking_page_id'], ['contact_id']),
  // This index finds appointments that overlap a period, because they end after its beginning.
  liveIndex('appointments', 'by_end', 'end_at'),
  "CREATE INDEX appointments_requested ON appointments (created_at) WHERE status = 'requested' AND deleted_at IS NULL",
  // Only bookings of the last day. The address is a keyed hash. booked_at_ms is service time.
  table('booking_visits', [
    `workspace_id ${int(engine)} NOT NULL, booking_page_id ${int(engine)} NOT NULL,
    appointment_id ${int(engine)} NOT NULL, address_hash text NOT NULL, booked_at_ms ${int(engine)} NOT NULL,
    PRIMARY KEY (workspace_id, booking_page_id, appointment_id)`,
  ]),
  'CREATE INDEX booking_visits_time ON booking_visits (workspace_id, booking_page_id, booked_at_ms)',
  'CREATE INDEX booking_visits_age ON booking_visits (booked_at_ms)',
]

// Two live appointments or requests of one page never overlap: the database refuses the second. Times are texts of one
// length, whose order is that of time.
function withoutOverlap(engine: Engine): string[] {
  const held = "status IN ('scheduled', 'requested') AND deleted_at IS NULL"
  if (engine === 'postgres')
    return [
      'CREATE EXTENSION IF NOT EXISTS btree_gist',
      'CREATE TYPE time_text_range AS RANGE (subtype = text, collation = "C")',
      `ALTER TABLE appointments ADD CONSTRAINT appointments_overlap EXCLUDE USING gist (
        workspace_id WITH =, booking_page_id WITH =, time_text_range(start_at, end_at) WITH &&
      ) WHERE (booking_page_id IS NOT NULL AND ${held})`,
      `CREATE INDEX appointments_taken ON appointments (workspace_id, booking_page_id, start_at)
        WHERE booking_page_id IS NOT NULL AND ${held}`,
    ]
  // No two overlap. So only the last one that begins before the end of the new one can overlap the new one.
  const check = `
  SELECT RAISE(ABORT, 'appointments_overlap') WHERE (
    SELECT end_at FROM appointments
    WHERE booking_page_id = new.booking_page_id AND ${held}
      AND start_at < new.end_at AND id <> new.id
    ORDER BY start_at DESC LIMIT 1
  ) > new.start_at;`
  const taken =
    "new.booking_page_id IS NOT NULL AND new.status IN ('scheduled', 'requested') AND new.deleted_at IS NULL"
  return [
    `CREATE INDEX appointments_taken ON appointments (booking_page_id, start_at)
      WHERE booking_page_id IS NOT NULL AND ${held}`,
    `CREATE TRIGGER appointments_overlap_insert AFTER INSERT ON appointments WHEN ${taken} BEGIN ${check} END`,
    `CREATE TRIGGER appointments_overlap_update AFTER UPDATE OF start_at, end_at, booking_page_id, status, deleted_at
    ON appointments WHEN ${taken} BEGIN ${check} END`,
  ]
}

const blocks = (engine: Engine): string[] => [
  table(
    'record_blocks',
    [
      `workspace_id bigint NOT NULL, kind text NOT NULL, block bigint NOT NULL, slot smallint NOT NULL,
      n bigint NOT NULL, PRIMARY KEY (workspace_id, kind, block, slot)`,
    ],
    busy(engine),
  ),
  ...(engine === 'sqlite' ? [] : [countInBlock]),
  ...['companies', 'contacts', 'deals', 'activities', 'booking_pages', 'appointments'].flatMap((name) =>
    blockTriggers(engine, name),
  ),
]

// SQLite's search index holds live contacts only. It has the first 8 characters from each character of a word on. The lower 40
// bits of its rowid are the contact, the upper ones the workspace. Triggers list the changed contacts, and the program writes
// their tokens at the end of a commit group.

// Every printable ASCII character is part of a token. All others above ASCII are anyway.
const signs = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`
const tokenizer = `ascii tokenchars '${signs.replace("'", "''")}'`.replaceAll('"', '""')
const changed = (name: string, event: string, row: 'new' | 'old', is_indexed: 0 | 1) =>
  `CREATE TRIGGER contacts_search_${name} AFTER ${event} BEGIN
  INSERT INTO contacts_search_changes (workspace_id, id, is_indexed) VALUES (${row}.workspace_id, ${row}.id, ${is_indexed})
    ON CONFLICT (workspace_id, id) DO NOTHING;
END`
const trashed = 'old.deleted_at IS NULL AND new.deleted_at IS NOT NULL'
const restored = 'old.deleted_at IS NOT NULL AND new.deleted_at IS NULL'
const rewritten = 'old.deleted_at IS NULL AND new.deleted_at IS NULL AND old.search_text <> new.search_text'

const searchOnSqlite = [
  `CREATE VIRTUAL TABLE contacts_search USING fts5 (
  tokens, content='', contentless_delete=1, detail=none, prefix='1 2', tokenize="${tokenizer}"
)`,
  // A large transaction would enlarge FTS5's hash table for good, and every commit reads all of its slots. 1 MiB is the default.
  "INSERT INTO contacts_search (contacts_search, rank) VALUES ('hashsize', 131072)",
  // is_indexed: 1 if the index had the contact before its first change in the commit group.
  `CREATE TABLE contacts_search_changes (
  workspace_id INTEGER NOT NULL, id INTEGER NOT NULL, is_indexed INTEGER NOT NULL, PRIMARY KEY (workspace_id, id)
) WITHOUT ROWID`,
  changed('insert', 'INSERT ON contacts WHEN new.deleted_at IS NULL', 'new', 0),
  changed('change', `UPDATE OF search_text ON contacts WHEN ${rewritten}`, 'old', 1),
  changed('trash', `UPDATE OF deleted_at ON contacts WHEN ${trashed}`, 'old', 1),
  changed('restore', `UPDATE OF deleted_at ON contacts WHEN ${restored}`, 'new', 0),
  changed('remove', 'DELETE ON contacts WHEN old.deleted_at IS NULL', 'old', 1),
]
