import type { Migration } from '../migrate.ts'
import { liveIndex, recordTable, reference, trashIndex } from './parts.ts'

const owners = { company: 'companies', deal: 'deals' } as const

/** The notes of companies and of deals, in tables like the one of the notes of contacts. */
export const notesOfRecords: Migration = {
  name: '0033_notes_of_records',
  kind: 'expand',
  statements: (engine) => {
    const int = engine === 'sqlite' ? 'INTEGER' : 'bigint'
    return Object.entries(owners).flatMap(([noun, target]) => {
      const [table, by] = [`${noun}_notes`, `${noun}_id`]
      const columns = [`${by} ${int} NOT NULL`, 'body text NOT NULL', 'created_by text', 'updated_by text']
      return [
        recordTable(engine, table, columns, [reference(engine, by, target)]),
        liveIndex(table, 'live', ''),
        trashIndex(table),
        `CREATE INDEX ${table}_${by}_live ON ${table} (workspace_id, ${by}, id, created_at) WHERE deleted_at IS NULL`,
        `CREATE INDEX ${table}_${by}_all ON ${table} (${by}) WHERE ${by} IS NOT NULL`,
      ]
    })
  },
}
