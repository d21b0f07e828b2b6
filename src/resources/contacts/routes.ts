import type { Db, Reading } from '../../db/db.ts'
import { links, referenceProblems } from '../../db/references.ts'
import { factsOf, recordChange } from '../../events/audit.ts'
import { emit } from '../../events/emit.ts'
import { List, Single } from '../../http/envelope.ts'
import { invalid } from '../../http/errors.ts'
import { dateFilters, listAnswer, listingOf, RecordsQuery, valueFilters } from '../../http/lists.ts'
import { mergeCustomFields, newCustomFieldsProblems } from '../../http/patch.ts'
import { changeRoute, recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Writer } from '../../http/write.ts'
import { writableFields } from '../resource.ts'
import { contactCreated, contactDeleted, contactUpdated } from './events.ts'
import { listContacts, orders } from './list.ts'
import { noteRoutes } from './notes/routes.ts'
import { counted, findContact, insertContact, updateContact } from './queries.ts'
import { contacts } from './resource.ts'
import { Contact, ContactCreate, ContactUpdate, contact_filters, ListedContact } from './schema.ts'

const path = '/api/v1/contacts'
const references = links.contacts

type Deps = { db: Db; reading: Reading; write: Writer }

/** The contacts resource with the notes of a contact, and its contact.* events. */
export function contactRoutes(app: App, { db, reading, write }: Deps): void {
  app.get(
    path,
    {
      config: { scope: 'contacts:read' },
      schema: {
        summary: 'List contacts',
        querystring: RecordsQuery(orders, contact_filters, { custom_fields: true }),
        response: { 200: List(ListedContact) },
      },
    },
    async (request) => {
      const { workspace_id } = request.access
      const listing = listingOf(request.query, 'contacts', orders)
      const { search, company_id, stage } = request.query
      const filters = [
        ...dateFilters(request.query),
        ...valueFilters(db, 'contacts', workspace_id, request.query),
      ]
      const { contacts, ...found } = await reading((db) =>
        listContacts(db, workspace_id, { search, company_id, stage, filters }, listing.page, listing.sorting),
      )
      return listAnswer(contacts, found, listing)
    },
  )

  app.post(
    path,
    {
      config: { scope: 'contacts:write' },
      schema: {
        summary: 'Create a contact',
        body: ContactCreate,
        response: { 201: Single(Contact) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const wrong = [
          ...problems,
          ...newCustomFieldsProblems(request.body, problems),
          ...(await referenceProblems(tx, workspace_id, request.body, references)),
        ]
        if (wrong.length) throw invalid(wrong)
        const {
          first_name = '',
          last_name = '',
          email = null,
          phone = null,
          mobile = null,
          company_id = null,
          title = null,
          stage = null,
          source = null,
          custom_fields,
          tags,
        } = request.body
        const contact = await insertContact(tx, workspace_id, now, {
          first_name,
          last_name,
          email,
          phone,
          mobile,
          company_id,
          title,
          stage,
          source,
          custom_fields: mergeCustomFields({}, custom_fields ?? null),
          tags: tags ?? [],
        })
        const created = {
          action: 'created',
          kind: 'contacts',
          record_id: contact.id,
          after: factsOf(contact),
        }
        await Promise.all([emit(tx, context, contactCreated, contact), recordChange(tx, context, created)])
        return { record: contact, location: `${path}/${contact.id}` }
      }),
  )

  const resource = {
    path,
    table: 'contacts',
    noun: 'contact',
    view: Contact,
    find: findContact,
  } as const
  changeRoute(
    app,
    { db, write },
    {
      ...resource,
      body: ContactUpdate,
      fields: writableFields(contacts.columns),
      references,
      update: updateContact,
      updated: contactUpdated,
    },
  )
  recordRoutes(
    app,
    { db, write },
    { ...resource, counted, deleted: contactDeleted, restored: contactUpdated },
  )

  noteRoutes(app, { db, write })
}
