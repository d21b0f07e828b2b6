import type { Migration } from '../migrate.ts'

/** The audit log of a caller who may read some kinds alone: every list is cut by an index that knows the kind. */
export const auditLogKinds: Migration = {
  name: '0014_audit_log_kinds',
  statements: () => [
    'CREATE INDEX audit_log_kind ON audit_log (workspace_id, kind, occurred_at, id)',
    ...['action', 'actor_id'].flatMap((column) => [
      `DROP INDEX audit_log_${column}`,
      `CREATE INDEX audit_log_${column} ON audit_log (workspace_id, ${column}, occurred_at, id, kind)`,
    ]),
  ],
}
