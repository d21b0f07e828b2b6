import type { Database } from '../db.ts'
import type { Migration } from '../migrate.ts'

const tables = ['companies', 'contacts', 'deals']

// Triggers count the live records of each block of 4096 ids (db/lists/pages.ts), so statements need not.
const count = (row: 'old' | 'new', kind: string, slot: string, by: string) =>
  `INSERT INTO record_blocks (workspace_id, kind, block, slot, n)
        VALUES (${row}.workspace_id, ${kind}, ${row}.id >> 12, ${slot}, ${by})
        ON CONFLICT (workspace_id, kind, block, slot) DO UPDATE SET n = record_blocks.n + excluded.n;`

/** The triggers that count a table's records, for the tables of later migrations too. */
export function blockTriggers(engine: Database['engine'], table: string): string[] {
  const sqlite = engine === 'sqlite'
  const trigger = (name: string, event: string, row: 'old' | 'new', by: number) =>
    `CREATE TRIGGER ${table}_block_${name} AFTER ${event.replace('TABLE', table)} ${
      sqlite
        ? `BEGIN ${count(row, `'${table}'`, '0', String(by))} END`
        : `EXECUTE FUNCTION count_in_block('${by}')`
    }`
  const each = sqlite ? '' : 'FOR EACH ROW '
  return [
    trigger('insert', `INSERT ON TABLE ${each}WHEN (new.deleted_at IS NULL)`, 'new', 1),
    trigger(
      'trash',
      `UPDATE OF deleted_at ON TABLE ${each}WHEN (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL)`,
      'new',
      -1,
    ),
    trigger(
      'restore',
      `UPDATE OF deleted_at ON TABLE ${each}WHEN (old.deleted_at IS NOT NULL AND new.deleted_at IS NULL)`,
      'new',
      1,
    ),
    trigger('remove', `DELETE ON TABLE ${each}WHEN (old.deleted_at IS NULL)`, 'old', -1),
  ]
}

export const recordBlocks: Migration = {
  name: '0002_record_blocks',
  kind: 'contract',
  statements: (engine) => {
    const sqlite = engine === 'sqlite'
    return [
      `CREATE TABLE record_blocks (
        workspace_id bigint NOT NULL, kind text NOT NULL, block bigint NOT NULL, slot smallint NOT NULL, n bigint NOT NULL,
        PRIMARY KEY (workspace_id, kind, block, slot)
      )${sqlite ? ' WITHOUT ROWID' : ' WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)'}`,
      ...tables.map(
        (table) => `INSERT INTO record_blocks (workspace_id, kind, block, slot, n)
          SELECT workspace_id, '${table}', id >> 12, 0, count(*) FROM ${table} WHERE deleted_at IS NULL GROUP BY 1, 3`,
      ),
      ...(sqlite
        ? []
        : [
            `CREATE FUNCTION count_in_block() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN
                IF TG_OP = 'DELETE' THEN
                  ${count('old', 'TG_TABLE_NAME', 'pg_backend_pid() % 64', 'TG_ARGV[0]::bigint')}
                ELSE
                  ${count('new', 'TG_TABLE_NAME', 'pg_backend_pid() % 64', 'TG_ARGV[0]::bigint')}
                END IF;
                RETURN NULL;
              END $$`,
          ]),
      ...tables.flatMap((table) => blockTriggers(engine, table)),
    ]
  },
}
