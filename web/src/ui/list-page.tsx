import { keepPreviousData, type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Aborted } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import type { ShownGroups } from './list-groups.ts'
import { isId, type ListView, useAddress } from './list-view.ts'
import { DataTable, type TableProps } from './table.tsx'
import type { Identified, Meta } from './table-parts.tsx'
import { most_selected, useWholeList, type WholeList } from './whole-list.ts'

/** The query of one page of a list. */
export type ListQuery<Row> = {
  queryKey: QueryKey
  queryFn: (by: Aborted) => Promise<{ data: Row[]; meta: Meta }>
  refetchInterval?: number
}

/**
 * The current page of a list, or its groups, and the selected rows. Rows that leave the page, or whose group is closed, are
 * deselected, unless the rows of the `whole` list are selected. If the page no longer exists, the last page is shown.
 */
export function useListPage<Row extends Identified>(
  query: ListQuery<Row>,
  { page, setPage }: Pick<ListView, 'page' | 'setPage'>,
  whole_list?: WholeList<Row>,
  groups: ShownGroups<Row> | null = null,
) {
  const client = useQueryClient()
  // The read begins before the page is drawn, which takes longer than the answer on a slow device.
  if (groups === null && !client.getQueryState(query.queryKey)) client.prefetchQuery(query)
  const read = useQuery({ ...query, placeholderData: keepPreviousData, enabled: groups === null })
  const { data } = read
  const last_page = data?.meta.last_page ?? 1
  const empty = !groups && data?.data.length === 0
  useEffect(() => {
    if (empty && page > last_page) setPage(last_page, true)
  }, [empty, page, last_page, setPage])
  const meta: Meta | undefined = !groups
    ? data?.meta
    : groups.total === undefined
      ? undefined
      : { total: groups.total }
  // The list is empty only if the total says so.
  const rows = groups ? groups.rows : empty && meta?.total ? undefined : data?.data
  const isPlaceholderData = groups ? groups.old : read.isPlaceholderData
  const { error, refetch } = groups ?? read

  const [selected, setSelected] = useState<ReadonlySet<Row['id']>>(new Set())
  const whole = useWholeList(whole_list)
  const all = whole.rows
  // Actions are disabled for rows of the previous query. The page's rows are newer than those of the whole list.
  const offered = useMemo(() => {
    const current = isPlaceholderData ? [] : (rows ?? [])
    return all ? [...new Map([...all, ...current].map((row) => [row.id, row])).values()] : current
  }, [all, rows, isPlaceholderData])
  useEffect(() => {
    if (!rows) return
    setSelected((before) => {
      const kept = (all ? offered : rows).flatMap(({ id }) => (before.has(id) ? [id] : []))
      return kept.length === before.size ? before : new Set(kept)
    })
  }, [rows, all, offered])
  const chosen = offered.filter(({ id }) => selected.has(id))
  const total = meta?.total ?? 0
  const page_is_selected = !isPlaceholderData && rows?.length && rows.every(({ id }) => selected.has(id))
  const { stop } = whole
  /** Selects the rows that the person chose. The read of all rows would replace them, so it ends. */
  const choose = useCallback(
    (ids: ReadonlySet<Row['id']>) => {
      stop()
      setSelected(ids)
    },
    [stop],
  )
  const clear = () => {
    whole.forget()
    setSelected(new Set())
  }
  return {
    rows,
    groups,
    meta,
    error,
    refetch,
    /** The page of the address, which may still be read. */
    page_asked_for: page,
    setPage,
    selected,
    setSelected: choose,
    chosen,
    old: isPlaceholderData,
    clear,
    /** Selects all rows that match, when those of the page are selected and there are more; else null. */
    more:
      whole_list && page_is_selected && total > chosen.length && chosen.length < most_selected
        ? {
            async select() {
              const found = await whole.readAll()
              if (found) setSelected(new Set(found.map(({ id }) => id)))
            },
          }
        : null,
    /** How many of all rows are read so far, while they are read to be selected; else null. */
    reading: whole.count,
    /** Runs an action on the selected rows. Rows that failed stay selected. */
    async act(work: (rows: Row[]) => Promise<readonly Row[]>) {
      setSelected(new Set())
      const takeBack = whole.lend()
      const left = await work(chosen)
      takeBack(left)
      setSelected((before) => new Set([...before, ...left.map(({ id }) => id)]))
    },
  }
}
export type ListPage<Row extends Identified> = ReturnType<typeof useListPage<Row>>

type Props<Row extends Identified> = Omit<
  TableProps<Row>,
  'rows' | 'groups' | 'meta' | 'page_asked_for' | 'onStep' | 'selected' | 'onSelect'
> & {
  page: ListPage<Row>
  /** Whether rows can be selected. */
  selectable?: boolean
}

/** The rows of the page, or the error. */
export function ListTable<Row extends Identified>({ page, selectable = false, ...table }: Props<Row>) {
  const { rows, groups, meta, error, refetch, page_asked_for, setPage, selected, setSelected, old } = page
  const t = useTexts()
  const { latest } = useAddress()
  // From the page of the address, because a step may come before the last one is drawn.
  function step(by: 1 | -1) {
    const { page } = latest()
    const to = (isId(page) ? Number(page) : 1) + by
    if (to >= 1 && to <= (meta?.last_page ?? 1)) setPage(to)
  }
  return (
    <>
      <span role="status" className="unseen">
        {rows && !old && t.app.found({ n: meta?.total ?? rows.length })}
      </span>
      {error && <ProblemNote error={error} onRetry={refetch} />}
      {(meta || !error) && (
        <DataTable
          rows={rows}
          groups={groups}
          meta={meta}
          page_asked_for={page_asked_for}
          old={old}
          onStep={step}
          {...table}
          {...(selectable && { selected, onSelect: setSelected })}
        />
      )}
    </>
  )
}
