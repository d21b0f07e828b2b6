import type { Migration } from '../migrate.ts'
import { blockTriggers } from './0002_record_blocks.ts'
import { liveIndex, recordTable, reference, trashIndex } from './parts.ts'

export const activities: Migration = {
  name: '0005_activities',
  kind: 'contract',
  statements: (engine) => [
    recordTable(
      engine,
      'activities',
      [
        'type text NOT NULL',
        'subject text NOT NULL',
        'body text',
        'due_at text',
        'completed_at text',
        'outcome text',
        'contact_id bigint',
        'company_id bigint',
        'deal_id bigint',
      ],
      [
        reference(engine, 'contact_id', 'contacts'),
        reference(engine, 'company_id', 'companies'),
        reference(engine, 'deal_id', 'deals'),
      ],
    ),
    liveIndex('activities', 'live', ''),
    ...['type', 'contact_id', 'company_id', 'deal_id'].map((field) =>
      liveIndex('activities', `${field}_live`, field),
    ),
    liveIndex('activities', 'by_creation', 'created_at'),
    liveIndex('activities', 'by_change', 'updated_at'),
    // An activity without a due date comes after every date, in every collation: some sort punctuation before digits.
    liveIndex('activities', 'by_due', "coalesce(due_at, 'z')"),
    // Open activities are few, and are listed often.
    liveIndex('activities', 'open_by_due', "coalesce(due_at, 'z')", ' AND completed_at IS NULL'),
    liveIndex('activities', 'by_completion', 'completed_at', ' AND completed_at IS NOT NULL'),
    trashIndex('activities'),
    ...blockTriggers(engine, 'activities'),
  ],
}
