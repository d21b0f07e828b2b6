import type { Migration } from '../migrate.ts'

/** Finds the appointments that ended lately: calendar feeds show them as cancelled. */
export const endedAppointments: Migration = {
  name: '0059_ended_appointments',
  kind: 'expand',
  scans: ['appointments'],
  statements: () => [
    `CREATE INDEX appointments_ended ON appointments (workspace_id, updated_at)
      WHERE status IN ('cancelled', 'declined') AND deleted_at IS NULL`,
  ],
}
