import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { isDay, isWall } from '../app/zones.ts'
import { useOpening } from './opening.ts'

const shown_ms = 3000

/** Resolves when a page is shown, or soon: of a navigation that was overtaken by another one the router tells nothing. */
export const shown = (going: Promise<unknown>): Promise<unknown> =>
  Promise.race([going, new Promise((resolve) => setTimeout(resolve, shown_ms))])

/** What the address says: each part a plain text, so that a link shares the whole view. */
export type Address = Record<string, string>

/** The parts of the address behind "?", and how they are changed; null or an empty text takes a part away. */
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

// The way back that is being gone, which is gone once.
let closing: Promise<unknown> | null = null

/**
 * Shows a record beside the list, or none, and resolves when that is shown. The way back closes it too, for on a phone it
 * covers the list; so closing it goes that way, and leaves no entry of its own behind.
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
        closing = shown(back).finally(() => {
          closing = null
        })
        return closing
      }
      const opens = id !== null && !address.open && !address.create
      const state = { opened: id !== null && (opens || opened) }
      return shown(change({ open: id === null ? null : String(id) }, !opens, state))
    },
    [address, change, history, subscribe],
  )
}

/** Whether a list's dialog for creating is open, as useState has it: the address says so, and can open it from anywhere. */
export function useCreating(): [boolean, (open: boolean) => void] {
  const { address, change } = useAddress()
  const creating = address.create === '1'
  const opening = useOpening(creating)
  return [
    creating,
    (open) => {
      // What was asked for in a dialog closes no other one.
      if (open || !opening.over) change({ create: open ? '1' : null }, true)
    },
  ]
}

/** Whether a text, which anybody can write into an address, may be the id of a record. */
export const isId = (text: string | null | undefined): text is string => /^[1-9]\d{0,14}$/.test(text ?? '')

const ids = /^(contact|company|deal|booking_page)_id$/
const days = /^(created_)?(from|to)$/
/** Whether a filter can be read; what cannot is as if it were not there. */
const isReadable = (name: string, value: string): boolean =>
  ids.test(name) ? isId(value) : !days.test(name) || isDay(value) || isWall(value)

/** What every list of records can be ordered by. */
export const dated = ['id', 'created_at', 'updated_at']

const no_filters: readonly string[] = []

/**
 * A list as the address describes it: what is searched and filtered, its order, its page, which columns. What it cannot be
 * ordered by is ignored where `sorts`, constant, tells by what it can.
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
