import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import type { CustomChanges } from '../record/custom-fields.tsx'

export type Company = Schemas['Company']
export type ListedCompany = Schemas['ListedCompany']

export type CompanyChanges = Partial<
  Pick<Company, 'name' | 'website' | 'industry' | 'phone' | 'address'> & { custom_fields: CustomChanges }
>

/** What a change of a company makes old. */
export const touched = ['companies', 'contacts', 'deals', 'timeline', 'trash']

const at = (id: number) => ({ params: { path: { id } } })

/** A page of the list, as the API is asked for it. */
export const companiesQuery = (query: Record<string, unknown>) => ({
  queryKey: ['companies', 'list', query],
  queryFn: () => answerOf(api.GET('/api/v1/companies', { params: { query: query as never } })),
})

export const companyQuery = (id: number) =>
  queryOptions({
    queryKey: ['companies', 'record', id],
    queryFn: () => dataOf(api.GET('/api/v1/companies/{id}', at(id))),
  })

export const changeCompany = (id: number, body: CompanyChanges): Promise<Company> =>
  dataOf(api.PUT('/api/v1/companies/{id}', { ...at(id), body }))

export const deleteCompany = (id: number) => answerOf(api.DELETE('/api/v1/companies/{id}', at(id)))

export const restoreCompany = (id: number): Promise<Company> =>
  dataOf(api.POST('/api/v1/companies/{id}/restore', { ...at(id), body: {} }))

/** Where a website is: what was written without a scheme is meant as https. Null for what is no web address. */
export function websiteOf(text: string | null): string | null {
  if (!text) return null
  const address = /^[a-z][a-z+.-]*:/i.test(text) ? text : `https://${text}`
  const url = URL.canParse(address) ? new URL(address) : null
  return url && ['http:', 'https:'].includes(url.protocol) ? url.href : null
}
