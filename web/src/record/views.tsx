import { ActionIcon, Button, TextInput } from '@mantine/core'
import { KebabHorizontalIcon, PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { inWords, ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { Menu } from '../ui/floating.tsx'
import { keepFocus } from '../ui/focus.ts'
import { FormDialog } from '../ui/form.tsx'
import { type Address, useAddress } from '../ui/list-view.ts'
import { offerUndo, showMessage } from '../ui/undo.tsx'
import { owner_me } from './owner.tsx'
import { useRefresh } from './refresh.ts'
import './views.css'

type View = Schemas['View']
type List = View['list']

// Parameters of the address that are not part of a view. The date is the place in the calendar.
const momentary = ['page', 'open', 'create', 'tab', 'cursor', 'date', 'saved']
// How the list is shown: every tab without a name keeps them.
const manners = ['view', 'show']

/** The view in the address, as text that does not depend on the order of parameters. */
function queryOf(address: Address, without: readonly string[] = []): string {
  const parts = Object.entries(address).filter(
    ([name, value]) => value && !momentary.includes(name) && !without.includes(name),
  )
  return new URLSearchParams(parts.sort(([a], [b]) => (a < b ? -1 : 1))).toString()
}

const addressOf = ({ query }: View): Address => Object.fromEntries(new URLSearchParams(query))

type Tab = { key: string; name: string; search: Address; view?: View }

/** The tabs of a list, the current one, and whether the address differs from it. */
function useTabs(list: List, reads: boolean) {
  const t = useTexts()
  const { address } = useAddress()
  const { data, error } = useQuery({
    queryKey: ['views', list],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/views', { signal, params: { query: { list } } })),
    enabled: reads,
  })
  const now = queryOf(address)
  const { date } = address
  const kept = Object.fromEntries(
    [...manners, 'date'].flatMap((name) => (address[name] ? [[name, address[name]]] : [])),
  )
  const all: Tab = { key: 'all', name: t.record.all, search: kept }
  const mine: Tab = { key: 'mine', name: t.record.mine, search: { ...kept, owner_id: owner_me } }
  // The service lists the newest first. A new tab comes last, so that the others stay where they are.
  const named = (data ?? []).toReversed().map((view): Tab => {
    const search = { ...(date && { date }), ...addressOf(view), saved: view.id }
    return { key: view.id, name: view.name, search, view }
  })
  const same = ({ view }: Tab) => view !== undefined && queryOf(addressOf(view)) === now
  const current =
    named.find(({ key }) => key === address.saved) ??
    named.find(same) ??
    (address.owner_id === owner_me ? mine : all)
  const differs = current.view
    ? !same(current)
    : queryOf(address, manners) !== queryOf(current.search, manners)
  return { tabs: [all, mine, ...named], current, differs, now, kept, error }
}

/** The saved views of a list as tabs, shared by the workspace: open, save, rename, delete. */
export function ViewTabs({ list }: { list: List }) {
  const t = useTexts()
  const may = useMay()
  const reads = may('views:read')
  const { tabs, current, differs, now, kept, error } = useTabs(list, reads)
  const [naming, setNaming] = useState<'new' | 'rename' | null>(null)
  const strip = useRef<HTMLElement>(null)
  const hides = useOverflow(strip, current.key, tabs.length)
  const { pathname } = useLocation()
  const { change: changeAddress } = useAddress()
  const navigate = useNavigate()
  const router = useRouter()
  const refresh = useRefresh()
  if (!reads) return null
  const writes = may('views:write')

  const go = (search: Address) => navigate({ to: pathname, search: search as never })
  async function create(name: string, query: string) {
    const made = dataOf(api.POST('/api/v1/views', { body: { list, name, query } }))
    const view = await inWords(made, t.app.views_full)
    await refresh('views')
    return view
  }
  async function change({ id }: View, body: Schemas['ViewUpdate']) {
    await dataOf(api.PATCH('/api/v1/views/{view_id}', { params: { path: { view_id: id } }, body }))
    await refresh('views')
  }
  async function save(view: View) {
    try {
      await change(view, { query: now })
      offerUndo(t, t.app.view_saved(view.name), () => change(view, { query: view.query }))
    } catch (problem) {
      showProblem(problem, t)
    }
    keepFocus()
  }
  async function remove({ id, name, query }: View) {
    try {
      await answerOf(api.DELETE('/api/v1/views/{view_id}', { params: { path: { view_id: id } } }))
      await go(kept)
      await refresh('views')
      offerUndo(t, t.app.view_deleted(name), () => create(name, query))
    } catch (problem) {
      showProblem(problem, t)
    }
    keepFocus()
  }
  const { view } = current
  return (
    <div className="view-tabs">
      <nav ref={strip} className="view-strip" aria-label={t.app.views}>
        {tabs.map(({ key, name, search }) => (
          // The router's links decide for themselves which one is current.
          <a
            key={key}
            href={router.buildLocation({ to: pathname, search: search as never }).href}
            className="view-tab"
            aria-current={key === current.key || undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return
              event.preventDefault()
              go(search)
            }}
          >
            {name}
          </a>
        ))}
      </nav>
      {hides && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="compact-sm">
              {t.app.views}
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah="70dvh" style={{ overflowY: 'auto' }}>
            {tabs.map(({ key, name, search }) => (
              <Menu.Item key={key} fw={key === current.key ? 600 : 400} onClick={() => go(search)}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {writes && view && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={t.app.view_menu(view.name)} title={t.app.view_menu(view.name)}>
              <KebabHorizontalIcon size={14} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<PencilIcon size={14} />} onClick={() => setNaming('rename')}>
              {t.app.rename_view}
            </Menu.Item>
            <Menu.Item leftSection={<TrashIcon size={14} />} onClick={() => remove(view)}>
              {t.app.delete_view}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {writes && differs && view && (
        <Button size="compact-sm" variant="default" onClick={() => save(view)}>
          {t.app.save_view}
        </Button>
      )}
      {writes && differs && (
        <Button size="compact-sm" variant="default" onClick={() => setNaming('new')}>
          {t.app.save_new_view}
        </Button>
      )}
      {error && <ProblemNote error={error} />}
      <FormDialog
        opened={naming !== null}
        onClose={() => setNaming(null)}
        title={naming === 'rename' ? t.app.rename_view : t.app.save_new_view}
        action={naming === 'rename' ? t.app.rename_view : t.app.save_new_view}
        start={{ name: naming === 'rename' ? current.name : '' }}
        send={async ({ name }) => {
          if (naming === 'rename' && view) return change(view, { name })
          const made = await create(name, now)
          await changeAddress({ saved: made.id }, true)
          showMessage(t.app.view_saved(made.name))
        }}
      >
        {(form) => (
          <TextInput label={t.app.view_name} required maxLength={255} {...form.getInputProps('name')} />
        )}
      </FormDialog>
    </div>
  )
}

/** Whether tabs are out of sight. Keeps the current one in sight. */
function useOverflow(strip: RefObject<HTMLElement | null>, current: string, count: number): boolean {
  const [hides, setHides] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: Other tabs have another width.
  useEffect(() => {
    const element = strip.current
    if (!element) return
    function measure() {
      if (!element) return
      setHides(element.scrollWidth > element.clientWidth + 1)
      const tab = element.querySelector<HTMLElement>('[aria-current]')
      if (!tab) return
      const { offsetLeft, offsetWidth } = tab
      if (offsetLeft < element.scrollLeft) element.scrollLeft = offsetLeft
      else if (offsetLeft + offsetWidth > element.scrollLeft + element.clientWidth)
        element.scrollLeft = offsetLeft + offsetWidth - element.clientWidth
    }
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    measure()
    return () => watch.disconnect()
  }, [strip, current, count])
  return hides
}
