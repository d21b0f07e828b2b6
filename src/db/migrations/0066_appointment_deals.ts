import type { Migration } from '../migrate.ts'
import type { EngineName as Engine } from '../tx.ts'
import { linkIndexes, reference } from './parts.ts'

/** The deal of an appointment. Processes of earlier versions would remove a deal without its appointments. */
export const appointmentDeals: Migration = {
  name: '0066_appointment_deals',
  kind: 'contract',
  scans: ['appointments'],
  statements: (engine) => [...withDeal(engine), ...linkIndexes('appointments', 'deal_id')],
}

const withDeal = (engine: Engine): string[] =>
  engine === 'sqlite'
    ? ['ALTER TABLE appointments ADD COLUMN deal_id bigint REFERENCES deals (id)']
    : [
        'ALTER TABLE appointments ADD COLUMN deal_id bigint',
        `ALTER TABLE appointments ADD ${reference(engine, 'deal_id', 'deals')}`,
      ]
