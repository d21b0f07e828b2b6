import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import {
  GearIcon,
  GraphIcon,
  HomeIcon,
  type Icon,
  SearchIcon,
  SidebarCollapseIcon,
  SidebarExpandIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { all_kinds } from '../kinds.ts'
import { Bell } from '../notifications/bell.tsx'
import type { Names } from '../record/kinds.ts'
import { useQuestion } from '../record/page/conflicts.ts'
import { LogAnywhere } from '../record/page/log.tsx'
import { RecordCards } from '../record/page/record-card.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Path } from './addresses.ts'
import { holdKeys, useCommandKeys, useCommands } from './commands.ts'
import { later } from './contained.tsx'
import { startIdle } from './idle.ts'
import { Keys } from './keys.tsx'
import { Link, useNavigate } from './link.ts'
import { CreateMenu, MoreMenu, PersonMenu } from './menus.tsx'
import { useRecentRecords } from './recent.ts'
import { SessionContext, useMay, useReadSession, useSession } from './session.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

// Loaded when they are first opened.
const Palette = later(async () => (await import('./palette.tsx')).Palette)
const ConflictDialog = later(async () => (await import('../record/page/conflict-dialog.tsx')).ConflictDialog)
const ShortcutSheet = later(async () => (await import('./shortcut-sheet.tsx')).ShortcutSheet)

// The bottom bar has five places: pages, search, create, and the menu with the rest.
const on_phone = 2

type RailPage = { to: Path; label: string; icon: Icon; keys: string }

/** The pages of the rail, in its order. */
function useRailPages(): RailPage[] {
  const t = useTexts()
  const may = useMay()
  const reports: RailPage = { to: '/reports', label: t.app.reports, icon: GraphIcon, keys: 'g r' }
  return [
    { to: '/', label: t.app.home, icon: HomeIcon, keys: 'g h' },
    ...all_kinds.flatMap(({ kind, path, icon, keys }) => {
      const { page, many }: Names = t.kinds[kind]
      return keys ? [{ to: path, label: page ?? many, icon, keys }] : []
    }),
    ...(may('reports:read') ? [reports] : []),
  ]
}

/** The frame of every page with its session. */
export function Frame() {
  return (
    <SessionContext value={useReadSession()}>
      <FrameOfPage />
    </SessionContext>
  )
}

/** Rail, palette, shortcuts, and live updates. */
function FrameOfPage() {
  const t = useTexts()
  const navigate = useNavigate()
  const pages = useRailPages()
  // Where there is little room, such as at a zoom of 200%, the pages get it.
  const narrow = useMediaQuery('(max-width: 52em)', false, { getInitialValueInEffect: false })
  const [chosen, setCollapsed] = useLocalStorage<boolean | null>({
    key: 'rapport-rail-collapsed',
    defaultValue: null,
  })
  const collapsed = chosen ?? narrow
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  const conflict = useQuestion()
  function search() {
    holdKeys()
    setPalette(true)
  }
  useCommandKeys(usePageLoads())
  useRecentRecords(useSession().workspace.id)
  useFocusOnNewPages()
  useEffect(startIdle, [])
  useCommands([
    ...pages.map(({ to, label, keys }) => ({
      id: `go-${to}`,
      label: t.app.go_to({ name: label }),
      group: 'go' as const,
      keys,
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
      id: `go-${name}`,
      label: t.app.go_to({ name: t.app[name] }),
      group: 'go' as const,
      ...(keys && { keys }),
      run: () => navigate({ to }),
    })),
    {
      id: 'go-notifications',
      label: t.app.go_to({ name: t.notifications.title }),
      group: 'go',
      keys: 'g n',
      run: () => navigate({ to: '/notifications' }),
    },
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
      <LogAnywhere />
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
        <Bell collapsed={collapsed} />
        {pages.map(({ to, label, icon }) => (
          <RailLink key={to} to={to} icon={icon} label={label} collapsed={collapsed} />
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
        {pages.slice(0, on_phone).map(({ to, label, icon }) => (
          <RailLink key={to} to={to} icon={icon} label={label} />
        ))}
        <button type="button" className="rail-link" onClick={search}>
          <SearchIcon />
          <span>{t.app.search}</span>
        </button>
        <CreateMenu />
        <MoreMenu pages={pages.slice(on_phone)} />
      </nav>
      <main className="main" id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <RecordCards />
      {conflict && <ConflictDialog onClose={() => conflict.answer(null)} />}
      {palette && <Palette onClose={() => setPalette(false)} />}
      {sheet && <ShortcutSheet onClose={() => setSheet(false)} />}
    </div>
  )
}

/** Whether the page of the address is not drawn yet. */
function usePageLoads(): () => boolean {
  const router = useRouter()
  return () =>
    router.state.location.pathname !== router.state.resolvedLocation?.pathname ||
    document.querySelector('#content [data-waiting]:not(.panel *)') !== null
}

/** A new page takes the focus, so that Tab goes into it and screen readers announce it. */
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

/** On return from a record to its list, focuses and shows the record's row when it is loaded. */
function backToRow(record: string, until_ms = performance.now() + row_ms): void {
  const row = document.querySelector<HTMLElement>(`[data-row-link][href="${record}"]`)
  // Stop if the person has moved the focus elsewhere.
  if (document.activeElement?.id !== 'content' || performance.now() > until_ms) return
  if (row) row.focus()
  else setTimeout(() => backToRow(record, until_ms), 50)
}

type RailLinkProps = { to: Path; icon: Icon; label: string; collapsed?: boolean }

function RailLink({ to, icon: PageIcon, label, collapsed = false }: RailLinkProps) {
  return (
    <Link
      to={to}
      className="rail-link"
      aria-label={label}
      title={collapsed ? label : undefined}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <PageIcon />
      {!collapsed && <span>{label}</span>}
    </Link>
  )
}
