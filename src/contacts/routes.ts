import type { Db } from '../db/db.ts'
import { referenceProblems } from '../db/references.ts'
import { changesBetween } from '../events/changes.ts'
import { emit } from '../events/emit.ts'
import { List, list, paging, Single } from '../http/envelope.ts'
import { invalid, notFound } from '../http/errors.ts'
import { checkMatch } from '../http/etag.ts'
import { IdParams } from '../http/fields.ts'
import { changesOf, customFieldsProblems, mergeCustomFields } from '../http/patch.ts'
import { recordRoutes } from '../http/records.ts'
import type { App } from '../http/server.ts'
import type { Writer } from '../http/write.ts'
import { contactCreated, contactDeleted, contactUpdated } from './events.ts'
import { listContacts } from './list.ts'
import { noteRoutes } from './notes-routes.ts'
import { findContact, insertContact, moveContact, updateContact } from './queries.ts'
import {
  Contact,
  ContactCreate,
  ContactQuery,
  ContactUpdate,
  contact_fields,
  ListedContact,
} from './schema.ts'

const path = '/api/v1/contacts'
const references = { company_id: 'companies' } as const

/** The contacts resource with the notes of a contact, and its contact.* events. */
export function contactRoutes(app: App, { db, write }: { db: Db; write: Writer }): void {
  app.get(
    path,
    {
      config: { scope: 'contacts:read' },
      schema: {
        summary: 'List contacts',
        querystring: ContactQuery,
        response: { 200: List(ListedContact) },
      },
    },
    async (request) => {
      const asked = paging(request.query)
      const { contacts, total } = await listContacts(db, request.access.workspace_id, request.query, asked)
      return list(contacts, total, asked)
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
        const wrong = [...problems, ...(await referenceProblems(tx, workspace_id, request.body, references))]
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
        const id = await insertContact(tx, workspace_id, now, {
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
        const contact = await existing(tx, workspace_id, id)
        await emit(tx, context, contactCreated, contact)
        return { record: contact, location: `${path}/${id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    config: { scope: 'contacts:write' },
    schema: {
      summary: 'Change a contact',
      params: IdParams,
      body: ContactUpdate,
      response: { 200: Single(Contact) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const before = await existing(tx, workspace_id, request.params.id)
        checkMatch(request, before)
        const { custom_fields, tags, ...sent } = request.body
        const merged =
          custom_fields === undefined ? undefined : mergeCustomFields(before.custom_fields, custom_fields)
        const changes = changesOf(
          { ...sent, custom_fields: merged, tags: tags === null ? [] : tags },
          before,
          contact_fields,
        )
        const wrong = [
          ...problems,
          ...customFieldsProblems(merged, problems),
          ...(await referenceProblems(tx, workspace_id, changes, references)),
        ]
        if (wrong.length) throw invalid(wrong)
        if (!Object.keys(changes).length) return { record: before }
        await updateContact(tx, workspace_id, now, before, changes as Partial<Contact>)
        const after = await existing(tx, workspace_id, before.id)
        const differences = changesBetween(before, after, contact_fields)
        await emit(tx, context, contactUpdated, after, differences ?? undefined)
        return { record: after }
      }),
  })

  recordRoutes(
    app,
    { db, write },
    {
      path,
      table: 'contacts',
      noun: 'contact',
      view: Contact,
      find: findContact,
      move: moveContact,
      deleted: contactDeleted,
      restored: contactUpdated,
    },
  )

  noteRoutes(app, { db, write })
}

async function existing(db: Db, workspace_id: number, id: number): Promise<Contact> {
  const contact = await findContact(db, workspace_id, id)
  if (!contact) throw notFound('This contact')
  return contact
}
