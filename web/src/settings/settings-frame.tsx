import { Link, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/texts.ts'
import { ByApi } from '../ui/by-api.tsx'
import { Page } from '../ui/page.tsx'
import { useSettingsPlaces } from './places.ts'
import './settings.css'

type Props = {
  title: string
  count?: number | undefined
  middle?: React.ReactNode
  actions?: React.ReactNode
  /** The call of the API that does what this page does. */
  api?: React.ComponentProps<typeof ByApi>
  /** For tables: the content has the whole height, and scrolls by itself. */
  whole?: boolean
  children: React.ReactNode
}

/** A page of the settings: beside it (on a phone above it) the way to the others, at its foot its call of the API. */
export function SettingsFrame({ title, count, middle, actions, api, whole = false, children }: Props) {
  const t = useTexts()
  const nav = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: on each page of the settings once
  useEffect(() => {
    // On a phone the links are a line that scrolls: the one of this page must be seen.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <Page title={title} count={count} middle={middle} actions={actions}>
      <div className="settings">
        <nav ref={nav} className="settings-nav" aria-label={t.app.settings}>
          <SettingsLinks />
        </nav>
        <div className="settings-body" data-whole={whole || undefined}>
          {children}
          {api && <ByApi {...api} />}
        </div>
      </div>
    </Page>
  )
}

function SettingsLinks() {
  const groups = useSettingsPlaces()
  return groups
    .filter(({ name }) => name !== 'elsewhere')
    .flatMap(({ places }) =>
      places.map(({ to, label, icon: PlaceIcon }) => (
        <Link
          key={to}
          to={to}
          className="settings-link"
          activeOptions={{ includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          <PlaceIcon size={14} />
          <span>{label}</span>
        </Link>
      )),
    )
}
