import type { Migration } from '../migrate.ts'

/** Finds the merges that moved a record, when another merge moves it again. */
export const mergeLinkRecords: Migration = {
  name: '0036_merge_link_records',
  kind: 'expand',
  scans: ['merge_links'],
  statements: () => ['CREATE INDEX merge_links_by_record ON merge_links (workspace_id, kind, record_id)'],
}
