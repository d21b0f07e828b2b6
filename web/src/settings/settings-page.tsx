import { Title } from '@mantine/core'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Page } from '../ui/page.tsx'
import { type SettingsEntry, useSettingsPages } from './settings-pages.ts'
import './settings.css'

/** All settings, in groups. */
export function SettingsPage() {
  const t = useTexts()
  const groups = useSettingsPages()
  return (
    <Page title={t.app.settings}>
      <div className="settings-index">
        {groups.map(({ name, label, pages }) => (
          <section key={name} aria-label={label}>
            <Title order={2}>{label}</Title>
            <div className="settings-cards">
              {pages.map((page) => (
                <Card key={page.to} {...page} />
              ))}
            </div>
          </section>
        ))}
      </div>
    </Page>
  )
}

function Card({ to, icon: PageIcon, label, text }: SettingsEntry) {
  const inside = (
    <>
      <PageIcon />
      <span>
        <strong>{label}</strong>
        {text}
      </span>
    </>
  )
  if (to === '/docs')
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
