import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Problem } from '../api/client.ts'
import { NotFound } from '../app/places.tsx'
import { ProblemNote } from '../app/problems.tsx'
import { isId, shown } from '../ui/list-view.ts'
import { AwaitedRecord } from './record-layout.tsx'

type PageProps = {
  /** The list that is shown when the record is deleted. */
  list: string
  children: (id: number, leave: () => Promise<unknown>) => React.ReactNode
}

/** The page of the record whose id the address has. */
export function RecordPage({ list, children }: PageProps) {
  const { id } = useParams({ strict: false }) as { id?: string }
  const navigate = useNavigate()
  if (!isId(id)) return <NotFound />
  return children(Number(id), () => shown(navigate({ to: list })))
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
