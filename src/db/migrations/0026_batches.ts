import type { Migration } from '../migrate.ts'
import { liveIndex } from './parts.ts'

const tables = ['contacts', 'companies', 'deals', 'activities']

/**
 * Upserts find companies by their website. On PostgreSQL, an INSERT of many rows counts them once for each block: a row for
 * each of them would make the next one slower, because a transaction sees all versions of the counter that it wrote.
 */
export const batches: Migration = {
  name: '0026_batches',
  kind: 'expand',
  scans: ['companies'],
  statements: (engine) => {
    const website = engine === 'sqlite' ? 'lower(website)' : 'lower(website COLLATE "C")'
    const index = liveIndex('companies', 'by_website', website, ' AND website IS NOT NULL')
    if (engine === 'sqlite') return [index]
    return [
      index,
      `CREATE FUNCTION count_added_in_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO record_blocks (workspace_id, kind, block, slot, n)
            SELECT workspace_id, TG_TABLE_NAME, id >> 12, pg_backend_pid() % 64, count(*)
            FROM added WHERE deleted_at IS NULL GROUP BY 1, 3 ORDER BY 1, 3
            ON CONFLICT (workspace_id, kind, block, slot) DO UPDATE SET n = record_blocks.n + excluded.n;
          RETURN NULL;
        END $$`,
      ...tables.map(
        (table) => `CREATE OR REPLACE TRIGGER ${table}_block_insert AFTER INSERT ON ${table}
          REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_in_blocks()`,
      ),
    ]
  },
}
