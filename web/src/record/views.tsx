import { ActionIcon, Button, Group, Popover, TextInput } from '@mantine/core'
import { BookmarkIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { explain, inWords, ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { focusBeside } from '../ui/focus.ts'
import { type Address, useAddress } from '../ui/list-view.ts'
import { offerUndo, showMessage } from '../ui/undo.tsx'
import { Soft } from '../ui/values.tsx'
import { owner_me } from './owner.tsx'
import { useRefresh } from './refresh.ts'
import './views.css'

type View = Schemas['View']

// Parameters of the address that are not part of a view. The date is the place in the calendar.
const momentary = ['page', 'open', 'create', 'tab', 'cursor', 'date']

/** The view in the address, as text that does not depend on the order of parameters. */
function queryOf(address: Address): string {
  const parts = Object.entries(address).filter(([name, value]) => value && !momentary.includes(name))
  return new URLSearchParams(parts.sort(([a], [b]) => (a < b ? -1 : 1))).toString()
}

/** The saved views of a list, shared by the workspace: open, save, delete. */
export function ViewsMenu({ list }: { list: View['list'] }) {
  const t = useTexts()
  const [opened, setOpened] = useState(false)
  const may = useMay()
  if (!may('views:read')) return null
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={260} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<BookmarkIcon size={14} />}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {t.app.views}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.app.views}>
        <SavedViews list={list} writes={may('views:write')} onClose={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

type SavedProps = { list: View['list']; writes: boolean; onClose: () => void }

function SavedViews({ list, writes, onClose }: SavedProps) {
  const t = useTexts()
  const refresh = useRefresh()
  const { pathname } = useLocation()
  const { address } = useAddress()
  const now = queryOf(address)
  const { date } = address
  const kept = Object.fromEntries(
    ['view', 'show', 'date'].flatMap((name) => (address[name] ? [[name, address[name]]] : [])),
  )
  const { data, error } = useQuery({
    queryKey: ['views', list],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/views', { signal, params: { query: { list } } })),
  })
  async function create(name: string, query: string) {
    await inWords(dataOf(api.POST('/api/v1/views', { body: { list, name, query } })), t.app.views_full)
    await refresh('views')
  }
  async function remove({ id, name, query }: View) {
    try {
      await answerOf(api.DELETE('/api/v1/views/{view_id}', { params: { path: { view_id: id } } }))
      await refresh('views')
      offerUndo(t, t.app.view_deleted(name), () => create(name, query))
    } catch (problem) {
      showProblem(problem, t)
    }
  }
  return (
    <>
      {error && <ProblemNote error={error} />}
      <div className="view-line">
        <Link
          to={pathname}
          search={{ ...kept, owner_id: owner_me } as never}
          className="view-open"
          aria-current={address.owner_id === owner_me || undefined}
          onClick={onClose}
        >
          {t.record.mine}
        </Link>
      </div>
      {data?.length === 0 && <Soft>{t.app.no_views}</Soft>}
      {data?.map((view) => (
        <div key={view.id} ref={focusBeside} className="view-line">
          <Link
            to={pathname}
            search={
              { ...(date && { date }), ...Object.fromEntries(new URLSearchParams(view.query)) } as never
            }
            className="view-open"
            aria-current={view.query === now || undefined}
            onClick={onClose}
          >
            {view.name}
          </Link>
          {writes && (
            <ActionIcon aria-label={t.app.delete_view(view.name)} onClick={() => remove(view)}>
              <TrashIcon size={14} />
            </ActionIcon>
          )}
        </div>
      ))}
      {writes && (
        <SaveView
          onSave={async (name) => {
            await create(name, now)
            showMessage(t.app.view_saved(name))
            onClose()
          }}
        />
      )}
    </>
  )
}

function SaveView({ onSave }: { onSave: (name: string) => Promise<void> }) {
  const t = useTexts()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [saving, setSaving] = useState(false)
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        if (!name.trim() || saving) return
        setSaving(true)
        try {
          await onSave(name.trim())
        } catch (error) {
          setProblem(explain(error, t))
        } finally {
          setSaving(false)
        }
      }}
    >
      <TextInput
        mt="sm"
        size="xs"
        label={t.app.view_name}
        value={name}
        error={problem}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Group mt="sm">
        <Button type="submit" loading={saving} disabled={!name.trim()}>
          {t.app.save_view}
        </Button>
      </Group>
    </form>
  )
}
