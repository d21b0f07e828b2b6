import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-booking.ts'
import { Soft } from '../ui/values.tsx'
import { type BookingPage, slotsQuery } from './booking.ts'
import { WhyOffered } from './why-offered.tsx'

/** The saved public page beside the editor, and its next free times. */
export function BookingPreview({ page }: { page: BookingPage }) {
  const t = useTexts()
  const { zone } = useFormats()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so those without a mouse have to get into it
    <section className="booking-preview" aria-label={t.booking.preview} tabIndex={0}>
      <h2>{t.booking.preview}</h2>
      {page.active ? (
        <>
          <p className="booking-hint hint">{t.booking.preview_hint}</p>
          {/* Without scripts and forms: the preview has no right of this app, and cannot book. */}
          <iframe
            key={page.updated_at}
            src={`/book/${page.slug}?${new URLSearchParams({ zone })}`}
            title={t.booking.preview_title({ title: page.title })}
            sandbox=""
          />
        </>
      ) : (
        <p className="booking-hint hint">{t.booking.preview_inactive}</p>
      )}
      <h2>{t.booking.slots}</h2>
      <Slots page={page} />
      <WhyOffered page_id={page.id} />
    </section>
  )
}

function Slots({ page }: { page: BookingPage }) {
  const t = useTexts()
  const formats = useFormats()
  const { data, error, refetch } = useQuery(slotsQuery(page.id))
  if (error) return <ProblemNote error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={96} />
  if (!data.length) return <Soft>{t.booking.no_slots}</Soft>
  const days = new Map<string, string[]>()
  for (const { start_at } of data) {
    const day = formats.day(start_at)
    days.set(day, [...(days.get(day) ?? []), formats.time(start_at)])
  }
  return (
    <>
      <p className="booking-hint hint">{t.calendar.zone({ zone: formats.zone })}</p>
      <dl className="booking-slots">
        {[...days].map(([day, times]) => (
          <div key={day}>
            <dt>{day}</dt>
            <dd className="numbers">
              {times.map((time) => (
                <span key={time}>{time}</span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
