import { endOfDay, isDay, startOfDay } from '../../app/zones.ts'
import { type FilterField, readParts } from '../../ui/filter-value.ts'
import type { ListView } from '../../ui/list-view.ts'
import { readRelative } from '../../ui/relative-days.ts'

/** Rows per page of a list. */
const page_size = 50
/** The first page of a list without filters. */
export const first_page = { page: 1, per_page: page_size }

/**
 * The filters of a view for the API. Days of times begin and end in the person's time zone. Names of custom fields
 * are encoded, because the client does not encode names.
 */
export function filtersOf(
  filters: Readonly<Record<string, string>>,
  fields: readonly FilterField[],
  zone: string,
): Record<string, string> {
  const ends = fields.flatMap(({ kind, ends = [] }) => (kind === 'time' ? ends : []))
  const instant = (name: string, text: string) => {
    if (!isDay(text)) return text
    if (ends.some(([from]) => from === name)) return startOfDay(text, zone)
    return ends.some(([, to]) => to === name) ? endOfDay(text, zone) : text
  }
  const entries = Object.entries(filters)
  const has_words = entries.some(([, text]) => readParts(text).some(({ value }) => readRelative(value ?? '')))
  return {
    ...Object.fromEntries(entries.map(([name, text]) => [encodeURIComponent(name), instant(name, text)])),
    // For a person who follows the zone of the browser.
    ...(has_words && { time_zone: zone }),
  }
}

/** The API query of a list's view. */
export function queryOf(view: ListView, fields: readonly FilterField[], zone: string) {
  return {
    ...filtersOf(view.filters, fields, zone),
    ...(view.search && { search: view.search }),
    ...(view.sort && { sort: view.sort }),
    page: view.page,
    per_page: page_size,
  }
}
