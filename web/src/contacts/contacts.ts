import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import type { CustomChanges } from '../record/custom-fields.tsx'
import { useRefresh } from '../record/refresh.ts'

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
export const contactsQuery = (query: Record<string, unknown>) =>
  queryOptions({
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
 * Changes the tags of a contact as they are now, which a list does not show; resolves to those before. Refused when
 * somebody changes the contact between the reading and the writing.
 */
export async function changeTags(id: number, change: (tags: string[]) => string[]): Promise<string[]> {
  let etag = ''
  const { tags } = await dataOf(
    api.GET('/api/v1/contacts/{id}', at(id)).then((answer) => {
      etag = answer.response.headers.get('etag') ?? ''
      return answer
    }),
  )
  const header = { 'If-Match': etag }
  const body = { tags: change(tags) }
  await answerOf(api.PUT('/api/v1/contacts/{id}', { params: { path: { id }, header }, body }))
  return tags
}

/** Stores a change of one contact and shows what the service answers. */
export function useChangeContact(id: number): (changes: ContactChanges) => Promise<void> {
  const client = useQueryClient()
  const refresh = useRefresh()
  return useCallback(
    async (changes) => {
      const contact = await changeContact(id, changes)
      client.setQueryData(contactQuery(id).queryKey, contact)
      // Others are read again beside, so that the field need not wait for them.
      refresh(...touched)
    },
    [client, id, refresh],
  )
}
