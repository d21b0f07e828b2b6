import type { Db } from '../../db/db.ts'
import { lowerCase, lowerCased } from '../../db/lists/letter-case.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { standardOperations } from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { contactCreated, contactDeleted, contactUpdated } from './events.ts'
import { contacts } from './resource.ts'
import type { Contact, ContactValues, ListedContact } from './schema.ts'

export const contactRecords = recordsOf<Contact, ListedContact, ContactValues>(contacts)

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

const byEmail = prepare((p: { workspace_id: number; email: string }, db) =>
  db
    .selectFrom('contacts')
    .select('id')
    .where('workspace_id', '=', p.workspace_id)
    .where(lowerCase(db, 'email'), '=', p.email)
    .where('email', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(1),
)

/** The first live contact with an e-mail address, in upper or lower case; null when there is none. */
export async function findContactByEmail(
  db: Db,
  workspace_id: number,
  email: string,
): Promise<Contact | null> {
  for (;;) {
    const [row] = await byEmail(db, { workspace_id, email: lowerCased(email) })
    const contact = row ? await contactRecords.find(db, workspace_id, row.id) : null
    // The contact may go to the trash between the two reads. Then the next one is the first.
    if (contact || !row) return contact
  }
}
