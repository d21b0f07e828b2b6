import { ArrowRightIcon, HistoryIcon, type Icon, PlusIcon, ZapIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { all_kinds } from '../kinds.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { type Entry, type Group, PickDialog } from '../ui/pick-dialog.tsx'
import { Initials } from '../ui/values.tsx'
import { useOffered } from './commands.ts'
import { matching } from './matching.ts'
import { useRecordSearch } from './palette-records.ts'
import { explain } from './problems.tsx'
import { recentRecords, rememberRecord } from './recent.ts'
import { useMay, useSession } from './session.ts'

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
    <PickDialog
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

/** The entries of the palette for a text, in groups. */
function useGroups(text: string): { groups: Group[]; searching: boolean; failed: unknown } {
  const t = useTexts()
  const navigate = useNavigate()
  const { workspace } = useSession()
  const offered = useOffered().filter(({ keys_only, id }) => !keys_only && id !== 'palette')
  const creates = useCreates()
  const language = useLanguage()
  const [recent] = useState(() => recentRecords(workspace.id))
  const { groups: found, searching, failed } = useRecordSearch(text)

  const open = (path: string, name: string) => () => {
    rememberRecord(workspace.id, path, name)
    navigate({ to: path })
  }
  const record = (path: string, name: string, icon: React.ReactNode, detail?: string | null): Entry => ({
    ...{ id: path, name, detail: detail ?? null, run: open(path, name) },
    icon,
  })
  const commands = (group: string, icon: Icon, more: Entry[] = []): Entry[] => {
    const those = offered.filter((command) => command.group === group)
    const known = new Set(those.map(({ label }) => label.toLowerCase()))
    return matching(text, [
      ...those.map(({ id, label, keys, run }) => ({
        ...{ id, name: label, icon: iconOf(icon), run },
        ...(keys && { keys }),
      })),
      ...more.filter(({ name }) => !known.has(name.toLowerCase())),
    ])
  }
  const records = found.map(({ kind, records }) => ({
    label: kind.names[language].many,
    entries: records.map(({ id, name, detail }) =>
      record(`${kind.path}/${id}`, name, <Initials name={name} square={!kind.person} />, detail),
    ),
  }))
  const empty = text.trim() === ''
  const groups = [
    ...(empty
      ? [
          {
            label: t.app.recent,
            entries: recent.map(({ path, name }) => record(path, name, iconOf(HistoryIcon))),
          },
        ]
      : []),
    { label: t.app.actions, entries: [...commands('actions', ZapIcon), ...commands('lists', ZapIcon)] },
    ...records,
    { label: t.app.create, entries: commands('create', PlusIcon, creates) },
    { label: t.app.go, entries: commands('go', ArrowRightIcon) },
  ]
  return { groups: groups.filter(({ entries }) => entries.length), searching, failed }
}

/** The create commands: each list opens its dialog if its address says so. */
function useCreates(): Entry[] {
  const language = useLanguage()
  const navigate = useNavigate()
  const may = useMay()
  return all_kinds
    .filter(({ kind, creates }) => creates && may(`${kind}:write`))
    .map(({ kind, path, names }) => ({
      id: `create-${kind}`,
      name: names[language].create,
      icon: iconOf(PlusIcon),
      run: () => navigate({ to: path, search: { create: '1' } as never }),
    }))
}
