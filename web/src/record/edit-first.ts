import { holdKeys, opening_ms, useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import type { ListView } from '../ui/list-view.ts'

const firstOf = (record: ParentNode | null) =>
  record?.querySelector<HTMLElement>('.record-facts .field-button')

/** Edits the first fact of a record. */
export function editFirst(record: ParentNode | null): void {
  const first = firstOf(record)
  if (!first) return
  holdKeys()
  first.click()
}

// Until when a record that is shown in the side panel begins with an edit.
let until_ms = 0

/** Edits the first fact of a record that has just been shown, if that was asked for. Its keys are held already. */
export function editIfAsked(record: ParentNode | null): void {
  if (performance.now() < until_ms) firstOf(record)?.click()
  until_ms = 0
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
    until_ms = performance.now() + opening_ms
    setOpen(id)
  }
  useCommands([{ id: 'edit-row', label: edit, group: 'lists', keys: 'e', keys_only: true, run }], writes)
}
