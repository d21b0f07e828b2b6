import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Aborted } from '../../api/client.ts'
import { type RecordKind, type RowOf, recordApi } from '../../api/record-api.ts'
import { Link } from '../../app/link.ts'
import { loaded } from '../../app/loading.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { Soft } from '../../ui/values.tsx'
import { OwnerAvatar } from '../fields/owner.tsx'
import { type Kind, type Linked, type Related, useAllKinds, useKind, useNames } from '../kinds.ts'
import type { RecordTab } from './record-layout.tsx'
import './related.css'

// The list page has the rest.
const per_page = 10

/** The tabs with records that refer to this one. `linked`: what a new one starts with. */
export function useRelatedTabs(owner: RecordKind, id: number, linked: Linked): RecordTab[] {
  const { noun } = useKind(owner)
  const may = useMay()
  const t = useTexts()
  const filters = { [`${noun}_id`]: id }
  const kinds = useAllKinds().filter(
    ({ kind, related }) => related?.to.includes(owner) && may(`${kind}:read`),
  )
  const read = useQueries({ queries: kinds.map((kind) => relatedQuery(kind, filters)) })
  return kinds.map(({ kind }, at) => ({
    id: kind,
    label: t.kinds[kind].many,
    count: read[at]?.data?.meta.total,
    content: <RelatedRecords kind={kind} filters={filters} linked={linked} />,
  }))
}

/** The first of the records that refer to another one. */
const relatedQuery = ({ kind, related }: Kind, filters: Record<string, number>) => {
  const sort = related?.sort
  return {
    queryKey: [kind, 'related', filters],
    queryFn: ({ signal }: Aborted) =>
      recordApi(kind).list({ ...filters, ...(sort && { sort }), per_page }, signal),
  }
}

/** The records of a tab if they are all there; null if the tab shows only some; undefined while they are read. */
export function useAllRelated<Of extends RecordKind>(kind: Of, filters: Record<string, number>) {
  const { data } = useQuery(relatedQuery(useKind(kind), filters))
  if (!data) return undefined
  return (data.meta.total ?? 0) > data.data.length ? null : (data.data as RowOf<Of>[])
}

type Props = { kind: RecordKind; filters: Record<string, number>; linked: Linked }
type Row = RowOf<RecordKind> & { id: number; owner_id?: string | null }

/** Records that refer to another one: the first ten, a link to all, and a create button. */
function RelatedRecords({ kind, filters, linked }: Props) {
  const t = useTexts()
  const names = useNames(kind)
  const may = useMay()
  const known: Kind = useKind(kind)
  const { path, related } = known
  const { address, load } = related as NonNullable<Kind['related']>
  // Null until first opened. Then the dialog stays mounted, so that it can return the focus.
  const [creating, setCreating] = useState<boolean | null>(null)
  const rows = useQuery({ ...relatedQuery(known, filters), placeholderData: keepPreviousData })
  const look = useQuery({
    queryKey: ['look', kind],
    queryFn: () => loaded(load() as Promise<Related<RecordKind>>),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const failed = [rows, look].find(({ error }) => error)
  if (failed) return <ProblemNote error={failed.error} onRetry={() => failed.refetch()} />
  const found = rows.data?.data as Row[] | undefined
  const total = rows.data?.meta.total ?? 0
  const { row, Summary, Create } = look.data ?? {}
  const creates = Create && may(`${kind}:write`)
  const owner = Object.entries(filters).map(([name, id]) => [name, String(id)])
  return (
    <>
      <Group justify="space-between" mih={30} gap="sm">
        <Text size="sm" c="dimmed" className="numbers">
          {Summary && <Summary filters={filters} />}
        </Text>
        {creates && (
          <Button variant="default" leftSection={<PlusIcon size={14} />} onClick={() => setCreating(true)}>
            {names.create}
          </Button>
        )}
      </Group>
      {!(found && row) && (
        <Stack gap="md" mt="md" aria-busy>
          <Skeleton height={14} width="60%" />
          <Skeleton height={14} width="45%" />
        </Stack>
      )}
      {found?.length === 0 && <Soft>{names.none}</Soft>}
      <ul className="related" aria-label={names.many}>
        {row &&
          found?.map((one) => (
            <li key={one.id}>
              {row(one)}
              {one.owner_id && <OwnerAvatar kind={kind} id={one.owner_id} />}
            </li>
          ))}
      </ul>
      {total > per_page && (
        <Button
          component={Link}
          to={path}
          search={{ ...address, ...Object.fromEntries(owner) }}
          variant="subtle"
          mt="sm"
        >
          {t.record.show_all({ n: total })}
        </Button>
      )}
      {creates && creating !== null && (
        <Create opened={creating} onClose={() => setCreating(false)} initial={linked} />
      )}
    </>
  )
}

/** A row of a related list: link, detail below, value on the right. */
export function RelatedRow(props: {
  lead?: ReactNode
  link: ReactNode
  detail?: ReactNode
  side?: ReactNode
  /** Struck through. */
  done?: boolean
}) {
  const { lead, link, detail, side, done = false } = props
  return (
    <>
      {lead}
      <div className={done ? 'related-main related-done' : 'related-main'}>
        {link}
        <div className="related-detail">{detail}</div>
      </div>
      {side && <div className="related-side">{side}</div>}
    </>
  )
}
