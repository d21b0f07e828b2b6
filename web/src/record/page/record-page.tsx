import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ComponentType, useEffect } from 'react'
import { isGone } from '../../api/client.ts'
import type { KindPath } from '../../app/addresses.ts'
import { NotFound } from '../../app/fallback-pages.tsx'
import { useNavigate } from '../../app/link.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { isId, untilShown } from '../../ui/list-view.ts'
import { forgetEdit } from '../fields/edit-first.ts'
import type { RecordProps } from '../kinds.ts'
import { AwaitedRecord } from './awaited-record.tsx'

/** The page of the record whose id the address has. `list` is shown when the record is deleted. */
export function RecordPage({ list, Record }: { list: KindPath; Record: ComponentType<RecordProps> }) {
  const { id } = useParams({ strict: false }) as { id?: string }
  const navigate = useNavigate()
  if (!isId(id)) return <NotFound />
  return <Record key={id} id={Number(id)} onLeave={() => untilShown(navigate({ to: list }))} />
}

type ReadProps<Found, Key extends QueryKey> = {
  query: UseQueryOptions<Found, Error, Found, Key>
  children: (found: Found) => React.ReactNode
  /** The page in place of a record that was merged into another one. */
  merged?: (into: number) => React.ReactNode
}

/** Renders a record when it is read; until then a placeholder, and "not found" for a 404. */
export function ReadRecord<Found, Key extends QueryKey>({ query, children, merged }: ReadProps<Found, Key>) {
  const { data, error, refetch } = useQuery(query)
  const fails = error !== null && (data === undefined || isGone(error))
  useEffect(() => {
    if (fails) forgetEdit()
  }, [fails])
  if (isGone(error))
    return error.merged_into_id !== null && merged ? merged(error.merged_into_id) : <NotFound />
  if (data !== undefined) return children(data)
  return error ? <ProblemNote error={error} onRetry={() => refetch()} /> : <AwaitedRecord />
}
