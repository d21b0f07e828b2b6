import { queryOptions } from '@tanstack/react-query'
import { recordApi } from '../api/record-api.ts'

// More are not a choice, and too many to add up.
const most_deals = 20

/** The first open deals of a contact or a company, and how many there are. */
export const openDealsQuery = (of: { contact_id: number } | { company_id: number }) =>
  queryOptions({
    queryKey: ['deals', 'open', of],
    queryFn: ({ signal }) =>
      recordApi('deals').list({ ...of, status: 'open', sort: '-value', per_page: most_deals }, signal),
  })
