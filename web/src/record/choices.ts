import { allOf } from '../api/all.ts'
import { answerOf, api, dataOf } from '../api/client.ts'
import type { Choice } from '../ui/reference.tsx'

// As many as a list to choose from shows; more letters find the others.
const per_page = 20

/** A contact's name as it is written everywhere. */
export const fullName = (contact: { first_name: string; last_name: string }): string =>
  `${contact.first_name} ${contact.last_name}`

/** Contacts whose name or e-mail has the words; by last name where nothing was written. */
async function searchContacts(search: string): Promise<Choice[]> {
  const query = search ? { search, per_page } : { sort: 'last_name' as const, per_page }
  const found = await dataOf(api.GET('/api/v1/contacts', { params: { query } }))
  return found.map((contact) => ({
    id: contact.id,
    name: fullName(contact),
    detail: contact.company?.name ?? contact.email,
  }))
}

/** Companies whose name has the words; by name where nothing was written. */
async function searchCompanies(search: string): Promise<Choice[]> {
  const query = { ...(search && { search }), sort: 'name' as const, per_page }
  const found = await dataOf(api.GET('/api/v1/companies', { params: { query } }))
  return found.map(({ id, name, industry }) => ({ id, name, detail: industry }))
}

/** Booking pages whose title or address has the text; there are few. */
async function searchBookingPages(search: string): Promise<Choice[]> {
  const pages = await allOf((query) => answerOf(api.GET('/api/v1/booking-pages', { params: { query } })))
  const wanted = search.toLowerCase()
  return pages
    .filter(({ title, slug }) => `${title} ${slug}`.toLowerCase().includes(wanted))
    .map(({ id, title, slug }) => ({ id, name: title, detail: slug }))
}

/** Deals whose name has the words; the newest where nothing was written. */
async function searchDeals(search: string): Promise<Choice[]> {
  const query = search ? { search, sort: 'name' as const, per_page } : { per_page }
  const found = await dataOf(api.GET('/api/v1/deals', { params: { query } }))
  return found.map(({ id, name }) => ({ id, name }))
}

/** How a record that may be referred to is found by words. */
export const searches = {
  contacts: searchContacts,
  companies: searchCompanies,
  deals: searchDeals,
  booking_pages: searchBookingPages,
}
export type ReferenceKind = keyof typeof searches
