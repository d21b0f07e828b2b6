import { Loader, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useCallback } from 'react'
import { forEach } from '../api/client.ts'
import { shownAhead } from '../api/read-again.ts'
import type { RecordKind } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { explain, tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { staleAfter, useKinds } from './kinds.ts'
import { useRefresh } from './refresh.ts'

// What is done sooner needs no counting.
const counted_ms = 300

/** Does a piece of work for each item; when that takes a while, a toast counts them. */
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

/** Says what could not be done, and why: of many the names of the first. */
export function useTellFailed() {
  const t = useTexts()
  return useCallback(
    <Item,>(failed: Failed<Item>, nameOf: (item: Item) => string, of: number) => {
      const [first] = failed
      if (!first) return
      const names = failed.slice(0, named).map(({ item }) => nameOf(item))
      const told = t.record.not_done(
        names.join(', '),
        failed.length - names.length,
        explain(first.problem, t),
      )
      tellProblem(first.problem, t, of > 1 ? told : undefined)
    },
    [t],
  )
}

type Work<Item> = {
  /** The kind of record that it changes. */
  kind: RecordKind
  items: readonly Item[]
  nameOf: (item: Item) => string
  /** Resolves to what undoing the item's change needs to know. */
  work: (item: Item) => Promise<unknown>
  /** Takes the change of one item back. */
  undo: (item: Item) => Promise<unknown>
  /** Shows items as they will be before the service has said yes, or as they were. */
  show?: (items: readonly Item[], changed: boolean) => Promise<void>
  /** What was done with so many, as the toast says it. */
  message: (n: number) => string
}

/**
 * Does something with many records, then offers one Undo for all that went through. Resolves, when the pages show what is
 * now, to those with which it could not be done.
 */
export function useBulk(): <Item>(work: Work<Item>) => Promise<Item[]> {
  const t = useTexts()
  const counted = useCounted()
  const tellFailed = useTellFailed()
  const refresh = useRefresh()
  const kinds = useKinds()
  return useCallback(
    async ({ kind, items, nameOf, work, undo, show, message }) => {
      const resources = staleAfter(kinds[kind])
      async function go(those: typeof items, does: typeof work, changed: boolean) {
        await show?.(those, changed)
        const doing = () => counted(those, does)
        const { done, failed } = await (show ? shownAhead(resources, doing) : doing())
        const left = failed.map(({ item }) => item)
        if (left.length) await show?.(left, !changed)
        tellFailed(failed, nameOf, those.length)
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
    [t, counted, tellFailed, refresh, kinds],
  )
}
