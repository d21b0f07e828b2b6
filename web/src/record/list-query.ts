import { endOfDay, isDay, startOfDay } from '../app/zones.ts'
import type { ListView } from '../ui/list-view.ts'

/** Rows per page of a list. */
const page_size = 50

/** The key in the name of a filter by a defined field: custom_fields[KEY]. */
const definedKey = (name: string) => /^custom_fields\[(.+)\]$/s.exec(name)?.[1]

/**
 * The API query of a list's view. Days are in the person's time zone; `custom_field` is a filter such as
 * region=EMEA.
 */
export function queryOf(view: ListView, zone: string) {
  const { created_from, created_to, custom_field, ...others } = view.filters
  const filters = Object.entries(others).filter(([name]) => !definedKey(name))
  const query: Record<string, unknown> = {
    ...Object.fromEntries(filters),
    page: view.page,
    per_page: page_size,
  }
  if (view.search) query.search = view.search
  if (view.sort) query.sort = view.sort
  if (created_from && isDay(created_from)) query.created_from = startOfDay(created_from, zone)
  if (created_to && isDay(created_to)) query.created_to = endOfDay(created_to, zone)
  const equals = custom_field?.indexOf('=') ?? -1
  const custom_fields = Object.fromEntries(
    Object.entries(others).flatMap(([name, value]) => {
      const key = definedKey(name)
      return key ? [[key, value]] : []
    }),
  )
  if (custom_field && equals > 0)
    custom_fields[custom_field.slice(0, equals).trim()] = custom_field.slice(equals + 1).trim()
  if (Object.keys(custom_fields).length) query.custom_fields = custom_fields
  return query
}
