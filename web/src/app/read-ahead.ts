import type { QueryClient } from '@tanstack/react-query'
import { recordApi } from '../api/record-api.ts'
import { all_kinds } from '../kinds.ts'

/** Begins to read the record of a page, while its program is loaded and drawn. */
export function readRecordAhead(client: QueryClient, pathname: string): void {
  const [, path, id] = /^(\/[a-z-]+)\/(\d+)$/.exec(pathname) ?? []
  const kind = all_kinds.find((one) => one.path === path)
  if (kind) client.prefetchQuery(recordApi(kind.kind).query(Number(id)))
}
