import { Loader } from '@mantine/core'
import { SearchIcon } from '@primer/octicons-react'
import { useEffect, useId, useRef, useState } from 'react'
import { holdKeys } from '../app/commands.ts'
import { isComposing } from '../app/composition.ts'
import { Keys } from '../app/keys.tsx'
import { Dialog } from './dialog.tsx'
import { redrawnOf } from './focus.ts'
import type { Entry, PickProps } from './pick-dialog.tsx'
import './pick-dialog.css'

// On mount, so that the keys typed now go into the input.
const takeFocus = (input: HTMLInputElement | null) => input?.focus()

/** One field and a list below it: typing filters, arrows move, Enter runs an entry after the dialog has closed. */
export function PickList(props: PickProps) {
  const { label, placeholder, text, onText, groups, searching = false, said, compact = false } = props
  const { onClose } = props
  const id = useId()
  const [chosen, setChosen] = useState<{ text: string; id: string | undefined } | null>(null)
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  const list = useRef<HTMLDivElement>(null)
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
    requestAnimationFrame(() => redrawnOf(before)?.focus())
  }
  function run(entry: Entry | undefined) {
    if (!entry) return
    onClose()
    if (entry.opens_field) holdKeys()
    // After the dialog has closed and the focus is back, because the entry may move it. A timer, not a
    // frame: frames can be late in a busy browser.
    setTimeout(() => {
      redrawnOf(before)?.focus()
      entry.run()
    })
  }
  function onKeyDown(event: React.KeyboardEvent) {
    if (isComposing(event.nativeEvent)) return
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
    <Dialog
      opened
      onClose={close}
      withCloseButton={false}
      returnFocus={false}
      padding={0}
      size={compact ? 420 : 560}
      yOffset="12vh"
      centered={false}
      aria-label={label}
      transitionProps={{ duration: 0 }}
    >
      <div className="palette-line">
        {searching ? <Loader size={16} aria-hidden /> : <SearchIcon />}
        <input
          ref={takeFocus}
          data-autofocus
          className="palette-input"
          role="combobox"
          aria-label={label}
          aria-expanded
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current && optionId(current)}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        className="palette-list"
        data-compact={compact || undefined}
        id={id}
        role="listbox"
        aria-label={label}
        ref={list}
      >
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
                {entry.side && <span className="palette-side">{entry.side}</span>}
                {entry.keys && <Keys keys={entry.keys} />}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className="palette-said" role="status">
        {said}
      </p>
    </Dialog>
  )
}
