import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute } from '../endpoints/routes.ts'
import type { Room } from '../room.ts'
import { matchKey } from '../writing/match.ts'
import { contact_import } from './import.ts'
import { listContacts, searchFilters } from './list.ts'
import { changeContact, contactRecords, createContact, deleteContact, restoreContact } from './operations.ts'
import { contacts } from './resource.ts'
import { Contact, ContactCreate, ContactUpdate, contact_filters, ListedContact } from './schema.ts'

const operations = {
  create: createContact,
  change: changeContact,
  remove: deleteContact,
  restore: restoreContact,
}

const batch = { create: ContactCreate, update: ContactUpdate, match: [matchKey('contacts', 'email')] }

/** The contacts resource, with contact.* events. */
export const contactRoom: Room = {
  ...contactRecords,
  operations,
  batch,
  details: { view: Contact, find: contactRecords.find },
  import: contact_import,
  routes,
}

function routes(app: App, service: Service): void {
  listRoute(app, service, contacts, {
    filters: contact_filters,
    view: ListedContact,
    list: listContacts,
    exported: contactRecords,
    ownFilters: searchFilters,
  })
  recordRoutes(
    app,
    service,
    contactRecords,
    { view: Contact, create: ContactCreate, update: ContactUpdate, in_bulk: true },
    operations,
  )
  restoreRoute(app, service, contacts, Contact, restoreContact)
}
