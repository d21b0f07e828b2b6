import type { Schemas } from '../api/client.ts'
import type { RecordKind } from '../api/record-api.ts'
import { type Formats, useFormats } from '../app/formats.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { useLabels } from './kinds.ts'

type Side = Record<string, unknown> | null

/** The change of one field, as a sentence after its label. */
type Line = { label: string; text: string }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The actor, at the start of a sentence. */
export const whoOf = ({ kind, name }: Schemas['Actor'], t: Texts): string =>
  name ?? t.record.actors[kind] ?? kind

/** The label of an enum value. Free text, such as a contact's stage, is unchanged. */
function choiceName(name: string, value: string, t: Texts): string {
  const names: Record<string, Record<string, string>> = {
    stage: t.deals.stages,
    status: { ...t.deals.statuses, ...t.calendar.statuses },
    type: t.activities.types,
  }
  return new Map(Object.entries(names[name] ?? {})).get(value) ?? value
}

/** The name of a deal's stage. */
export const stageName = (stage: string, t: Texts): string => choiceName('stage', stage, t)

/** A value as people read it. */
export function readable(name: string, value: unknown, t: Texts, formats: Formats): string {
  if (isEmpty(value)) return t.record.nothing
  if (typeof value === 'boolean') return value ? t.app.yes : t.app.no
  // In full, so that a change of the fourth decimal shows.
  if (name === 'value' && typeof value === 'number') return formats.exactMoney(value)
  if (name === 'probability') return formats.percent(Number(value) / 100)
  if (typeof value === 'number') return formats.number(value)
  if (name.endsWith('_date')) return formats.date(String(value))
  if (name.endsWith('_at')) return formats.moment(String(value))
  return choiceName(name, String(value), t)
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

function describeValues(name: string, from: unknown, to: unknown, t: Texts, formats: Formats): string {
  const read = (value: unknown) => readable(name, value, t, formats)
  if (isEmpty(from)) return t.record.set_to(read(to))
  if (isEmpty(to)) return t.record.cleared(read(from))
  return t.record.from_to(read(from), read(to))
}

function describeTags(from: string[], to: string[], t: Texts): string {
  const added = to.filter((one) => !from.includes(one)).join(', ')
  const removed = from.filter((one) => !to.includes(one)).join(', ')
  return [added && t.record.added(added), removed && t.record.removed(removed)].filter(Boolean).join(', ')
}

type LabelOf = (field: string) => string

/** The differences of an update: a line per field and per custom field. */
function linesOf(before: Side, after: Side, labelOf: LabelOf, t: Texts, formats: Formats): Line[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name): Line[] => {
    const from = before?.[name]
    const to = after?.[name]
    const label = labelOf(name)
    if (name.endsWith('_id')) return [{ label, text: t.record.exchanged }]
    if (Array.isArray(from) || Array.isArray(to))
      return [{ label, text: describeTags((from ?? []) as string[], (to ?? []) as string[], t) }]
    if (!isObject(from) && !isObject(to)) return [{ label, text: describeValues(name, from, to, t, formats) }]
    const old = isObject(from) ? from : {}
    const current = isObject(to) ? to : {}
    return [...new Set([...Object.keys(old), ...Object.keys(current)])]
      .filter((key) => old[key] !== current[key])
      .map((key) => ({ label: key, text: describeValues('', old[key], current[key], t, formats) }))
  })
}

/** The changed fields: old and new value. */
export function ChangedFields({ kind, before, after }: { kind: RecordKind; before: Side; after: Side }) {
  const labelOf = useLabels(kind)
  const t = useTexts()
  const formats = useFormats()
  return (
    <ul className="timeline-facts">
      {linesOf(before, after, labelOf, t, formats).map(({ label, text }) => (
        <li key={label}>
          <b>{label}</b> {text}
        </li>
      ))}
    </ul>
  )
}
