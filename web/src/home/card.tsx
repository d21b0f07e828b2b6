import { Skeleton, Title } from '@mantine/core'
import { createContext, useContext, useId, useState } from 'react'
import type { Target } from '../app/addresses.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'

type Props = {
  title: string
  /** Beside the title, such as counts. */
  beside?: React.ReactNode
  /** The link to the full list. */
  more?: Target & { label: string }
  /** The grid area. */
  area: string
  waiting: boolean
  error: unknown
  onRetry: () => void
  children: React.ReactNode
}

/** Whether the cards are visible. */
export const HomeShown = createContext(false)

/**
 * A card of the home page. While it waits, it is as high as with all its rows. A card that was visible while it waited keeps that
 * height, so nothing moves when its rows arrive.
 */
export function Card({ title, beside, more, area, waiting, error, onRetry, children }: Props) {
  const id = useId()
  const shown = useContext(HomeShown)
  const [late, setLate] = useState(false)
  if (waiting && shown && !late) setLate(true)
  return (
    <section
      className={`home-card home-${area}`}
      aria-labelledby={id}
      aria-busy={waiting || undefined}
      data-late={late || undefined}
    >
      <header className="home-card-line">
        <Title order={2} id={id}>
          {title}
        </Title>
        <span className="home-beside hint">{beside}</span>
        {more && (
          <Link to={more.to} search={more.search} className="hint">
            {more.label}
          </Link>
        )}
      </header>
      {error ? <ProblemNote error={error} onRetry={onRetry} /> : waiting ? <Placeholder /> : children}
    </section>
  )
}

function Placeholder() {
  const t = useTexts()
  return (
    <div className="home-awaited" role="status" aria-label={t.app.loading}>
      {[70, 45, 60, 50, 35].map((width) => (
        <Skeleton key={width} height={12} width={`${width}%`} />
      ))}
    </div>
  )
}
