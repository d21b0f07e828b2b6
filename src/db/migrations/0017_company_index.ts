import type { Migration } from '../migrate.ts'

/**
 * On SQLite, one index finds the contacts of a company for lists and for the removal of the company. A contact without a company
 * is not in it. Two indexes cost each new contact two random pages.
 */
export const companyIndex: Migration = {
  name: '0017_company_index',
  kind: 'contract',
  scans: ['contacts'],
  statements: (engine) =>
    engine === 'sqlite'
      ? [
          'DROP INDEX contacts_company_id_live',
          'DROP INDEX contacts_company_id_all',
          'CREATE INDEX contacts_company_id_all ON contacts (company_id, workspace_id, deleted_at) WHERE company_id IS NOT NULL',
        ]
      : [],
}
