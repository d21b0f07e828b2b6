import {
  hashKey,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useState } from 'react'

type Answer<Row> = { data: Row[]; meta: object }
type Options<Row> = {
  queryKey: QueryKey
  /** Reads the page at a cursor; `nth` counts from 0. */
  read: (cursor: string, nth: number, signal: AbortSignal) => Promise<Answer<Row>>
  /** Whether to show the old rows until the first page of a new key is read. */
  keeps?: boolean
}

/** Page sizes double up to 100. An update reads all pages again, so there must be few. */
export const growing = (first: number, nth: number): number => Math.min(100, first * 2 ** nth)

/** The query of such a list, for reads before it is drawn. */
export const pagesQuery = <Row>({ queryKey, read }: Options<Row>) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam: { cursor, nth }, signal }) => read(cursor, nth, signal),
    initialPageParam: { cursor: 'start', nth: 0 },
    getNextPageParam({ meta }: Answer<Row>, { length: nth }): { cursor: string; nth: number } | null {
      const { next_cursor: cursor } = meta as { next_cursor?: string | null }
      return cursor ? { cursor, nth } : null
    },
  })

/**
 * A list that is read page by page with cursors. If an update interrupts the read of a page, the page is
 * read after it.
 */
export function usePages<Row>({ keeps = false, ...list }: Options<Row>) {
  const client = useQueryClient()
  const { queryKey } = list
  const options = pagesQuery(list)
  // The read begins before the page is drawn, as that of a list (list-page.tsx).
  if (!client.getQueryState(queryKey)) client.prefetchInfiniteQuery(options)
  const query = useInfiniteQuery({ ...options, placeholderData: keeps ? keepPreviousData : undefined })
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query
  const key = hashKey(queryKey)
  const [wanted, setWanted] = useState({ key, pages: 0 })
  const pages = data?.pages.length ?? 0
  const waiting = hasNextPage && wanted.key === key && wanted.pages > pages
  useEffect(() => {
    if (waiting && !isFetching && !isFetchNextPageError) fetchNextPage()
  }, [waiting, isFetching, isFetchNextPageError, fetchNextPage])
  return {
    ...query,
    more: hasNextPage,
    loading_more: waiting && !isFetchNextPageError,
    readMore() {
      setWanted({ key, pages: pages + 1 })
      fetchNextPage({ cancelRefetch: false })
    },
  }
}
