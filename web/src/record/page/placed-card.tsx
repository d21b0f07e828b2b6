import { Skeleton } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { useTexts } from '../../texts/texts.ts'
import { useRecord } from '../fields/linked.tsx'
import { type Kind, useKind } from '../kinds.ts'
import type { Shown } from './record-card.tsx'

const gap = 8

/** A card below its link, or above it where there is no room. */
export function PlacedCard({ id, shown: { link, kind, id: record_id } }: { id: string; shown: Shown }) {
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    function place() {
      if (!card.current) return
      const { left, top, bottom } = link.getBoundingClientRect()
      const { offsetWidth, offsetHeight, style } = card.current
      const fits = bottom + gap + offsetHeight <= window.innerHeight
      style.left = `${Math.max(gap, Math.min(left, window.innerWidth - offsetWidth - gap))}px`
      style.top = `${fits ? bottom + gap : Math.max(gap, top - gap - offsetHeight)}px`
    }
    place()
    // The card grows when its record is there.
    const growing = new ResizeObserver(place)
    if (card.current) growing.observe(card.current)
    return () => growing.disconnect()
  }, [link])
  return (
    <div ref={card} id={id} role="tooltip" className="record-card">
      <Content kind={kind} id={record_id} />
    </div>
  )
}

// Mounted while the card is open, so nothing is read before.
function Content({ kind, id }: { kind: RecordKind; id: number }) {
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
