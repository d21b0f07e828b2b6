import { useCallback } from 'react'
import { tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from '../ui/focus.ts'
import { offerUndo } from '../ui/undo.tsx'
import { useRefresh } from './refresh.ts'

type Deletion = {
  name: string
  /** Shows something else where the record is shown now. */
  leave?: (() => unknown) | undefined
  remove: () => Promise<unknown>
  restore: () => Promise<unknown>
  /** The first parts of the queries' keys that are old then. */
  refresh: readonly string[]
}

/**
 * Deletes a record, with the way back in a toast. What shows it is left first: of a record that has gone nothing can be read
 * any more, and any update from elsewhere would ask for it.
 */
export function useToTrash(): (deletion: Deletion) => Promise<void> {
  const t = useTexts()
  const refresh = useRefresh()
  return useCallback(
    async ({ name, leave, remove, restore, refresh: resources }) => {
      await leave?.()
      try {
        await remove()
        offerUndo(t, t.app.deleted(name), async () => {
          await restore()
          await refresh(...resources)
        })
      } catch (error) {
        tellProblem(error, t)
      }
      await refresh(...resources)
      keepFocus()
    },
    [t, refresh],
  )
}
