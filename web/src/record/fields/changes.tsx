import type { Schemas } from '../../api/client.ts'
import type { RecordKind } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { useSession } from '../../app/session.ts'
import { type Texts, useTexts } from '../../texts/texts.ts'
import { visible } from '../../ui/visible.ts'
import { type Kind, useKinds, useLabels } from '../kinds.ts'
import { fits, useDefinitions } from './definitions.ts'
import { useOwnerName } from './members.ts'

type Side = Record<string, unknown> | null

/** The change of one field, as a sentence after its label. */
type Line = { name: string; label: string; text: string }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The actor, at the start of a sentence. */
export const whoOf = ({ kind, name }: Schemas['Actor'], t: Texts): string =>
  (name && visible(name)) ?? t.record.actors[kind] ?? kind

/** Says who changed a value while this person edits it. */
export function useChangedMeanwhile(): (by: Schemas['Actor'] | null, at: string) => string {
  const t = useTexts()
  const formats = useFormats()
  const { user } = useSession()
  return (by, at) =>
    t.record.conflict_by({
      who: by ? whoOf(by, t) : t.record.actors.person,
      when: formats.relative(at),
      self: by?.id === user.id,
    })
}

/** The label of an enum value. Free text, such as a contact's stage, is unchanged. */
function choiceName(name: string, value: string, t: Texts): string {
  const names: Record<string, Record<string, string>> = {
    stage: t.deals.stages,
    status: { ...t.deals.statuses, ...t.calendar.statuses },
    type: t.activities.types,
    assignment: t.booking?.assignments ?? {},
    stale_calendars: t.booking?.stale ?? {},
  }
  return new Map(Object.entries(names[name] ?? {})).get(value) ?? visible(value)
}

/** The name of a deal's stage. */
export const stageName = (stage: string, t: Texts): string => choiceName('stage', stage, t)

type Read = (name: string, value: unknown) => string

const custom = 'custom_fields.'

/** The fields of a side, with each custom field as a field of its own. */
export const withCustomFields = (side: Side | undefined): Side | undefined =>
  side &&
  Object.fromEntries(
    Object.entries(side).flatMap(([name, value]) =>
      name === 'custom_fields' && isObject(value)
        ? Object.entries(value).map(([key, one]) => [custom + key, one])
        : [[name, value]],
    ),
  )

/** The labels of a kind's fields, also of custom fields, such as `custom_fields.region`. */
export function useFieldLabels(kind: string): (field: string) => string {
  const labelOf = useLabels(kind)
  const definitions = useDefinitions(kind)
  return (field) => {
    if (!field.startsWith(custom)) return labelOf(field)
    const key = field.slice(custom.length)
    return definitions.find((one) => one.key === key)?.label ?? key
  }
}

/** The values of a kind's fields as people read them. `kind` may also be one without a page. */
export function useReadable(kind: string): Read {
  const t = useTexts()
  const formats = useFormats()
  const definitions = useDefinitions(kind)
  const ownerNameOf = useOwnerName()
  const { amounts = [] }: Pick<Kind, 'amounts'> = useKinds()[kind as RecordKind] ?? {}
  return (name, value) => {
    if (isEmpty(value)) return t.record.nothing
    if (name === 'owner_id' || name === 'user_id') return ownerNameOf(String(value)) ?? String(value)
    if (typeof value === 'boolean') return value ? t.app.yes : t.app.no
    // In full, so that a change of the fourth decimal shows.
    if (amounts.includes(name) && typeof value === 'number') return formats.exactMoney(value)
    if (name === 'probability') return formats.percent(Number(value) / 100)
    if (typeof value === 'number') return formats.number(value)
    if (name.startsWith(custom)) {
      const definition = definitions.find(({ key }) => name === custom + key)
      const day = definition?.type === 'date' && fits(definition, value)
      return day ? formats.date(String(value)) : visible(String(value))
    }
    if (name.endsWith('_date')) return formats.date(String(value))
    if (name.endsWith('_at')) return formats.moment(String(value))
    return choiceName(name, String(value), t)
  }
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

function describeValues(name: string, from: unknown, to: unknown, read: Read, t: Texts): string {
  if (isEmpty(from)) return t.record.set_to({ value: read(name, to) })
  if (isEmpty(to)) return t.record.cleared({ value: read(name, from) })
  return t.record.from_to({ from: read(name, from), to: read(name, to) })
}

function describeTags(from: string[], to: string[], t: Texts): string {
  const added = to.filter((one) => !from.includes(one)).join(', ')
  const removed = from.filter((one) => !to.includes(one)).join(', ')
  return [added && t.record.added({ what: added }), removed && t.record.removed({ what: removed })]
    .filter(Boolean)
    .join(', ')
}

type LabelOf = (field: string) => string

/** The differences of an update: a line per field and per custom field. */
function linesOf(before: Side, after: Side, labelOf: LabelOf, read: Read, t: Texts): Line[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name): Line[] => {
    const from = before?.[name]
    const to = after?.[name]
    const label = labelOf(name)
    if (name.endsWith('_id') && name !== 'owner_id') return [{ name, label, text: t.record.exchanged }]
    if (Array.isArray(from) || Array.isArray(to))
      return [{ name, label, text: describeTags((from ?? []) as string[], (to ?? []) as string[], t) }]
    if (!isObject(from) && !isObject(to))
      return [{ name, label, text: describeValues(name, from, to, read, t) }]
    const old = isObject(from) ? from : {}
    const current = isObject(to) ? to : {}
    return [...new Set([...Object.keys(old), ...Object.keys(current)])]
      .filter((key) => old[key] !== current[key])
      .map((key) => ({
        name: `${custom}${key}`,
        label: labelOf(`${custom}${key}`),
        text: describeValues(`${custom}${key}`, old[key], current[key], read, t),
      }))
  })
}

/** The changed fields: old and new value. */
export function ChangedFields({ kind, before, after }: { kind: RecordKind; before: Side; after: Side }) {
  const labelOf = useFieldLabels(kind)
  const read = useReadable(kind)
  const t = useTexts()
  return (
    <ul className="timeline-facts">
      {linesOf(before, after, labelOf, read, t).map(({ name, label, text }) => (
        <li key={name}>
          <b>{label}</b> {text}
        </li>
      ))}
    </ul>
  )
}
