import type { Migration } from '../migrate.ts'
import { identity, int, reference, table } from './parts.ts'

/** The guests of appointments, a row for each. Processes of earlier versions would remove contacts without their rows. */
export const appointmentGuests: Migration = {
  name: '0067_appointment_guests',
  kind: 'contract',
  statements: (engine) => [
    table('appointment_guests', [
      `id ${identity(engine)}`,
      `workspace_id ${int(engine)} NOT NULL`,
      'appointment_id bigint NOT NULL',
      'contact_id bigint NOT NULL',
      'updated_at text NOT NULL',
      ...(engine === 'sqlite' ? [] : ['PRIMARY KEY (workspace_id, id)']),
      reference(engine, 'appointment_id', 'appointments'),
      reference(engine, 'contact_id', 'contacts'),
    ]),
    'CREATE INDEX appointment_guests_of ON appointment_guests (workspace_id, appointment_id, contact_id)',
    'CREATE INDEX appointment_guests_contact ON appointment_guests (workspace_id, contact_id, appointment_id)',
    ...(engine === 'sqlite'
      ? [
          // The foreign keys of SQLite do not have the workspace.
          'CREATE INDEX appointment_guests_appointment_id_all ON appointment_guests (appointment_id)',
          'CREATE INDEX appointment_guests_contact_id_all ON appointment_guests (contact_id)',
        ]
      : []),
  ],
}
