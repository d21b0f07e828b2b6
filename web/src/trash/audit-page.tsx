import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allOf } from '../api/all.ts'
import { answerOf, api } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { endOfDay, isDay, startOfDay } from '../app/zones.ts'
import { useKinds } from '../record/kinds.ts'
import { growing, usePages } from '../record/pages.ts'
import { useTexts } from '../texts/with-trash.ts'
import { Empty } from '../ui/empty.tsx'
import type { FilterField } from '../ui/filter-value.ts'
import { type Filter, useListFilters } from '../ui/filters.tsx'
import { type ListView, useListView } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { type AuditEntry, AuditRow } from './audit-row.tsx'
import { useKindNames } from './kind-names.ts'
import { linksOf, namesOf } from './record-links.ts'
import './audit.css'

const choice = (name: string): FilterField => ({ name, kind: 'choice', single: true })
const by = {
  kind: choice('kind'),
  record_id: { name: 'record_id', single: true },
  action: choice('action'),
  actor_id: choice('actor_id'),
  time: { name: 'time', kind: 'time', single: true, ends: [['from', 'to']] },
} as const satisfies Record<string, FilterField>
const fields = Object.values(by)

/** The audit log, newest first. */
export function AuditPage() {
  const t = useTexts()
  const view = useListView(fields)
  const filtering = useListFilters({ view, filters: useFilters(view), search: false })
  if (useMay()('audit_log:read'))
    return (
      <Page title={t.app.audit_log} middle={filtering.line} below={filtering.chips}>
        <Log view={view} />
      </Page>
    )
  return (
    <Page title={t.app.audit_log}>
      <Empty text={t.trash.log_forbidden} />
    </Page>
  )
}

function useFilters(view: ListView): Filter[] {
  const t = useTexts()
  const actors = useActors()
  const kind_names = useKindNames()
  const choices = (texts: Record<string, string>) =>
    Object.entries(texts).map(([value, label]) => ({ value, label }))
  return [
    { ...by.kind, label: t.trash.kind, options: choices(kind_names) },
    // An id needs its kind.
    ...(view.filters.kind ? [{ ...by.record_id, label: t.trash.record_id }] : []),
    { ...by.action, label: t.trash.action, options: choices(t.trash.actions) },
    { ...by.actor_id, label: t.trash.actor, options: actors },
    { ...by.time, label: t.trash.time },
  ]
}

/** The members and keys of the workspace, by name. */
function useActors() {
  const may = useMay()
  const { data: members = [] } = useQuery({
    queryKey: ['members', 'names'],
    queryFn: ({ signal }) =>
      allOf((query) => answerOf(api.GET('/api/v1/members', { params: { query }, signal }))),
    enabled: may('members:read'),
  })
  const { data: keys = [] } = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: ({ signal }) =>
      allOf((query) => answerOf(api.GET('/api/v1/keys', { params: { query }, signal }))),
    enabled: may('keys:read'),
  })
  return [...members, ...keys].map(({ id, name }) => ({ value: id, label: name }))
}

function Log({ view }: { view: ListView }) {
  const t = useTexts()
  const { zone } = useFormats()
  const kinds = useKinds()
  const { kind, record_id, action, actor_id, from, to } = view.filters
  const query = {
    ...(kind && { kind: kind as 'contacts' }),
    ...(kind && record_id && { record_id }),
    ...(action && { action }),
    ...(actor_id && { actor_id }),
    ...(from && isDay(from) && { from: startOfDay(from, zone) }),
    ...(to && isDay(to) && { to: endOfDay(to, zone) }),
  }
  const { data, error, refetch, more, loading_more, readMore, isPlaceholderData } = usePages({
    queryKey: ['audit', query],
    read: (cursor, nth, signal) =>
      answerOf(
        api.GET('/api/v1/audit-log', {
          params: { query: { ...query, details: 'true', cursor, per_page: growing(50, nth) } },
          signal,
        }),
      ),
    keeps: true,
  })
  if (error && !data) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Placeholder />
  const entries = data.pages.flatMap((page) => page.data) as AuditEntry[]
  const nameOf = namesOf(entries)
  const toOf = linksOf(entries, kinds)
  if (!entries.length)
    return <Empty text={t.trash.log_empty} action={t.app.clear_filters} onAction={view.clearFilters} />
  return (
    <>
      <ol className="audit" aria-label={t.trash.log} aria-busy={isPlaceholderData}>
        {entries.map((entry) => (
          <AuditRow key={entry.id} entry={entry} name={nameOf(entry)} to={toOf(entry)} />
        ))}
      </ol>
      {more && (
        <div className="audit-more">
          <Button variant="default" loading={loading_more} onClick={readMore}>
            {t.trash.older}
          </Button>
        </div>
      )}
    </>
  )
}

function Placeholder() {
  const t = useTexts()
  return (
    <div className="audit" role="status" aria-label={t.app.loading}>
      {Array.from({ length: 12 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows that are only awaited have nothing else
        <div key={row} className="audit-line">
          <Skeleton height={12} width={`${45 + ((row * 7) % 35)}%`} ml={36} />
        </div>
      ))}
    </div>
  )
}
