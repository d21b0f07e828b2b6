import { Loader, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useCallback } from 'react'
import { forEach } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { explain, tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { offerUndo, tell } from '../ui/undo.tsx'
import { useRefresh } from './refresh.ts'

type Work<Item> = {
  items: readonly Item[]
  /** Resolves to what undoing the item's change needs to know. */
  work: (item: Item) => Promise<unknown>
  /** Takes the change of one item back; left out where that is not possible. */
  undo?: (item: Item) => Promise<unknown>
  /** What was done with so many, as the toast says it. */
  message: (n: number) => string
  /** The first parts of the queries' keys that are old then. */
  refresh: string[]
}

/** Does something with many records: a toast counts them, then offers one Undo for all that went through. */
export function useBulk(): <Item>(work: Work<Item>) => Promise<void> {
  const t = useTexts()
  const formats = useFormats()
  const refresh = useRefresh()
  return useCallback(
    async ({ items, work, undo, message, refresh: resources }) => {
      const all = await counted(items, work)
      await refresh(...resources)
      const first = all.failed[0]
      if (first) {
        const failed = t.app.failed_many(all.failed.length)
        notifications.show({
          ...{ color: 'red', autoClose: 8000, withBorder: true },
          message: `${failed}. ${explain(first.problem, t)}`,
        })
      }
      const { done } = all
      if (!done.length) return
      if (!undo) return tell(message(done.length))
      offerUndo(t, message(done.length), async () => {
        const back = await counted(done, undo)
        await refresh(...resources)
        if (back.failed[0]) tellProblem(back.failed[0].problem, t)
      })

      async function counted<One>(them: readonly One[], each: (item: One) => Promise<unknown>) {
        const total = formats.number(them.length)
        const shown = (done: number) => (
          <Text size="sm" className="numbers">
            {t.record.bulk_working(formats.number(done), total)}
          </Text>
        )
        const icon = <Loader size={14} color="white" aria-hidden />
        const options = { autoClose: false as const, withBorder: true, withCloseButton: false, icon }
        const id = notifications.show({ ...options, message: shown(0) })
        const result = await forEach(them, each, (done) =>
          notifications.update({ id, ...options, message: shown(done) }),
        )
        notifications.hide(id)
        return result
      }
    },
    [t, formats, refresh],
  )
}
