import { type Formats, useFormats } from '../app/formats.ts'
import { type Texts, useTexts } from '../texts/texts.ts'

type Side = Record<string, unknown> | null

/** One line of what a change changed. */
type Line = { label: string; from?: string; to?: string; added?: string; removed?: string }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The name of a deal's stage; what a contact has as its stage is free text and stays as it is. */
export const stageName = (stage: string, t: Texts): string =>
  (t.deals.stages as Record<string, string>)[stage] ?? stage

/** A value as people read it; ids of other records say nothing to them. */
export function readable(name: string, value: unknown, t: Texts, formats: Formats): string {
  if (value === null || value === undefined || value === '') return t.record.nothing
  if (typeof value === 'boolean') return value ? t.app.yes : t.app.no
  if (name === 'stage' && typeof value === 'string') return stageName(value, t)
  if (name === 'value' && typeof value === 'number') return formats.money(value)
  if (name === 'probability') return formats.percent(Number(value) / 100)
  if (typeof value === 'number') return formats.number(value)
  if (name.endsWith('_date')) return formats.date(String(value))
  if (name.endsWith('_at')) return formats.moment(String(value))
  return String(value)
}

/** What differs between the two sides of an update, a line for each field, tag list and custom field. */
export function linesOf(before: Side, after: Side, t: Texts, formats: Formats): Line[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name): Line[] => {
    const from = before?.[name]
    const to = after?.[name]
    const label = t.record.fields[name] ?? name
    if (name.endsWith('_id')) return [{ label }]
    if (Array.isArray(from) || Array.isArray(to)) {
      const old = (from ?? []) as string[]
      const current = (to ?? []) as string[]
      const added = current.filter((one) => !old.includes(one)).join(', ')
      const removed = old.filter((one) => !current.includes(one)).join(', ')
      return [{ label, ...(added && { added }), ...(removed && { removed }) }]
    }
    if (isObject(from) || isObject(to)) {
      const old = (from ?? {}) as Record<string, unknown>
      const current = (to ?? {}) as Record<string, unknown>
      return [...new Set([...Object.keys(old), ...Object.keys(current)])]
        .filter((key) => old[key] !== current[key])
        .map((key) => ({
          label: key,
          from: readable('', old[key], t, formats),
          to: readable('', current[key], t, formats),
        }))
    }
    return [{ label, from: readable(name, from, t, formats), to: readable(name, to, t, formats) }]
  })
}

/** The fields of a change: what each was and is. */
export function ChangedFields({ before, after }: { before: Side; after: Side }) {
  const t = useTexts()
  const formats = useFormats()
  return (
    <ul className="timeline-facts">
      {linesOf(before, after, t, formats).map(({ label, from, to, added, removed }) => (
        <li key={label}>
          <b>{label}</b>{' '}
          {[
            from !== undefined && to !== undefined && t.record.from_to(from, to),
            added && t.record.added(added),
            removed && t.record.removed(removed),
          ]
            .filter(Boolean)
            .join(', ')}
        </li>
      ))}
    </ul>
  )
}
