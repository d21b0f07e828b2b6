import { holdKeys, keysHeld, releaseKeys, useCommands } from '../../app/commands.ts'
import { useTexts } from '../../texts/texts.ts'
import type { ListView } from '../../ui/list-view.ts'

const firstOf = (record: ParentNode | null) =>
  record?.querySelector<HTMLElement>('.record-facts .field-button')

/** Edits the first fact of a record. */
export function editFirst(record: ParentNode | null): void {
  const first = firstOf(record)
  if (!first) return
  holdKeys()
  first.click()
}

// The record that begins with an edit in the side panel, if its keys are still held when it is shown.
let asked: number | null = null

/** Edits the first fact of a record that has just been shown, if that was asked for. */
export function editIfAsked(id: number, record: ParentNode | null): void {
  const first = asked === id && keysHeld() ? firstOf(record) : null
  if (!first) forgetEdit()
  asked = null
  first?.click()
}

/** The record that was asked for cannot be edited. */
export function forgetEdit(): void {
  if (asked !== null) releaseKeys()
  asked = null
}

/** Offers to open the focused row or card beside its list, and to edit its first fact. */
export function useEditFocused(
  focused: () => number | null | undefined,
  { open, setOpen }: Pick<ListView, 'open' | 'setOpen'>,
  writes: boolean,
): void {
  const { edit } = useTexts().app.keys
  function run() {
    const id = focused() ?? open
    if (!id) return
    if (String(id) === open) return editFirst(document.querySelector('.panel'))
    holdKeys()
    asked = Number(id)
    setOpen(id)
  }
  useCommands([{ id: 'edit-row', label: edit, group: 'lists', keys: 'e', keys_only: true, run }], writes)
}
