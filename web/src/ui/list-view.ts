import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { isDay, isWall } from '../app/zones.ts'
import { useOpening } from './opening.ts'

const shown_ms = 3000

/**
 * Resolves when a navigation has ended, or after `shown_ms`: the router does not report a navigation that
 * another one replaced.
 */
export const untilShown = (navigation: Promise<unknown>): Promise<unknown> =>
  Promise.race([navigation, new Promise((resolve) => setTimeout(resolve, shown_ms))])

/** The search parameters of the address, as plain text, so that a link shares the whole view. */
export type Address = Record<string, string>

/** The search parameters of the address, and how to change them. Null or an empty text removes one. */
export function useAddress() {
  const address = useSearch({ strict: false }) as Address
  const navigate = useNavigate()
  const change = useCallback(
    (parts: Record<string, string | null | undefined>, replace = false, state: object = {}) =>
      navigate({
        to: '.',
        replace,
        state,
        search: ((before: Address) => {
          const after: Record<string, string | null | undefined> = { ...before, ...parts }
          return Object.fromEntries(Object.entries(after).filter(([, value]) => value))
        }) as never,
      }),
    [navigate],
  )
  return { address, change }
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
        history.back()
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

/** Whether a text from the address can be the id of a record. */
export const isId = (text: string | null | undefined): text is string => /^[1-9]\d{0,14}$/.test(text ?? '')

const ids = /^(contact|company|deal|booking_page)_id$/
const days = /^(created_|expected_close_)?(from|to)$/
const numbers = /^(value|probability)_(from|to)$/
/** Whether the value of a filter is valid. An invalid filter is ignored. */
const isReadable = (name: string, value: string): boolean =>
  ids.test(name)
    ? isId(value)
    : numbers.test(name)
      ? Number.isFinite(Number(value))
      : !days.test(name) || isDay(value) || isWall(value)

/** The orders that every list of records has. */
export const dated = ['id', 'created_at', 'updated_at']

const no_filters: readonly string[] = []

/**
 * The view of a list in the address: search, filters, order, page and columns. An order that is not in
 * `sorts` is ignored. `sorts` and `filter_names` must be constant.
 */
export function useListView(filter_names = no_filters, default_sort = '', sorts?: readonly string[]) {
  const { address, change } = useAddress()
  const setOpen = useOpen()
  return useMemo(() => {
    const page = isId(address.page) ? Number(address.page) : 1
    const { sort } = address
    const sortable = sort && (!sorts || sorts.includes(sort.replace(/^-/, '')))
    const filters = Object.fromEntries(
      filter_names.flatMap((name) => {
        const value = address[name]
        return value && isReadable(name, value) ? [[name, value]] : []
      }),
    ) as Address
    return {
      search: address.search ?? '',
      sort: sortable ? sort : default_sort,
      page,
      filters,
      /** The id of the record in the side panel. */
      open: address.open ?? null,
      filtered: Boolean(address.search) || Object.keys(filters).length > 0,
      change,
      setSearch: (search: string) => change({ search, page: null }, true),
      setSort: (sort: string) => change({ sort, page: null }),
      setPage: (to: number, replace = false) => change({ page: to > 1 ? String(to) : null }, replace),
      setFilter: (name: string, value: string | null) => change({ [name]: value, page: null }),
      clearFilters: () =>
        change({ ...Object.fromEntries(filter_names.map((name) => [name, null])), search: null, page: null }),
      setOpen,
    }
  }, [address, change, setOpen, filter_names, default_sort, sorts])
}
export type ListView = ReturnType<typeof useListView>
