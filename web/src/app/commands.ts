import { useEffect, useRef, useSyncExternalStore } from 'react'
import { isComposing } from './composition.ts'
import { forgetKey, keepKey } from './early-keys.ts'

/** A command of the palette, with its shortcut if it has one. */
export type Command = {
  /** Unique among the registered commands. */
  id: string
  label: string
  group: 'go' | 'create' | 'actions' | 'lists'
  /** The keys as in KeyboardEvent.key, a sequence separated by spaces: `c`, `g d`, `mod+k`. */
  keys?: string
  /** An alternative key. */
  also?: string
  /** Hidden in the palette: shortcut only. */
  keys_only?: boolean
  /** Runs again while its key is held. */
  repeats?: boolean
  run: () => void
}

let offered: Command[] = []
const listeners = new Set<() => void>()

function change(commands: Command[]) {
  offered = commands
  for (const listener of listeners) listener()
}

/**
 * Registers commands while the component is mounted and `enabled`. Of two with the same keys, the later one
 * wins.
 */
export function useCommands(given: readonly Command[], enabled = true): void {
  const commands = enabled ? given : []
  const current = useRef(commands)
  current.current = commands
  const signature = commands.map(({ id, label, keys }) => `${id} ${label} ${keys}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the signature tells when what is offered changes
  useEffect(() => {
    const mine = current.current.map((command) => ({
      ...command,
      run: () => current.current.find(({ id }) => id === command.id)?.run(),
    }))
    change([...offered, ...mine])
    return () => change(offered.filter((command) => !mine.includes(command)))
  }, [signature])
}

/** All registered commands. */
export function useOffered(): Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => offered,
  )
}

/** How long a dialog or a field may take to open: its chunk may have to load first, also over a slow line. */
const opening_ms = 15_000
type Held = {
  /** Whether the text of the field is replaced. */
  whole: boolean
  /** Whether all is selected in the end. */
  selected: boolean
  at_end: boolean
  text: string
  enter: KeyboardEvent | null
  until_ms: number
}
let held: Held | null = null

/** Whether keys are buffered for a field. */
export const keysHeld = (): boolean => held !== null && performance.now() <= held.until_ms
/**
 * Buffers keys for the field that is about to open, so that they run no commands and are not lost. A second call for the
 * same field keeps the buffered keys. Another command, or a click, drops them. Returns what drops these keys alone.
 */
export function holdKeys(): () => void {
  const until_ms = performance.now() + opening_ms
  if (held && keysHeld()) held.until_ms = until_ms
  else held = { whole: false, selected: false, at_end: false, text: '', enter: null, until_ms }
  const mine = held
  return () => {
    if (held === mine) held = null
  }
}
/** Drops the buffered keys, because their field does not open. */
export function releaseKeys(): void {
  held = null
}
/**
 * Buffers a key if a field is about to open: characters, what selects and removes, End, and Enter after them.
 * Escape drops them.
 */
function hold(event: KeyboardEvent, mod: boolean): boolean {
  if (!held || !keysHeld()) return false
  const { key } = event
  if (key === 'Escape') held = null
  if (!held || held.enter) return true
  const removes = key === 'Backspace' || key === 'Delete'
  if (key === 'Enter') held.enter = event
  else if (mod) held.selected = true
  else if (key === 'End') Object.assign(held, { at_end: true, selected: false })
  else if (removes || key.length === 1) {
    if (held.selected) Object.assign(held, { whole: true, selected: false, text: '' })
    else if (key === 'Backspace') held.text = held.text.slice(0, -1)
    if (!removes) held.text += key
  }
  return true
}
/** Types the buffered keys into the field that takes the focus. */
function giveHeld({ target }: FocusEvent): void {
  if (!held || !(target instanceof Element) || !target.matches(`${typing}, [role=dialog] *, [role=menu] *`))
    return
  const { whole, selected, at_end, text, enter, until_ms } = held
  held = null
  if (performance.now() > until_ms || !target.matches(typing)) return
  if (at_end && target instanceof HTMLTextAreaElement) target.selectionStart = target.value.length
  if (whole) document.execCommand('selectAll')
  // As typed input, so that the field's own handlers run.
  if (text) document.execCommand('insertText', false, text)
  else if (whole) document.execCommand('delete')
  if (selected) document.execCommand('selectAll')
  if (!enter) return
  const { key, ctrlKey, metaKey } = enter
  // When the page has drawn the text.
  setTimeout(() =>
    target.dispatchEvent(
      new KeyboardEvent('keydown', { key, ctrlKey, metaKey, bubbles: true, cancelable: true }),
    ),
  )
}

const commandOf = (pressed: string) =>
  offered.findLast(({ keys, also }) => keys === pressed || also === pressed)

/** Runs a command, if there is one. */
function run(command: Command | undefined): boolean {
  if (!command) return false
  releaseKeys()
  // A create command opens a form.
  if (command.group === 'create') holdKeys()
  command.run()
  return true
}

// While one of these is open, it handles all keys.
const closed_off = '[aria-modal=true], [role=menu]'
const typing = 'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]'
const sequence_ms = 1000

/**
 * Runs commands by their keys, except in a text field or while a dialog is open. A key of the page waits while the page
 * `loads`: the commands are those of the page before it, or none.
 */
export function useCommandKeys(loads: () => boolean): void {
  const latest = useRef(loads)
  latest.current = loads
  useEffect(() => {
    let before = ''
    let before_at = 0
    function onKey(event: KeyboardEvent) {
      forgetKey()
      const mod = event.metaKey || event.ctrlKey
      if (event.altKey || event.defaultPrevented || isComposing(event)) return
      const target = event.target as Element
      const key = mod ? `mod+${event.key.toLowerCase()}` : event.key
      if (!mod && target.closest(typing)) return
      const held_by_mod = event.key === 'Enter' || (key === 'mod+a' && !target.closest(typing))
      if ((!mod || held_by_mod) && hold(event, mod)) return event.preventDefault()
      if (document.querySelector(closed_off)) return
      const sequence = event.timeStamp - before_at < sequence_ms && before ? `${before} ${key}` : key
      const found = commandOf(sequence) ?? commandOf(key)
      if (event.repeat && !found?.repeats) return
      before = key
      before_at = event.timeStamp
      if (found?.group !== 'go' && latest.current()) {
        const late = () => !document.querySelector(closed_off) && run(commandOf(sequence) ?? commandOf(key))
        return keepKey(() => latest.current(), late)
      }
      if (!run(found)) return
      before = ''
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener('focusin', giveHeld)
    window.addEventListener('pointerdown', releaseKeys, { capture: true })
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('focusin', giveHeld)
      window.removeEventListener('pointerdown', releaseKeys, { capture: true })
    }
  }, [])
}
