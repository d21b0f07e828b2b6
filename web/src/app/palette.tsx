import { useMantineColorScheme } from '@mantine/core'
import { ArrowRightIcon, HistoryIcon, type Icon, PlusIcon, ZapIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { all_kinds } from '../kinds.ts'
import { useSettingsPages } from '../settings/settings-pages.ts'
import { useTexts } from '../texts/with-settings.ts'
import type { Entry, Group } from '../ui/pick-dialog.tsx'
import { PickList } from '../ui/pick-list.tsx'
import { Initials } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import type { RecordPath } from './addresses.ts'
import { type Command, useOffered } from './commands.ts'
import { useFormats } from './formats.ts'
import { keywordsOf } from './keywords.ts'
import { useNavigate } from './link.ts'
import { exactly, nearly } from './matching.ts'
import { useRecordSearch } from './palette-records.ts'
import { explain } from './problems.tsx'
import { recentRecords, rememberRecord } from './recent.ts'
import { useMay, useSession, useSignOut } from './session.ts'

// Entries that the text misses by a letter.
const most_similar = 8

const iconOf = (EntryIcon: Icon) => (
  <span className="palette-icon">
    <EntryIcon />
  </span>
)

/** One field to go somewhere, create, act on the current page, or open a record, by keyboard alone. */
export function Palette({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const [text, setText] = useState('')
  const { groups, searching, failed } = useGroups(text)
  return (
    <PickList
      label={t.app.palette}
      placeholder={t.app.palette_placeholder}
      text={text}
      onText={setText}
      groups={groups}
      searching={searching}
      said={failed ? explain(failed, t) : !groups.length && !searching ? t.app.palette_empty : ''}
      onClose={onClose}
    />
  )
}

/** An entry with the group that it belongs to, and further words by which it is found. */
type Listed = Entry & Pick<Command, 'group'> & { keywords: string }

/** The entries of the palette for a text, in groups. */
function useGroups(text: string): { groups: Group[]; searching: boolean; failed: unknown } {
  const t = useTexts()
  const formats = useFormats()
  const navigate = useNavigate()
  const { workspace } = useSession()
  const listed = useListed(text.trim() !== '')
  const [recent] = useState(() => recentRecords(workspace.id))
  const { groups: found, searching, failed } = useRecordSearch(text)

  const open = (path: RecordPath, name: string) => () => {
    rememberRecord(workspace.id, path, name)
    navigate({ to: path })
  }
  const record = (path: RecordPath, name: string, icon: React.ReactNode, detail?: string | null): Entry => ({
    id: path,
    name,
    detail: detail ?? null,
    run: open(path, name),
    icon,
  })
  const matched = exactly(text, listed)
  const commands = (...groups: Command['group'][]) => matched.filter(({ group }) => groups.includes(group))
  const records = found.map(({ kind, records }) => ({
    label: t.kinds[kind.kind].many,
    entries: records.map(({ id, title: stored, subtitle }) => {
      const title = visible(stored)
      const detail = subtitle && kind.found?.(subtitle, t, formats)
      return record(`${kind.path}/${id}`, title, <Initials name={title} square={!kind.person} />, detail)
    }),
  }))
  const opened = recent.map(({ path, name }) => record(path, name, iconOf(HistoryIcon)))
  const found_by_name = new Set(
    exactly(
      text,
      listed.map(({ id, name }) => ({ id, name })),
    ).map(({ id }) => id),
  )
  const further = new Set(matched.map(({ id }) => id).filter((id) => !found_by_name.has(id)))
  // Enter runs the first entry: “log” must not sign out before it offers to log a call.
  const rank = ({ label, entries }: Group) =>
    entries.every(({ id }) => further.has(id)) ? (label === t.app.actions ? 2 : 1) : 0
  const found_groups = [
    { label: t.app.recent, entries: text.trim() === '' ? opened : [] },
    { label: t.app.actions, entries: commands('actions', 'lists') },
    ...records,
    { label: t.app.create, entries: commands('create') },
    { label: t.app.go, entries: commands('go') },
  ].filter(({ entries }) => entries.length)
  const groups = found_groups.toSorted((a, b) => rank(a) - rank(b))
  if (groups.length || searching) return { groups, searching, failed }
  const similar = nearly<Entry>(text, [...listed, ...opened]).slice(0, most_similar)
  return { groups: similar.length ? [{ label: t.app.similar, entries: similar }] : [], searching, failed }
}

const icons = { actions: ZapIcon, lists: ZapIcon, create: PlusIcon, go: ArrowRightIcon }

/** All commands. Commands that no page registers are listed only for a text: `more`. */
function useListed(more: boolean): Listed[] {
  const offered = useOffered().filter(({ keys_only, id }) => !keys_only && id !== 'palette')
  const others = [useCreates(), useSettings(), useAppearance(), useSigningOut()].flat()
  const labels = new Set(offered.map(({ label }) => label.toLowerCase()))
  const added = others.filter(({ label, group }) => {
    return !labels.has(label.toLowerCase()) && (more || group === 'create')
  })
  return [...offered, ...added].map(({ id, label, keys, group, run }) => ({
    id,
    name: label,
    group,
    run,
    // A create command opens a form.
    opens_field: group === 'create',
    icon: iconOf(icons[group]),
    keywords: keywordsOf(id),
    ...(keys && { keys }),
  }))
}

/** The create commands: each list opens its dialog if its address says so. */
function useCreates(): Command[] {
  const t = useTexts()
  const navigate = useNavigate()
  const may = useMay()
  const of_records = all_kinds
    .filter(({ kind, creates }) => creates && may(`${kind}:write`))
    .map(({ kind, path }) => ({ name: kind as string, path, label: t.kinds[kind].create }))
  const of_settings = [
    { name: 'webhooks', path: '/settings/webhooks', label: t.app.create_webhook } as const,
    { name: 'keys', path: '/settings/keys', label: t.settings.create_key } as const,
  ].filter(({ name }) => may(`${name}:write`))
  return [...of_records, ...of_settings].map(({ name, path, label }) => ({
    id: `create-${name}`,
    label,
    group: 'create',
    run: () => navigate({ to: path, search: { create: '1' } }),
  }))
}

/** The pages of the settings that the role may read. */
function useSettings(): Command[] {
  const t = useTexts()
  const navigate = useNavigate()
  return useSettingsPages()
    .flatMap(({ pages }) => pages)
    .map(({ name, label, to }) => ({
      id: `go-${name}`,
      label: t.app.go_to({ name: label }),
      group: 'go',
      run: () => (to === '/docs' ? window.location.assign(to) : navigate({ to })),
    }))
}

function useAppearance(): Command[] {
  const t = useTexts()
  const { setColorScheme } = useMantineColorScheme()
  const schemes = { light: t.app.light, dark: t.app.dark, auto: t.app.system } as const
  return Object.entries(schemes).map(([scheme, label]) => ({
    id: `appearance-${scheme}`,
    label: `${t.app.appearance}: ${label}`,
    group: 'actions',
    run: () => setColorScheme(scheme as keyof typeof schemes),
  }))
}

function useSigningOut(): Command[] {
  const t = useTexts()
  return [{ id: 'sign-out', label: t.app.sign_out, group: 'actions', run: useSignOut() }]
}
