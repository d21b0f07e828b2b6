const of_a_page = ['page', 'per_page', 'cursor', 'details']

/** The filters and the order of a list's query, without the page. */
export const exportQuery = (query: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).filter(
      ([name, value]) => value !== undefined && value !== '' && !of_a_page.includes(name),
    ),
  )
