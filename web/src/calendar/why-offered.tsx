import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { instantOf } from '../app/zones.ts'
import { useOwnerName } from '../record/fields/members.ts'
import { useTexts } from '../texts/with-booking.ts'
import { MomentInput } from '../ui/inputs.tsx'
import { explainQuery, type SlotReason } from './booking.ts'

/** Asks for a time, and says why the saved page offers it or does not. Times are in the person's zone. */
export function WhyOffered({ page_id }: { page_id: number }) {
  const t = useTexts()
  const { zone } = useFormats()
  const [wall, setWall] = useState<string | null>(null)
  const { data, error, refetch } = useQuery(explainQuery(page_id, wall && instantOf(wall, zone)))
  const reasons = data?.reasons ?? []
  const answer = useRef<HTMLDivElement>(null)
  const answered = useRef<string | null>(null)
  // The question may be at the end of the screen. An answer that is read again does not scroll.
  useEffect(() => {
    if (!data || answered.current === wall) return
    answered.current = wall
    answer.current?.scrollIntoView({ block: 'nearest' })
  }, [data, wall])
  return (
    <div className="booking-why">
      <MomentInput label={t.booking.why} value={wall} onChange={setWall} />
      {error && <ProblemNote error={error} onRetry={refetch} />}
      <div role="status" ref={answer}>
        {data && (data.free ? t.booking.offered : t.booking.not_offered)}
        {reasons.length > 0 && (
          <ul>
            {reasons.map((reason) => (
              <li key={JSON.stringify(reason)}>
                <Reason {...reason} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

function Reason({ code, user_id, record, from, to }: SlotReason) {
  const t = useTexts()
  const formats = useFormats()
  const nameOf = useOwnerName()
  const told = [
    t.booking.reasons[code],
    user_id && nameOf(user_id),
    from && to && `${formats.shortMoment(from)} – ${formats.shortMoment(to)}`,
  ]
  const text = told.filter(Boolean).join(' · ')
  return record ? <Link to={`/calendar/${record.id}`}>{text}</Link> : text
}
