import type { Db } from '../../db/db.ts'
import { emailKey } from '../../db/lists/same-text.ts'
import { survivorsWith } from '../../db/merged.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { standardOperations } from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { contactCreated, contactDeleted, contactUpdated } from './events.ts'
import { contacts } from './resource.ts'
import type { Contact, ContactValues } from './schema.ts'

export const contactRecords = recordsOf<Contact, ContactValues>(contacts)

export const {
  create: createContact,
  change: changeContact,
  remove: deleteContact,
  restore: restoreContact,
} = standardOperations(contactRecords, {
  created: contactCreated,
  updated: contactUpdated,
  deleted: contactDeleted,
})

const byEmail = prepare((p: { workspace_id: number; email_key: string }, db) =>
  db
    .selectFrom('contacts')
    .select('id')
    .where('workspace_id', '=', p.workspace_id)
    .where('email_key', '=', p.email_key)
    .where('email_key', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(1),
)

/**
 * The first live contact with an e-mail address, in any form of it, else one into which such a contact was merged; null when
 * there is none.
 */
export async function findContactByEmail(
  db: Db,
  workspace_id: number,
  email: string,
): Promise<Contact | null> {
  for (;;) {
    const email_key = emailKey(email)
    const [own] = await byEmail(db, { workspace_id, email_key })
    const [row] = own ? [own] : await survivorsWith(db, 'contacts', workspace_id, 'email', [email_key])
    const contact = row ? await contactRecords.find(db, workspace_id, row.id) : null
    // The contact may go to the trash between the two reads. Then the next one is the first.
    if (contact || !row) return contact
  }
}
