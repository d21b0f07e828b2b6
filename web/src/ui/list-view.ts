import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { Search } from '../app/addresses.ts'
import { type FilterField, filtersIn, isId, namesOf, withoutOldForm } from './filter-value.ts'
import { useOpening } from './opening.ts'

export { isId }

const shown_ms = 3000

/**
 * Resolves when a navigation has ended, or after `shown_ms`: the router does not report a navigation that
 * another one replaced.
 */
export const untilShown = (navigation: Promise<unknown>): Promise<unknown> =>
  Promise.race([navigation, new Promise((resolve) => setTimeout(resolve, shown_ms))])

/**
 * The search parameters of the address, as plain text, so that a link shares the whole view, and how to change them. Null or an
 * empty text removes one. `latest` reads those of a navigation that is under way: a step must start from them.
 */
export function useAddress() {
  const written: Record<string, string> = useSearch({ strict: false })
  const address: Search = useMemo(() => withoutOldForm(written), [written])
  const navigate = useNavigate()
  const router = useRouter()
  const latest = useCallback((): Search => withoutOldForm(router.latestLocation.search), [router])
  const change = useCallback(
    (
      parts: { [Name in keyof Search]: string | null | undefined },
      replace = false,
      // An entry that is replaced keeps its state.
      state: object | true = replace ? true : {},
    ) =>
      navigate({
        to: '.',
        replace,
        state,
        search: (before: Record<string, string>) => {
          const after: Record<string, string | null | undefined> = { ...withoutOldForm(before), ...parts }
          return Object.fromEntries(Object.entries(after).filter(([, value]) => value))
        },
      }),
    [navigate],
  )
  return { address, latest, change }
}

// A navigation back that is under way. A second close waits for it and does not go back again.
let closing: Promise<unknown> | null = null

/**
 * Shows a record in the side panel, or none. Resolves when the page shows it. Back closes the panel, too,
 * because on a phone it covers the list. So closing it navigates back, and leaves no entry in the history.
 */
export function useOpen(): (id: string | number | null) => Promise<unknown> {
  const { address, change } = useAddress()
  const { history, subscribe } = useRouter()
  return useCallback(
    async (id) => {
      await closing
      const { opened = false } = history.location.state as { opened?: boolean }
      if (id === null && opened) {
        const back = new Promise<void>((resolve) => {
          const end = subscribe('onResolved', () => {
            end()
            resolve()
          })
        })
        history.back({ ignoreBlocker: true })
        closing = untilShown(back).finally(() => {
          closing = null
        })
        return closing
      }
      const opens = id !== null && !address.open && !address.create
      const state = { opened: id !== null && (opens || opened) }
      return untilShown(change({ open: id === null ? null : String(id) }, !opens, state))
    },
    [address, change, history, subscribe],
  )
}

/**
 * Whether the list's dialog for a new record is open. The address holds the state, so that any page can
 * open it.
 */
export function useCreating(): [boolean, (open: boolean) => void] {
  const { address, change } = useAddress()
  const creating = address.create === '1'
  const opening = useOpening(creating)
  return [
    creating,
    (open) => {
      // A late answer to one opening of the dialog must not close the next one.
      if (open || !opening.over) change({ create: open ? '1' : null }, true)
    },
  ]
}

/** The orders that every list of records has. */
export const dated = ['id', 'created_at', 'updated_at']

const no_filters: readonly FilterField[] = []

/**
 * The view of a list in the address: search, filters, order, page and columns. An order that is not in
 * `sorts` is ignored. `fields` and `sorts` must be constant.
 */
export function useListView(fields = no_filters, default_sort = '', sorts?: readonly string[]) {
  const { address, change } = useAddress()
  const setOpen = useOpen()
  return useMemo(() => {
    const page = isId(address.page) ? Number(address.page) : 1
    const { sort } = address
    const sortable = sort && (!sorts || sorts.includes(sort.replace(/^-/, '')))
    const filters = filtersIn(fields, address)
    /** Changes filters. The list begins at its first page. */
    const filter = (changes: Record<string, string | null>, replace = false) =>
      change({ ...changes, page: null }, replace)
    return {
      search: address.search ?? '',
      sort: sortable ? sort : default_sort,
      page,
      /** The parameters of valid filters. */
      filters,
      /** The id of the record in the side panel. */
      open: address.open ?? null,
      filtered: Boolean(address.search) || Object.keys(filters).length > 0,
      change,
      filter,
      setSearch: (search: string) => change({ search, page: null }, true),
      setSort: (sort: string) => change({ sort, page: null }),
      setPage: (to: number, replace = false) => change({ page: to > 1 ? String(to) : null }, replace),
      setFilter: (name: string, value: string | null) => filter({ [name]: value }),
      clearFilters: () =>
        filter({
          ...Object.fromEntries(fields.flatMap(namesOf).map((name) => [name, null])),
          search: null,
        }),
      setOpen,
    }
  }, [address, change, setOpen, fields, default_sort, sorts])
}
export type ListView = ReturnType<typeof useListView>
