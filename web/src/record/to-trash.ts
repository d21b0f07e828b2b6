import { useCallback } from 'react'
import { type RecordKind, recordApi } from '../api/record-api.ts'
import { showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from '../ui/focus.ts'
import { offerUndo } from '../ui/undo.tsx'
import { staleAfter, useKinds } from './kinds.ts'
import { useRefresh } from './refresh.ts'

type Deletion = {
  kind: RecordKind
  id: number
  name: string
  /** Leaves the page of the record; resolves when another page is shown. */
  leave?: (() => unknown) | undefined
}

/**
 * Deletes a record and offers Undo. Leaves its page first: a deleted record cannot be read, but a live
 * update would try.
 */
export function useToTrash(): (deletion: Deletion) => Promise<void> {
  const t = useTexts()
  const refresh = useRefresh()
  const kinds = useKinds()
  return useCallback(
    async ({ kind, id, name, leave }) => {
      const api = recordApi(kind)
      const stale = staleAfter(kinds[kind], Object.values(kinds))
      await leave?.()
      try {
        await api.remove(id)
        offerUndo(t, t.app.deleted({ what: name }), async () => {
          await api.restore(id)
          await refresh(...stale)
        })
      } catch (error) {
        showProblem(error, t)
      }
      await refresh(...stale)
      keepFocus()
    },
    [t, refresh, kinds],
  )
}
