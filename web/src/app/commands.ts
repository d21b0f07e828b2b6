import { useEffect, useRef, useSyncExternalStore } from 'react'

/** Something that can be done from here: by the palette, and by its keys where it has some. */
export type Command = {
  /** Unique among what is offered at one time. */
  id: string
  label: string
  group: 'go' | 'create' | 'actions' | 'lists'
  /** As KeyboardEvent.key tells them, one after another by spaces: `c`, `g d`, `mod+k`. */
  keys?: string
  /** Another key for the same. */
  also?: string
  /** Not offered in the palette: only keys. */
  keys_only?: boolean
  run: () => void
}

let offered: Command[] = []
const listeners = new Set<() => void>()

function change(commands: Command[]) {
  offered = commands
  for (const listener of listeners) listener()
}

/** Offers commands as long as the component is shown. Of two with the same keys, the one that came last counts. */
export function useCommands(commands: Command[]): void {
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

/** All commands that are offered now. */
export function useOffered(): Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => offered,
  )
}

// A part of the program may have to come first.
const opening_ms = 3000
let held: { text: string; until_ms: number } | null = null

/** From now on, what is typed is for the field that is being opened: it is no command, and none of it is lost. */
export function holdKeys(): void {
  held = { text: '', until_ms: performance.now() + opening_ms }
}
/** Keeps a key for the field that is being opened, if there is one. */
function hold({ key }: KeyboardEvent): boolean {
  if (!held || performance.now() > held.until_ms) return false
  if (key.length === 1) held.text += key
  return true
}
/** Gives a field that takes the focus what was typed before. */
function giveHeld({ target }: FocusEvent): void {
  if (
    !held ||
    !(target instanceof Element) ||
    !target.matches(`${typing}, [aria-modal=true] *, [role=menu] *`)
  )
    return
  const { text, until_ms } = held
  held = null
  // As if it were typed now: the field's own ways of reading it hold.
  if (text && performance.now() <= until_ms && target.matches(typing))
    document.execCommand('insertText', false, text)
}

// Where these are, the keys are theirs.
const closed_off = '[aria-modal=true], [role=menu]'
const typing = 'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]'
const sequence_ms = 1000

/** Runs commands by their keys; keys that are typed into a field, or while a dialog is open, are left alone. */
export function useCommandKeys(): void {
  useEffect(() => {
    let before = ''
    let before_at = 0
    function onKey(event: KeyboardEvent) {
      const mod = event.metaKey || event.ctrlKey
      if (event.altKey || event.defaultPrevented || event.isComposing) return
      const target = event.target as Element
      const key = mod ? `mod+${event.key.toLowerCase()}` : event.key
      if (!mod && target.closest(typing)) return
      if (!mod && hold(event)) return event.preventDefault()
      if (document.querySelector(closed_off)) return
      const sequence = event.timeStamp - before_at < sequence_ms && before ? `${before} ${key}` : key
      const commandOf = (pressed: string) =>
        offered.findLast(({ keys, also }) => keys === pressed || also === pressed)
      const found = commandOf(sequence) ?? commandOf(key)
      before = key
      before_at = event.timeStamp
      if (!found) return
      before = ''
      event.preventDefault()
      // What creates opens something to write in.
      if (found.group === 'create') holdKeys()
      found.run()
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener('focusin', giveHeld)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('focusin', giveHeld)
    }
  }, [])
}
