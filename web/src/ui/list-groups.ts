import { type QueryKey, useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Aborted } from '../api/client.ts'
import type { ListQuery } from './list-page.tsx'
import type { Identified } from './table-parts.tsx'

/** A group of the service: its value, its size, and the parameters with which the list has its records. */
type Group = {
  value: string | null
  count: number
  sums?: { value?: number }
  filter: Record<string, string>
}
type Groups = { count: number; groups: Group[]; more: boolean }

/** A group of a table. */
export type RowGroup<Row> = Group & {
  key: string
  open: boolean
  /** Undefined until the first answer; of a closed group, none. */
  rows: Row[] | undefined
  /** The number of rows that are not read yet. */
  left: number
}

/** How the groups of a list are read, and the rows of each. */
export type GroupedList<Row> = {
  /** The field of the groups. */
  by: string
  queryKey: QueryKey
  read: (by: Aborted) => Promise<Groups>
  /** A page of the records that meet the filter of a group. */
  rowsQuery: (filter: Record<string, string>, page: number) => ListQuery<Row>
}

// Groups are open at first as long as their rows are not more than a page of the list.
const open_rows = 50

const keyOf = ({ value }: Group) => JSON.stringify(value)

/** The pages that are shown of each group at first: 0 for a closed one. */
function firstOpen(groups: readonly Group[]): Map<string, number> {
  let rows = 0
  return new Map(
    groups.map((group, at) => {
      rows += group.count
      return [keyOf(group), at === 0 || rows <= open_rows ? 1 : 0]
    }),
  )
}

/** The rows of each group, of those pages that are read. */
function withRows<Row extends Identified>(
  groups: readonly Group[],
  pagesOf: (group: Group) => number,
  pages: readonly ({ data: Row[] } | undefined)[],
): RowGroup<Row>[] {
  let at = 0
  return groups.map((group) => {
    const wanted = pagesOf(group)
    const own = pages.slice(at, at + wanted).flatMap((page) => page ?? [])
    at += wanted
    // A row that changes its place between two reads may come twice.
    const rows = [...new Map(own.flatMap(({ data }) => data).map((row) => [row.id, row])).values()]
    const left = own.length === wanted && wanted > 0 ? Math.max(0, group.count - rows.length) : 0
    const known = wanted === 0 || own.length > 0
    return { ...group, key: keyOf(group), open: wanted > 0, rows: known ? rows : undefined, left }
  })
}

/** The groups of a list with the rows of the open ones. Null without a grouping. */
export function useGroups<Row extends Identified>(list: GroupedList<Row> | null) {
  const key = JSON.stringify(list?.queryKey ?? null)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: list?.queryKey ?? ['no-groups'],
    // With the list: the rows of old groups are those of their own filters.
    queryFn: async (by: Aborted) => ({ ...(await (list as GroupedList<Row>).read(by)), list }),
    enabled: list !== null,
    placeholderData: (before) => (before?.list?.by === list?.by ? before : undefined),
  })
  const [shown, setShown] = useState({ key, pages: new Map<string, number>() })
  const groups = list ? data?.groups : undefined
  if (groups?.length && !isPlaceholderData && (shown.key !== key || !shown.pages.size))
    setShown({ key, pages: firstOpen(groups) })
  const { pages } = shown
  const pagesOf = (group: Group) => pages.get(keyOf(group)) ?? 0
  const rows_list = isPlaceholderData ? data?.list : list
  const answers = useQueries({
    queries: (groups ?? []).flatMap((group) =>
      Array.from({ length: pagesOf(group) }, (_, page) =>
        (rows_list as GroupedList<Row>).rowsQuery(group.filter, page + 1),
      ),
    ),
    combine: (all) => ({
      pages: all.map(({ data }) => data),
      error: all.find(({ error }) => error)?.error ?? null,
      retry: () => Promise.all(all.filter(({ error }) => error).map(({ refetch }) => refetch())),
    }),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pages say how many of each group are shown
  const found = useMemo(
    () => groups && withRows(groups, pagesOf, answers.pages),
    [groups, pages, answers.pages],
  )
  const rows = useMemo(() => found?.flatMap(({ rows = [] }) => rows), [found])
  if (!list) return null
  const setPages = (group: Group, to: number) =>
    setShown((before) => ({ ...before, pages: new Map(before.pages).set(keyOf(group), to) }))
  return {
    groups: found,
    rows,
    /** Whether the service left groups out. */
    cut: data?.more ?? false,
    total: data?.count,
    error: error ?? answers.error,
    refetch: () => Promise.all([refetch(), answers.retry()]),
    old: isPlaceholderData,
    toggle: (group: Group) => setPages(group, pagesOf(group) ? 0 : 1),
    readMore: (group: Group) => setPages(group, pagesOf(group) + 1),
  }
}
export type ShownGroups<Row extends Identified> = NonNullable<ReturnType<typeof useGroups<Row>>>
