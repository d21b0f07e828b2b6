import type { Migration } from '../migrate.ts'

/** Indexes with the kind, for a caller who may read only some kinds of the audit log. */
export const auditLogKinds: Migration = {
  name: '0014_audit_log_kinds',
  kind: 'contract',
  statements: () => [
    'CREATE INDEX audit_log_kind ON audit_log (workspace_id, kind, occurred_at, id)',
    ...['action', 'actor_id'].flatMap((column) => [
      `DROP INDEX audit_log_${column}`,
      `CREATE INDEX audit_log_${column} ON audit_log (workspace_id, ${column}, occurred_at, id, kind)`,
    ]),
  ],
}
