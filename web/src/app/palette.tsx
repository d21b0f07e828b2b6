import { Loader, Modal } from '@mantine/core'
import { ArrowRightIcon, HistoryIcon, type Icon, PlusIcon, SearchIcon, ZapIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import { all_kinds } from '../kinds.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Initials } from '../ui/values.tsx'
import { useOffered } from './commands.ts'
import { Keys } from './keys.tsx'
import { matching } from './matching.ts'
import { useRecordSearch } from './palette-records.ts'
import { explain } from './problems.tsx'
import { recentRecords, rememberRecord } from './recent.ts'
import { useMay, useSession } from './session.ts'
import './palette.css'

type Entry = {
  id: string
  name: string
  detail?: string | null
  icon: React.ReactNode
  keys?: string
  run: () => void
}
type Group = { label: string; entries: Entry[] }

const iconOf = (EntryIcon: Icon) => (
  <span className="palette-icon">
    <EntryIcon />
  </span>
)

// On mount, so that the keys typed now go into the input.
const takeFocus = (input: HTMLInputElement | null) => input?.focus()

/** One field to go somewhere, create, act on the current page, or open a record, by keyboard alone. */
export function Palette({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<{ text: string; id: string | undefined } | null>(null)
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  const list = useRef<HTMLDivElement>(null)
  const { groups, searching, failed } = useGroups(text)
  const entries = groups.flatMap((group) => group.entries)
  const at = Math.max(
    0,
    entries.findIndex(({ id }) => chosen?.text === text && id === chosen.id),
  )
  const current = entries[at]
  const optionId = (entry: Entry) => `${id}-${entry.id}`

  function close() {
    onClose()
    // Return the focus, unless the element was removed.
    requestAnimationFrame(() => before?.isConnected && before.focus())
  }
  function run(entry: Entry | undefined) {
    if (!entry) return
    onClose()
    // After the dialog has closed and the focus is back, because the command may move it. A timer, not a
    // frame: frames can be late in a busy browser.
    setTimeout(() => {
      if (before?.isConnected) before.focus()
      entry.run()
    })
  }
  function onKeyDown(event: React.KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const last = entries.length - 1
    const to = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
      PageDown: Math.min(last, at + 8),
      PageUp: Math.max(0, at - 8),
    }[event.key]
    if (to !== undefined) setChosen({ text, id: entries[Math.max(0, to)]?.id })
    else if (event.key === 'Enter') run(current)
    else if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) close()
    else return
    event.preventDefault()
  }
  useEffect(() => {
    // The highlighted entry stays highlighted when more results of the same text arrive.
    setChosen({ text, id: current?.id })
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current?.id, text])

  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      returnFocus={false}
      padding={0}
      size={560}
      yOffset="12vh"
      centered={false}
      aria-label={t.app.palette}
      transitionProps={{ duration: 0 }}
    >
      <div className="palette-line">
        {searching ? <Loader size={16} aria-hidden /> : <SearchIcon />}
        <input
          ref={takeFocus}
          data-autofocus
          className="palette-input"
          role="combobox"
          aria-label={t.app.palette}
          aria-expanded
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current && optionId(current)}
          autoComplete="off"
          spellCheck={false}
          placeholder={t.app.palette_placeholder}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="palette-list" id={id} role="listbox" aria-label={t.app.palette} ref={list}>
        {groups.map(({ label, entries: those }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, which no element is
          <div key={label} role="group" aria-label={label}>
            <div className="palette-group" aria-hidden>
              {label}
            </div>
            {those.map((entry) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
              <div
                key={entry.id}
                id={optionId(entry)}
                role="option"
                tabIndex={-1}
                aria-selected={entry === current}
                className="palette-entry"
                onMouseMove={() => entry !== current && setChosen({ text, id: entry.id })}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => run(entry)}
              >
                {entry.icon}
                <span className="one-line">{entry.name}</span>
                {entry.detail && <span className="palette-detail one-line">{entry.detail}</span>}
                {entry.keys && <Keys keys={entry.keys} />}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className="palette-said" role="status">
        {failed ? explain(failed, t) : !entries.length && !searching ? t.app.palette_empty : ''}
      </p>
    </Modal>
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
