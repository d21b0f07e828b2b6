import { HoverCard, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type RecordKind, recordApi } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { type Kind, useKind } from './kinds.ts'
import './linked.css'

// Lists show the same records many times.
const kept_ms = 60_000
// So that a mouse that moves across a list opens no card.
const open_ms = 400

function useRecord(kind: RecordKind, id: number | undefined) {
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

/** A link to a record. On hover and keyboard focus, a card shows more of it. */
export function RecordLink({ kind, id, name, className = 'quiet-link' }: LinkProps) {
  const { path } = useKind(kind)
  return (
    <HoverCard
      role="tooltip"
      interactive
      openDelay={open_ms}
      position="bottom-start"
      shadow="md"
      withinPortal
    >
      <HoverCard.Target>
        <Link to={`${path}/${id}`} className={className}>
          {name ?? <RecordName kind={kind} id={id} />}
        </Link>
      </HoverCard.Target>
      <HoverCard.Dropdown className="record-card">
        <Card kind={kind} id={id} />
      </HoverCard.Dropdown>
    </HoverCard>
  )
}

// Mounted while the card is open, so nothing is read before.
function Card({ kind, id }: { kind: RecordKind; id: number }) {
  const t = useTexts()
  const formats = useFormats()
  const { nameOf, lines }: Kind = useKind(kind)
  const record = useRecord(kind, id)
  if (!record)
    return (
      <>
        <Skeleton height={12} width={120} my={4} />
        <Skeleton height={12} width={160} my={8} />
      </>
    )
  return (
    <>
      <strong>{nameOf(record)}</strong>
      {lines(record, t, formats)
        .filter(Boolean)
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing but their position
          <span key={index}>{line}</span>
        ))}
    </>
  )
}
