import { Loader, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useCallback } from 'react'
import { forEach } from '../api/client.ts'
import { shownAhead } from '../api/read-again.ts'
import type { RecordKind } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { explain, showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { staleAfter, useKinds } from './kinds.ts'
import { useRefresh } from './refresh.ts'

// Shorter work needs no progress.
const counted_ms = 300

/** Runs work for each item, with a progress toast if it takes longer than 300 ms. */
export function useCounted(): typeof forEach {
  const t = useTexts()
  const formats = useFormats()
  return useCallback(
    async (items, work) => {
      const total = formats.number(items.length)
      const toast = (done: number) => ({
        ...{ autoClose: false as const, withBorder: true, withCloseButton: false },
        icon: <Loader size={14} color="white" aria-hidden />,
        message: (
          <Text size="sm" className="numbers">
            {t.record.bulk_working(formats.number(done), total)}
          </Text>
        ),
      })
      let so_far = 0
      let id: string | undefined
      const timer = setTimeout(() => {
        id = notifications.show(toast(so_far))
      }, counted_ms)
      const result = await forEach(items, work, (done) => {
        so_far = done
        if (id) notifications.update({ id, ...toast(done) })
      })
      clearTimeout(timer)
      if (id) notifications.hide(id)
      return result
    },
    [t, formats],
  )
}

type Failed<Item> = Awaited<ReturnType<typeof forEach<Item>>>['failed']
const named = 3

/** Shows what failed and why, with the first names. */
export function useShowFailed() {
  const t = useTexts()
  return useCallback(
    <Item,>(failed: Failed<Item>, nameOf: (item: Item) => string, of: number) => {
      const [first] = failed
      if (!first) return
      const names = failed.slice(0, named).map(({ item }) => nameOf(item))
      const message = t.record.not_done(
        names.join(', '),
        failed.length - names.length,
        explain(first.problem, t),
      )
      showProblem(first.problem, t, of > 1 ? message : undefined)
    },
    [t],
  )
}

type Work<Item> = {
  /** The kind of the changed records. */
  kind: RecordKind
  items: readonly Item[]
  nameOf: (item: Item) => string
  /** Changes one item. */
  work: (item: Item) => Promise<unknown>
  /** Undoes the change of one item. */
  undo: (item: Item) => Promise<unknown>
  /** Shows the items before the service has answered, or as they were. */
  show?: (items: readonly Item[], changed: boolean) => Promise<void>
  /** The message of the toast for a number of items. */
  message: (n: number) => string
}

/**
 * Changes many records and offers one Undo for those that succeeded. Resolves to the failed items when the
 * page shows the result.
 */
export function useBulk(): <Item>(work: Work<Item>) => Promise<Item[]> {
  const t = useTexts()
  const counted = useCounted()
  const showFailed = useShowFailed()
  const refresh = useRefresh()
  const kinds = useKinds()
  return useCallback(
    async ({ kind, items, nameOf, work, undo, show, message }) => {
      const resources = staleAfter(kinds[kind], Object.values(kinds))
      async function go(those: typeof items, does: typeof work, changed: boolean) {
        await show?.(those, changed)
        const doing = () => counted(those, does)
        const { done, failed } = await (show ? shownAhead(resources, doing) : doing())
        const left = failed.map(({ item }) => item)
        if (left.length) await show?.(left, !changed)
        showFailed(failed, nameOf, those.length)
        return { done, left }
      }
      const { done, left } = await go(items, work, true)
      if (done.length)
        offerUndo(t, message(done.length), async () => {
          await go(done, undo, false)
          await refresh(...resources)
        })
      await refresh(...resources)
      return left
    },
    [t, counted, showFailed, refresh, kinds],
  )
}
