import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'

/**
 * An e-mail may have several accounts: each belongs to the person who accepted its invitation. The key of an e-mail
 * does not depend on the composition of its letters. Accounts that now get the same key stay separate. `left_at` is the
 * time since which an account has no workspace. The index finds sign-ins whose address is still in the audit log.
 */
export const accounts: Migration = {
  name: '0013_accounts',
  kind: 'contract',
  statements: (engine) => [
    ...(engine === 'sqlite' ? withoutUniqueEmail : ['ALTER TABLE users DROP CONSTRAINT users_email_key']),
    'ALTER TABLE users ADD COLUMN left_at text',
    'CREATE INDEX users_email ON users (email_key, id)',
    'CREATE INDEX users_left ON users (left_at) WHERE left_at IS NOT NULL',
    "CREATE INDEX audit_log_sign_ins ON audit_log (occurred_at) WHERE action = 'signed_in' AND after IS NOT NULL",
  ],
  fill: async (tx, { now }) => {
    await setEmailKeys(tx)
    // It is not known when these people left, so their retention starts now.
    await sql`UPDATE users SET left_at = ${now}
      WHERE NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = users.id)`.execute(tx)
  },
}

// SQLite cannot drop a constraint, so create the tables again, first those that refer to users.
const withoutUniqueEmail = [
  `CREATE TABLE users_new (
    id text PRIMARY KEY, name text NOT NULL, email text NOT NULL, email_key text NOT NULL,
    password_hash text NOT NULL, time_zone text, language text,
    created_at text NOT NULL, updated_at text NOT NULL, reset_hash text UNIQUE, reset_expires_at text
  )`,
  'INSERT INTO users_new SELECT * FROM users',
  `CREATE TABLE memberships_new (
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id), user_id text NOT NULL REFERENCES users_new (id),
    role text NOT NULL, created_at text NOT NULL, entered_at text NOT NULL, PRIMARY KEY (workspace_id, user_id)
  )`,
  'INSERT INTO memberships_new SELECT * FROM memberships',
  `CREATE TABLE sessions_new (
    id text PRIMARY KEY, hash text NOT NULL UNIQUE, user_id text NOT NULL REFERENCES users_new (id),
    workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
    created_at text NOT NULL, last_used_at text NOT NULL, expires_at text NOT NULL, user_agent text, address text
  )`,
  'INSERT INTO sessions_new SELECT * FROM sessions',
  ...['memberships', 'sessions', 'users'].map((table) => `DROP TABLE ${table}`),
  ...['users', 'memberships', 'sessions'].map((table) => `ALTER TABLE ${table}_new RENAME TO ${table}`),
  'CREATE INDEX memberships_user ON memberships (user_id, workspace_id)',
  'CREATE INDEX sessions_user ON sessions (user_id, id)',
  'CREATE INDEX sessions_expiry ON sessions (expires_at)',
]

// A copy of what access/people/users.ts has today: a released migration never changes.
const emailKey = (email: string): string => email.trim().normalize('NFKC').toUpperCase().toLowerCase()

async function setEmailKeys(tx: Tx): Promise<void> {
  let last = ''
  for (;;) {
    const { rows } = await sql<{ id: string; email: string; email_key: string }>`
      SELECT id, email, email_key FROM users WHERE id > ${last} ORDER BY id LIMIT 1000`.execute(tx)
    for (const { id, email, email_key } of rows)
      if (emailKey(email) !== email_key)
        await sql`UPDATE users SET email_key = ${emailKey(email)} WHERE id = ${id}`.execute(tx)
    const end = rows.at(-1)
    if (!end) return
    last = end.id
  }
}
