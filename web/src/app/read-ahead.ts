import type { QueryClient } from '@tanstack/react-query'
import { recordApi } from '../api/record-api.ts'
import { all_kinds } from '../kinds.ts'
import { first_page } from '../record/list-query.ts'

/** Begins to read the record of a page, while its program is loaded and drawn. */
export function readRecordAhead(client: QueryClient, pathname: string): void {
  const [, path, id] = /^(\/[a-z-]+)\/(\d+)$/.exec(pathname) ?? []
  const kind = all_kinds.find((one) => one.path === path)
  if (kind) client.prefetchQuery(recordApi(kind.kind).query(Number(id)))
}

/** The same for the first page of a list without filters. Others have queries of their own. */
export async function readListAhead(client: QueryClient, list: string): Promise<void> {
  if (list !== 'contacts' && list !== 'companies') return
  if (list === 'contacts') await client.prefetchQuery(recordApi(list).listQuery(first_page))
  else await client.prefetchQuery(recordApi(list).listQuery(first_page))
}
