import { useLocalStorage } from '@mantine/hooks'
import {
  BriefcaseIcon,
  CalendarIcon,
  GearIcon,
  HomeIcon,
  type Icon,
  OrganizationIcon,
  PeopleIcon,
  SearchIcon,
  SidebarCollapseIcon,
  SidebarExpandIcon,
  TasklistIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import { holdKeys, useCommandKeys, useCommands } from './commands.ts'
import { later } from './contained.tsx'
import { Keys } from './keys.tsx'
import { MoreMenu, PersonMenu } from './menus.tsx'
import { useRecentRecords } from './recent.ts'
import { useSession } from './session.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

// Loaded when they are first opened.
const Palette = later(async () => (await import('./palette.tsx')).Palette)
const ShortcutSheet = later(async () => (await import('./shortcut-sheet.tsx')).ShortcutSheet)

type Place = {
  to: string
  name: 'home' | 'contacts' | 'companies' | 'deals' | 'activities' | 'calendar'
  icon: Icon
  keys: string
}
const places: Place[] = [
  { to: '/', name: 'home', icon: HomeIcon, keys: 'g h' },
  { to: '/contacts', name: 'contacts', icon: PeopleIcon, keys: 'g c' },
  { to: '/companies', name: 'companies', icon: OrganizationIcon, keys: 'g o' },
  { to: '/deals', name: 'deals', icon: BriefcaseIcon, keys: 'g d' },
  { to: '/activities', name: 'activities', icon: TasklistIcon, keys: 'g a' },
  { to: '/calendar', name: 'calendar', icon: CalendarIcon, keys: 'g k' },
]

/** What stands around every page: the rail, the palette, the keys, and the updates from elsewhere. */
export function Frame() {
  const t = useTexts()
  const navigate = useNavigate()
  const [collapsed, setCollapsed] = useLocalStorage({ key: 'rapport-rail-collapsed', defaultValue: false })
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  function search() {
    holdKeys()
    setPalette(true)
  }
  useCommandKeys()
  useRecentRecords(useSession().workspace.id)
  useFocusOnNewPages()
  useCommands([
    ...places.map(({ to, name, keys }) => ({
      ...{ id: `go-${name}`, label: t.app.go_to(t.app[name]), group: 'go' as const, keys },
      run: () => navigate({ to }),
    })),
    ...(
      [
        ['trash', '/trash', 'g t'],
        ['audit_log', '/audit-log', undefined],
        ['settings', '/settings', 'g s'],
        ['profile', '/settings/profile', undefined],
      ] as const
    ).map(([name, to, keys]) => ({
      ...{ id: `go-${name}`, label: t.app.go_to(t.app[name]), group: 'go' as const, ...(keys && { keys }) },
      run: () => navigate({ to }),
    })),
    {
      id: 'palette',
      label: t.app.keys.palette,
      group: 'go',
      keys: 'mod+k',
      keys_only: true,
      run: search,
    },
    { id: 'sheet', label: t.app.shortcuts, group: 'actions', keys: '?', run: () => setSheet(true) },
  ])
  return (
    <div className="frame" data-collapsed={collapsed}>
      <a className="skip" href="#content">
        {t.app.skip_to_content}
      </a>
      <nav className="rail" aria-label={t.app.main_navigation}>
        <WorkspaceMenu collapsed={collapsed} />
        <button
          type="button"
          className="rail-link"
          onClick={search}
          aria-label={collapsed ? t.app.search : undefined}
        >
          <SearchIcon />
          {!collapsed && (
            <>
              <span>{t.app.search}</span>
              <span className="rail-keys" aria-hidden>
                <Keys keys="mod+k" />
              </span>
            </>
          )}
        </button>
        {places.map(({ to, name, icon }) => (
          <RailLink key={to} to={to} icon={icon} label={t.app[name]} collapsed={collapsed} />
        ))}
        <div className="rail-space" />
        <RailLink to="/trash" icon={TrashIcon} label={t.app.trash} collapsed={collapsed} />
        <RailLink to="/settings" icon={GearIcon} label={t.app.settings} collapsed={collapsed} />
        <PersonMenu collapsed={collapsed} onSheet={() => setSheet(true)} />
        <button
          type="button"
          className="rail-link"
          aria-label={collapsed ? t.app.expand : t.app.collapse}
          onClick={() => setCollapsed(!collapsed)}
        >
          {collapsed ? <SidebarCollapseIcon /> : <SidebarExpandIcon />}
        </button>
      </nav>
      <nav className="bottom" aria-label={t.app.main_navigation}>
        {places.slice(0, 4).map(({ to, name, icon }) => (
          <RailLink key={to} to={to} icon={icon} label={t.app[name]} />
        ))}
        <MoreMenu onSearch={search} />
      </nav>
      <main className="main" id="content" tabIndex={-1}>
        <Outlet />
      </main>
      {palette && <Palette onClose={() => setPalette(false)} />}
      {sheet && <ShortcutSheet onClose={() => setSheet(false)} />}
    </div>
  )
}

/** A new page takes the focus, so that the next Tab goes into it and a reader is told its name. */
function useFocusOnNewPages() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return
    const left = before.current
    before.current = path
    if (document.querySelector('[aria-modal=true]')) return
    document.getElementById('content')?.focus()
    if (left.startsWith(`${path}/`)) backToRow(left)
  }, [path])
}

const row_ms = 2000

/** Back in a list from one of its records: its row takes the focus, and comes into view, as soon as it is there. */
function backToRow(record: string, until_ms = performance.now() + row_ms): void {
  const row = document.querySelector<HTMLElement>(`[data-row-link][href="${record}"]`)
  // Whoever has gone on to something else stays there.
  if (document.activeElement?.id !== 'content' || performance.now() > until_ms) return
  if (row) row.focus()
  else setTimeout(() => backToRow(record, until_ms), 50)
}

type RailLinkProps = { to: string; icon: Icon; label: string; collapsed?: boolean }

function RailLink({ to, icon: PlaceIcon, label, collapsed = false }: RailLinkProps) {
  return (
    <Link
      to={to}
      className="rail-link"
      aria-label={label}
      title={collapsed ? label : undefined}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <PlaceIcon />
      {!collapsed && <span>{label}</span>}
    </Link>
  )
}
