import { ActionIcon, Skeleton } from '@mantine/core'
import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import type { Target } from '../app/addresses.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useFieldLabels, useReadable, whoOf, withCustomFields } from '../record/fields/changes.tsx'
// The labels of a booking page's fields are those of its form.
import '../texts/with-booking.ts'
import { place, type Texts, useTexts } from '../texts/with-trash.ts'
import { Ago } from '../ui/values.tsx'

import { useKindsInSentence } from './kind-names.ts'

export type AuditEntry = Schemas['ListedAuditEntry']

/** An audit entry as a sentence: who did what to which record, when. The fields unfold below. */
export function AuditRow({ entry, name, to }: { entry: AuditEntry; name: string; to: Target | null }) {
  const t = useTexts()
  const names = useKindsInSentence()
  const id = useId()
  const [open, setOpen] = useState(false)
  const { actor, action, kind, occurred_at } = entry
  const who = whoOf(actor, t)
  // A session has no name and no page.
  const has_name = kind !== 'sessions'
  const { actions, of_sessions } = t.trash
  const done = actions[action as keyof typeof actions] ?? action
  const without_object = of_sessions[action as keyof typeof of_sessions]
  const [before = '', after = ''] = (
    has_name
      ? t.trash.sentence({ who, action: done, record: place })
      : (without_object?.({ who }) ?? t.trash.of_session({ who, action: done }))
  )
    .split(place)
    .map((part) => part.trim())
  const named = t.trash.record_named({ kind: names[kind] ?? kind, name })
  return (
    <li className="audit-row">
      <div className="audit-line">
        <ActionIcon
          size="sm"
          aria-label={`${t.trash.show_change}: ${before} ${has_name ? named : ''} ${after}`}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronDownIcon /> : <ChevronRightIcon />}
        </ActionIcon>
        <span className="audit-text">
          {has_name ? (
            <>
              {before} {to ? <Link {...to}>{named}</Link> : <b>{named}</b>} {after}
            </>
          ) : (
            before
          )}
        </span>
        <span className="audit-at">
          <Ago at={occurred_at} />
        </span>
      </div>
      <div id={id} hidden={!open} className="audit-sides">
        {open && <Sides entry={entry} />}
      </div>
    </li>
  )
}

function Sides({ entry }: { entry: AuditEntry }) {
  const t = useTexts()
  const formats = useFormats()
  const { id, request_id, kind, record_id, occurred_at } = entry
  // Lists omit long sides.
  const labelOf = useFieldLabels(kind)
  const read = useReadable(kind)
  const incomplete = entry.before === undefined || entry.after === undefined
  const whole = useQuery({
    queryKey: ['audit', 'entry', id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/audit-log/{id}', { signal, params: { path: { id } } })),
    enabled: incomplete,
  })
  const sides = whole.data ?? entry
  const before = withCustomFields(sides.before)
  const after = withCustomFields(sides.after)
  const differs = (name: string) =>
    !before || !after || JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(differs)
  return (
    <>
      {incomplete && !whole.data ? (
        whole.error ? (
          <ProblemNote error={whole.error} onRetry={whole.refetch} />
        ) : (
          <Skeleton h={40} />
        )
      ) : names.length === 0 ? (
        <p className="audit-soft">{t.trash.no_sides}</p>
      ) : (
        <div className="audit-scroll">
          <table className="audit-table" aria-label={t.trash.show_change}>
            <thead>
              <tr>
                <th scope="col">{t.trash.field}</th>
                {before && <th scope="col">{t.trash.before}</th>}
                {after && <th scope="col">{t.trash.after}</th>}
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{labelOf(name)}</th>
                  {before && <td className="soft">{shown(name, before[name], read, t)}</td>}
                  {after && <td className="audit-after">{shown(name, after[name], read, t)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="audit-soft">
        {formats.exact(occurred_at)}
        {request_id && ` · ${t.trash.request} ${request_id}`}
        {' · '}
        <Link to="/audit-log" search={{ kind, record_id: String(record_id) }}>
          {t.trash.only_this}
        </Link>
      </p>
    </>
  )
}

/** A value as text; lists comma-separated, objects as key: value. */
function shown(name: string, value: unknown, read: ReturnType<typeof useReadable>, t: Texts): string {
  if (value === undefined) return ''
  if (Array.isArray(value))
    return value.map((one) => shownPart(name, one, read)).join(', ') || t.record.nothing
  if (typeof value === 'object' && value !== null)
    return (
      Object.entries(value)
        .map(([key, one]) => `${key}: ${shownPart(key, one, read)}`)
        .join(', ') || t.record.nothing
    )
  // Ids are not formatted as numbers.
  if (name === 'id' || name.endsWith('_id')) return value === null ? t.record.nothing : String(value)
  return read(name, value)
}

/** A value within a list or an object. */
function shownPart(key: string, value: unknown, read: ReturnType<typeof useReadable>): string {
  if (Array.isArray(value)) return value.map((one) => shownPart(key, one, read)).join('; ')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, one]) => `${name} ${shownPart(name, one, read)}`)
      .join(' ')
  return key === 'user_id' ? read(key, value) : String(value)
}
