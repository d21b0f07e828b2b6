import { instantOf } from '../calendar/zones.ts'
import type { ListView } from '../ui/list-view.ts'

/** How many rows a page of a list has. */
const page_size = 50

/**
 * A list's view as the API is asked for it. Days are those of the person's time zone; `custom_field`, written as
 * region=EMEA, is the filter by a custom field.
 */
export function queryOf(view: ListView, zone: string) {
  const { created_from, created_to, custom_field, ...filters } = view.filters
  const query: Record<string, unknown> = { ...filters, page: view.page, per_page: page_size }
  if (view.search) query.search = view.search
  if (view.sort) query.sort = view.sort
  const from = created_from && startOf(created_from, zone)
  const to = created_to && startOf(created_to, zone, 1)
  if (from) query.created_from = from
  if (to) query.created_to = new Date(Date.parse(to) - 1).toISOString()
  const equals = custom_field?.indexOf('=') ?? -1
  if (custom_field && equals > 0)
    query.custom_fields = { [custom_field.slice(0, equals).trim()]: custom_field.slice(equals + 1).trim() }
  return query
}

/** When a day begins in a zone, so many days later; undefined for what is no day, which anybody can write into an address. */
function startOf(date: string, zone: string, days = 0): string | undefined {
  const day_ms = Date.parse(`${date}T00:00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(day_ms)) return undefined
  const day = new Date(day_ms + days * 86_400_000).toISOString().slice(0, 10)
  return instantOf(`${day}T00:00`, zone)
}
