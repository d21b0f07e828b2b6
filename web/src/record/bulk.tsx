import { Loader, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useCallback } from 'react'
import { forEach } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { explain, tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
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

type Work<Item> = {
  items: readonly Item[]
  /** Resolves to what undoing the item's change needs to know. */
  work: (item: Item) => Promise<unknown>
  /** Takes the change of one item back. */
  undo: (item: Item) => Promise<unknown>
  /** What was done with so many, as the toast says it. */
  message: (n: number) => string
  /** The first parts of the queries' keys that are old then. */
  refresh: readonly string[]
}

/** Does something with many records, then offers one Undo for all that went through. */
export function useBulk(): <Item>(work: Work<Item>) => Promise<void> {
  const t = useTexts()
  const counted = useCounted()
  const refresh = useRefresh()
  return useCallback(
    async ({ items, work, undo, message, refresh: resources }) => {
      const { done, failed } = await counted(items, work)
      await refresh(...resources)
      const [first] = failed
      if (first)
        tellProblem(first.problem, t, `${t.app.failed_many(failed.length)}. ${explain(first.problem, t)}`)
      if (!done.length) return
      offerUndo(t, message(done.length), async () => {
        const back = await counted(done, undo)
        await refresh(...resources)
        if (back.failed[0]) tellProblem(back.failed[0].problem, t)
      })
    },
    [t, counted, refresh],
  )
}
