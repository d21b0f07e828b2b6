import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/with-settings.ts'
import { ByApi } from '../ui/by-api.tsx'
import { Page } from '../ui/page.tsx'
import { useSettingsPages } from './settings-pages.ts'
import './settings.css'

type Props = {
  title: string
  count?: number | undefined
  middle?: React.ReactNode
  below?: React.ReactNode
  actions?: React.ReactNode
  /** The API call that does the same as this page. */
  api?: React.ComponentProps<typeof ByApi>
  /** For tables: the content fills the height and scrolls itself. */
  whole?: boolean
  children: React.ReactNode
}

/**
 * A page of the settings, with links to the others beside it (on a phone, above it) and its API call at the
 * foot.
 */
export function SettingsFrame({ title, count, middle, below, actions, api, whole = false, children }: Props) {
  const t = useTexts()
  const nav = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: on each page of the settings once
  useEffect(() => {
    // On a phone the links are a line that scrolls. Show the link of this page.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <Page title={title} count={count} middle={middle} below={below} actions={actions}>
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
  const groups = useSettingsPages()
  return groups
    .filter(({ name }) => name !== 'elsewhere')
    .flatMap(({ pages }) =>
      pages.map(
        ({ to, label, icon: PageIcon }) =>
          to !== '/docs' && (
            <Link
              key={to}
              to={to}
              className="settings-link"
              activeOptions={{ includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              <PageIcon size={14} />
              <span>{label}</span>
            </Link>
          ),
      ),
    )
}
