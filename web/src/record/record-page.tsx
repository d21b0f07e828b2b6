import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { Problem } from '../api/client.ts'
import { NotFound } from '../app/places.tsx'
import { ProblemNote } from '../app/problems.tsx'
import { isId, shown } from '../ui/list-view.ts'
import type { RecordProps } from './kinds.ts'
import { AwaitedRecord } from './record-layout.tsx'

/** The page of the record whose id the address has. `list` is shown when the record is deleted. */
export function RecordPage({ list, Record }: { list: string; Record: ComponentType<RecordProps> }) {
  const { id } = useParams({ strict: false }) as { id?: string }
  const navigate = useNavigate()
  if (!isId(id)) return <NotFound />
  return <Record key={id} id={Number(id)} onLeave={() => shown(navigate({ to: list }))} />
}

type ReadProps<Found, Key extends QueryKey> = {
  query: UseQueryOptions<Found, Error, Found, Key>
  children: (found: Found) => React.ReactNode
}

/** A record as soon as it is read: before, the shape that it will have; when there is none, that there is nothing. */
export function ReadRecord<Found, Key extends QueryKey>({ query, children }: ReadProps<Found, Key>) {
  const { data, error, refetch } = useQuery(query)
  if (error instanceof Problem && error.status === 404) return <NotFound />
  if (data !== undefined) return children(data)
  return error ? <ProblemNote error={error} onRetry={() => refetch()} /> : <AwaitedRecord />
}
