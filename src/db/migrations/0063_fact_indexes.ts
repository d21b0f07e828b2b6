import type { Migration } from '../migrate.ts'

/** Finds the last contact and the next step of a record at once, however many activities it has. */
export const factIndexes: Migration = {
  name: '0063_fact_indexes',
  kind: 'expand',
  scans: ['activities'],
  statements: () =>
    ['contact_id', 'company_id'].flatMap((by) => [
      `CREATE INDEX activities_${by}_last ON activities (workspace_id, ${by}, completed_at)
        WHERE deleted_at IS NULL AND completed_at IS NOT NULL AND type IN ('call', 'email', 'meeting') AND ${by} IS NOT NULL`,
      `CREATE INDEX activities_${by}_next ON activities (workspace_id, ${by}, due_at)
        WHERE deleted_at IS NULL AND completed_at IS NULL AND due_at IS NOT NULL AND ${by} IS NOT NULL`,
    ]),
}
