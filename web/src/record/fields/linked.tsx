import { useQuery } from '@tanstack/react-query'
import { type RecordKind, recordApi } from '../../api/record-api.ts'
import { Link } from '../../app/link.ts'
import { visible } from '../../ui/visible.ts'
import { type Kind, useKind } from '../kinds.ts'

// Lists show the same records many times.
const kept_ms = 60_000

/** A record that is named somewhere. */
export function useRecord(kind: RecordKind, id: number | undefined) {
  const { data } = useQuery({
    ...recordApi(kind).query(id ?? 0),
    enabled: id !== undefined,
    staleTime: kept_ms,
  })
  return data
}

/** The name of a record; undefined while it is read, or if it was deleted. */
export function useRecordName(kind: RecordKind, id: number | undefined): string | undefined {
  const { nameOf }: Kind = useKind(kind)
  const record = useRecord(kind, id)
  return record && nameOf(record)
}

/** The name of a record as an element; without a name, its id. */
export function RecordName({ kind, id }: { kind: RecordKind; id: number }) {
  return useRecordName(kind, id) ?? `#${id}`
}

type LinkProps = {
  kind: RecordKind
  id: number
  /** An unknown name is read. */
  name?: string | undefined
  className?: string
}

/** A link to a record. On hover and keyboard focus, the card of the frame shows more of it. */
export function RecordLink({ kind, id, name, className = 'quiet-link' }: LinkProps) {
  const { path } = useKind(kind)
  return (
    <Link to={`${path}/${id}`} className={className} data-card={`${kind} ${id}`}>
      {name === undefined ? <RecordName kind={kind} id={id} /> : visible(name)}
    </Link>
  )
}
