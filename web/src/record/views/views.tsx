import { Button } from '@mantine/core'
import { HomeIcon, LockIcon } from '@primer/octicons-react'
import { useRouter } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { answerOf, api, dataOf, type Schemas, taggedOf } from '../../api/client.ts'
import { isStale } from '../../api/record-api.ts'
import type { Search } from '../../app/addresses.ts'
import { laterDialog } from '../../app/contained.tsx'
import { useFormats } from '../../app/formats.ts'
import { useNavigate } from '../../app/link.ts'
import { inWords, ProblemNote, showProblem } from '../../app/problems.tsx'
import { useMay, useSession } from '../../app/session.ts'
import { type Texts, useTexts } from '../../texts/texts.ts'
import { Menu } from '../../ui/floating.tsx'
import { keepFocus } from '../../ui/focus.ts'
import { useAddress } from '../../ui/list-view.ts'
import { offerUndo, showMessage } from '../../ui/undo.tsx'
import { visible } from '../../ui/visible.ts'
import { owner_me } from '../fields/owner.tsx'
import { type ListedKind, useKind } from '../kinds.ts'
import { useRefresh } from '../refresh.ts'
import { addressOf, type List, queryOf, useChangeTabs, useSavedViews, type View } from './saved-views.ts'
import type { NamedView } from './view-dialog.tsx'
import { useTabDrag } from './view-drag.ts'
import { type TabActions, ViewMenu } from './view-menu.tsx'
import './views.css'

const ViewDialog = laterDialog(async () => (await import('./view-dialog.tsx')).ViewDialog)

// How the list is shown: every tab without a name keeps them.
const manners = ['view', 'show'] as const

type Tab = { key: string; name: string; search: Search; view?: View }

/** The tabs of a list, the current one, and whether the address differs from it. */
function useTabs(list: List, reads: boolean) {
  const t = useTexts()
  const { address } = useAddress()
  const { views, default_tab, error } = useSavedViews(list, reads)
  const now = queryOf(address)
  const { date } = address
  const kept = Object.fromEntries(
    ([...manners, 'date'] as const).flatMap((name) => (address[name] ? [[name, address[name]]] : [])),
  )
  // An address without a query opens the default tab.
  const saved = default_tab !== 'all' && { saved: 'all' }
  const all: Tab = { key: 'all', name: t.record.all, search: { ...kept, ...saved } }
  const mine: Tab = { key: 'mine', name: t.record.mine, search: { ...kept, owner_id: owner_me } }
  const named = views.map((view): Tab => {
    const search = { ...(date && { date }), ...addressOf(view), saved: view.id }
    return { key: view.id, name: visible(view.name), search, view }
  })
  const tabs = [all, mine, ...named]
  const same = ({ view }: Tab) => view !== undefined && queryOf(addressOf(view)) === now
  const current =
    tabs.find(({ key }) => key === address.saved) ??
    named.find(same) ??
    (address.owner_id === owner_me ? mine : all)
  const differs = current.view
    ? !same(current)
    : queryOf(address, manners) !== queryOf(current.search, manners)
  return { tabs, current, differs, now, default_tab, error }
}

/** The actions of the person on views. */
function useRights() {
  const may = useMay()
  const { user, role } = useSession()
  const writes = may('views:write')
  const isOwn = ({ created_by }: View) => created_by?.kind === 'person' && created_by.id === user.id
  const manages = role === 'owner' || role === 'admin'
  return {
    reads: may('views:read'),
    writes,
    isOwn: (view: View) => writes && isOwn(view),
    // A view that no person made belongs to everybody.
    mayChange: (view: View) => writes && (manages || view.created_by?.kind !== 'person' || isOwn(view)),
  }
}

const pathOf = ({ id }: Pick<View, 'id'>) => ({ path: { view_id: id } })

/** The saved views of a list as tabs: open, save, name, share, order, delete, and the default. */
export function ViewTabs({ list }: { list: ListedKind }) {
  const t = useTexts()
  const { reads, writes, isOwn, mayChange } = useRights()
  const { tabs, current, differs, now, default_tab, error } = useTabs(list, reads)
  // The view to rename, which somebody else may delete meanwhile; without one, a new view.
  const [naming, setNaming] = useState<{ view?: View } | null>(null)
  const [said, setSaid] = useState('')
  const strip = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const hides = useOverflow(strip, menu, current.key, tabs.map(({ key, name }) => `${key} ${name}`).join())
  const { path } = useKind(list)
  const { change: changeAddress } = useAddress()
  const navigate = useNavigate()
  const router = useRouter()
  const refresh = useRefresh()
  const changeTabs = useChangeTabs(list)
  const keys = tabs.flatMap(({ key, view }) => (view ? [key] : []))
  const dragOf = useTabDrag(keys, order)
  const { view } = current
  const save = useSave(view, differs)
  if (!reads) return null

  const go = (search: Search) => navigate({ to: path, search })
  const shown = (work: Promise<unknown>) => work.catch((problem) => showProblem(problem, t))
  async function create({ name, visibility }: NamedView, query: string) {
    const made = dataOf(api.POST('/api/v1/views', { body: { list, name, query, visibility } }))
    const view = await inWords(made, t.app.views_full)
    await refresh('views')
    return view
  }
  async function change(view: View, body: Schemas['ViewUpdate']) {
    await dataOf(api.PATCH('/api/v1/views/{view_id}', { params: pathOf(view), body }))
    await refresh('views')
  }
  function order(next: string[], moved: string) {
    const name = tabs.find(({ key }) => key === moved)?.name ?? ''
    setSaid(t.app.view_moved({ name, place: next.indexOf(moved) + 1, of: next.length }))
    shown(changeTabs({ tabs: next }))
  }
  async function remove(view: View) {
    const place = keys.indexOf(view.id)
    async function restore() {
      const { id } = await create(view, view.query)
      const others = keys.filter((key) => key !== view.id)
      const tabs = others.toSpliced(place, 0, id)
      await changeTabs({ tabs, ...(default_tab === view.id && { default_tab: id }) })
    }
    await answerOf(api.DELETE('/api/v1/views/{view_id}', { params: pathOf(view) }))
    await go(tabs[0]?.search ?? {})
    await refresh('views')
    offerUndo(t, t.app.view_deleted({ name: view.name }), restore)
  }
  async function show(view: View, visibility: View['visibility']) {
    await change(view, { visibility })
    const before = view.visibility
    offerUndo(t, t.app.view_shown[visibility]({ name: view.name }), () =>
      change(view, { visibility: before }),
    )
  }
  async function makeDefault() {
    await changeTabs({ default_tab: current.key === 'all' ? null : current.key })
    showMessage(t.app.default_set({ name: current.name }))
  }
  const place = keys.indexOf(current.key)
  const move = (by: 1 | -1) => {
    const next = keys.filter((key) => key !== current.key).toSpliced(place + by, 0, current.key)
    return () => order(next, current.key)
  }
  const ended = (work: () => Promise<unknown>) => () => void shown(work()).finally(() => keepFocus())
  const actions: TabActions = {
    ...(view && mayChange(view) && { rename: () => setNaming({ view }) }),
    ...(view && isOwn(view) && view.visibility === 'private' && { share: ended(() => show(view, 'shared')) }),
    ...(view &&
      isOwn(view) &&
      view.visibility === 'shared' && { make_private: ended(() => show(view, 'private')) }),
    ...(place > 0 && { move_left: move(-1) }),
    ...(view && place < keys.length - 1 && { move_right: move(1) }),
    ...(current.key !== default_tab && { make_default: ended(makeDefault) }),
    ...(view && mayChange(view) && { remove: ended(() => remove(view)) }),
  }
  return (
    <div className="view-tabs">
      <span role="status" className="unseen">
        {said}
      </span>
      <div className="view-line">
        <nav ref={strip} className="view-strip" aria-label={t.app.views}>
          {tabs.map(({ key, name, search, view }) => (
            // The router's links decide for themselves which one is current.
            <a
              key={key}
              href={router.buildLocation({ to: path, search }).href}
              className="view-tab"
              aria-current={key === current.key || undefined}
              title={hintOf(view, key === default_tab && key !== 'all', t)}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                go(search)
              }}
              {...dragOf(key)}
            >
              {view?.visibility === 'private' && <LockIcon size={12} />}
              <span className="view-name">{name}</span>
              {key === default_tab && key !== 'all' && <HomeIcon size={12} />}
            </a>
          ))}
        </nav>
        {hides && <TabMenu button={menu} tabs={tabs} current={current} onGo={go} />}
        <ViewMenu name={current.name} actions={actions} />
      </div>
      {differs && view && mayChange(view) && (
        <Button size="compact-sm" variant="default" onClick={ended(() => save(now))}>
          {t.app.save_view}
        </Button>
      )}
      {writes && differs && (
        <Button size="compact-sm" variant="default" onClick={() => setNaming({})}>
          {t.app.save_new_view}
        </Button>
      )}
      {error && <ProblemNote error={error} />}
      <ViewDialog
        opened={naming !== null}
        onClose={() => setNaming(null)}
        view={naming?.view}
        send={async (named) => {
          if (naming?.view) return change(naming.view, { name: named.name })
          const made = await create(named, now)
          await changeAddress({ saved: made.id }, true)
          showMessage(t.app.view_saved({ name: made.name }))
        }}
      />
    </div>
  )
}

type TabMenuProps = {
  button: RefObject<HTMLButtonElement | null>
  tabs: readonly Tab[]
  current: Tab
  onGo: (search: Search) => void
}

/** The tabs as a menu, where their line is too short for them. */
function TabMenu({ button, tabs, current, onGo }: TabMenuProps) {
  const { app } = useTexts()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button ref={button} variant="default" size="compact-sm">
          {app.views}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="70dvh" style={{ overflowY: 'auto' }}>
        {tabs.map(({ key, name, search }) => (
          <Menu.Item key={key} fw={key === current.key ? 600 : 400} onClick={() => onGo(search)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The texts of the icons of a tab. */
function hintOf(view: View | undefined, is_default: boolean, { app }: Texts): string | undefined {
  const hints = [view?.visibility === 'private' && app.seen_by_you, is_default && app.opens_first]
  return hints.filter(Boolean).join('. ') || undefined
}

/**
 * Saves a query in a view, unless somebody has changed the view since the address began to differ from it. Then it says
 * who, and the next call overwrites that change.
 */
function useSave(view: View | undefined, differs: boolean): (query: string) => Promise<void> {
  const t = useTexts()
  const formats = useFormats()
  const refresh = useRefresh()
  const base = useRef(view)
  if (!differs || base.current?.id !== view?.id) base.current = view
  const write = (etag: string | undefined, query: string) =>
    taggedOf(
      api.PATCH('/api/v1/views/{view_id}', {
        params: { ...pathOf(view as View), header: { 'If-Match': etag } },
        body: { query },
      }),
    )
  const read = () => taggedOf(api.GET('/api/v1/views/{view_id}', { params: pathOf(view as View) }))
  /** Stores the query over the version that `known` has. Null if somebody has changed the view since: then it says who. */
  async function store(known: View | undefined, query: string): Promise<View | null> {
    let theirs = await read()
    try {
      if (theirs.updated_at === known?.updated_at) {
        base.current = await write(theirs.etag, query)
        return base.current
      }
    } catch (error) {
      if (!isStale(error)) throw error
      theirs = await read()
    } finally {
      await refresh('views')
    }
    base.current = theirs
    const { name, kind } = theirs.updated_by ?? { name: null, kind: 'person' }
    const who = (name && visible(name)) ?? t.record.actors[kind]
    showProblem(null, t, t.app.view_changed({ who: who ?? '', when: formats.relative(theirs.updated_at) }))
    return null
  }
  return async (query) => {
    const before = base.current
    const saved = await store(before, query)
    if (saved) offerUndo(t, t.app.view_saved({ name: saved.name }), () => store(saved, before?.query ?? ''))
  }
}

/** Whether tabs are out of sight without the menu of all tabs. Keeps the current one in sight. */
function useOverflow(
  strip: RefObject<HTMLElement | null>,
  menu: RefObject<HTMLElement | null>,
  current: string,
  tabs: string,
): boolean {
  const [hides, setHides] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: Other tabs have another width.
  useEffect(() => {
    const element = strip.current
    if (!element) return
    function measure() {
      if (!element) return
      setHides(element.scrollWidth > element.clientWidth + spaceOf(menu.current) + 1)
      const tab = element.querySelector<HTMLElement>('[aria-current]')
      if (!tab) return
      const { offsetLeft, offsetWidth } = tab
      if (offsetLeft < element.scrollLeft) element.scrollLeft = offsetLeft
      else if (offsetLeft + offsetWidth > element.scrollLeft + element.clientWidth)
        element.scrollLeft = offsetLeft + offsetWidth - element.clientWidth
    }
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [strip, menu, current, tabs])
  return hides
}

/** The pixels that an element and the gap beside it take from its line. */
function spaceOf(element: HTMLElement | null): number {
  if (!element?.parentElement) return 0
  return element.offsetWidth + Number.parseFloat(getComputedStyle(element.parentElement).columnGap)
}
