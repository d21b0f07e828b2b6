import { Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTexts } from '../texts/texts.ts'
import { Page } from '../ui/page.tsx'
import { type Place, useSettingsPlaces } from './places.ts'
import './settings.css'

/** Everything that can be set, in groups. */
export function SettingsPage() {
  const t = useTexts()
  const groups = useSettingsPlaces()
  return (
    <Page title={t.app.settings}>
      <div className="settings-index">
        {groups.map(({ name, label, places }) => (
          <section key={name} aria-label={label}>
            <Title order={2} fz={14}>
              {label}
            </Title>
            <div className="settings-cards">
              {places.map((place) => (
                <Card key={place.to} {...place} />
              ))}
            </div>
          </section>
        ))}
      </div>
    </Page>
  )
}

function Card({ to, icon: PlaceIcon, label, text, away }: Place) {
  const inside = (
    <>
      <PlaceIcon />
      <span>
        <strong>{label}</strong>
        {text}
      </span>
    </>
  )
  // The documentation is a page of its own, outside the app.
  if (away)
    return (
      <a className="settings-card" href={to}>
        {inside}
      </a>
    )
  return (
    <Link className="settings-card" to={to}>
      {inside}
    </Link>
  )
}
