import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, dataOf, Problem, type Schemas } from '../api/client.ts'
import type { CustomChanges } from '../record/custom-fields.tsx'

export type Contact = Schemas['Contact']
export type ListedContact = Schemas['ListedContact']

export type ContactChanges = Partial<
  Pick<Contact, 'first_name' | 'last_name' | 'email' | 'phone' | 'mobile' | 'company_id' | 'title'> &
    Pick<Contact, 'stage' | 'source' | 'tags'> & { custom_fields: CustomChanges }
>

/** What a change of a contact makes old. */
export const touched = ['contacts', 'companies', 'timeline', 'trash']

const at = (id: number) => ({ params: { path: { id } } })

/** A page of the list, as the API is asked for it. */
export const contactsQuery = (query: Record<string, unknown>) => ({
  queryKey: ['contacts', 'list', query],
  queryFn: () => answerOf(api.GET('/api/v1/contacts', { params: { query: query as never } })),
})

export const contactQuery = (id: number) =>
  queryOptions({
    queryKey: ['contacts', 'record', id],
    queryFn: () => dataOf(api.GET('/api/v1/contacts/{id}', at(id))),
  })

export const changeContact = (id: number, body: ContactChanges): Promise<Contact> =>
  dataOf(api.PUT('/api/v1/contacts/{id}', { ...at(id), body }))

export const deleteContact = (id: number) => answerOf(api.DELETE('/api/v1/contacts/{id}', at(id)))

export const restoreContact = (id: number): Promise<Contact> =>
  dataOf(api.POST('/api/v1/contacts/{id}/restore', { ...at(id), body: {} }))

/**
 * Gives a contact a tag or takes it away, among the tags that it has now, which a list does not show; resolves to the
 * changed contact, undefined when that was so already. Another's change between the reading and the writing is read too, once.
 */
export async function changeTag(
  id: number,
  tag: string,
  wanted: boolean,
  again = true,
): Promise<Contact | undefined> {
  let etag = ''
  const { tags } = await dataOf(
    api.GET('/api/v1/contacts/{id}', at(id)).then((answer) => {
      etag = answer.response.headers.get('etag') ?? ''
      return answer
    }),
  )
  if (tags.includes(tag) === wanted) return
  const params = { path: { id }, header: { 'If-Match': etag } }
  const body = { tags: wanted ? [...tags, tag] : tags.filter((one) => one !== tag) }
  try {
    return await dataOf(api.PUT('/api/v1/contacts/{id}', { params, body }))
  } catch (error) {
    if (again && error instanceof Problem && error.status === 412) return changeTag(id, tag, wanted, false)
    throw error
  }
}
