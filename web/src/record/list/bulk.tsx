import { Button, Group, Loader, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useCallback } from 'react'
import { runBatch } from '../../api/batch.ts'
import { forEach, type Outcomes } from '../../api/client.ts'
import { shownAhead } from '../../api/read-again.ts'
import { type BatchItem, type ChangesOf, type RecordKind, recordApi } from '../../api/record-api.ts'
import { explain, showProblem } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { offerUndo } from '../../ui/undo.tsx'
import { type Kind, staleAfter, useKinds } from '../kinds.ts'
import { useRefresh } from '../refresh.ts'

// Shorter work needs no progress.
const counted_ms = 300

type Counted<Item> = (onProgress: (done: number) => void, signal: AbortSignal) => Promise<Outcomes<Item>>

/**
 * Runs work on many items, with a progress toast that can stop it if it takes longer than 300 ms. Meanwhile, the browser asks
 * before it leaves the page: the rest would not be done, such as the rest of an Undo.
 */
function useProgress(): <Item>(count: number, work: Counted<Item>) => Promise<Outcomes<Item>> {
  const t = useTexts()
  return useCallback(
    async (count, work) => {
      const stopping = new AbortController()
      const toast = (done: number) => ({
        autoClose: false as const,
        withBorder: true,
        withCloseButton: false,
        icon: <Loader size={14} color="white" aria-hidden />,
        message: (
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" className="numbers">
              {t.record.bulk_working({ done, total: count })}
            </Text>
            <Button variant="light" onClick={() => stopping.abort()}>
              {t.record.bulk_stop}
            </Button>
          </Group>
        ),
      })
      let so_far = 0
      let id: string | undefined
      const timer = setTimeout(() => {
        id = notifications.show(toast(so_far))
      }, counted_ms)
      const askToStay = (event: BeforeUnloadEvent) => event.preventDefault()
      window.addEventListener('beforeunload', askToStay)
      try {
        return await work((done) => {
          so_far = done
          if (id) notifications.update({ id, ...toast(done) })
        }, stopping.signal)
      } finally {
        window.removeEventListener('beforeunload', askToStay)
        clearTimeout(timer)
        if (id) notifications.hide(id)
      }
    },
    [t],
  )
}

/** Runs work for each item, with the same toast. */
export function useCounted(): <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
) => Promise<Outcomes<Item>> {
  const counted = useProgress()
  return useCallback(
    (items, work) => counted(items.length, (...given) => forEach(items, work, ...given)),
    [counted],
  )
}

type Failed<Item> = Outcomes<Item>['failed']
const named = 3

/** Shows what failed, and for each reason the first names and what to do. */
export function useShowFailed() {
  const t = useTexts()
  return useCallback(
    <Item,>(failed: Failed<Item>, nameOf: (item: Item) => string, of: number) => {
      const [first] = failed
      if (!first) return
      const reasons = new Map<string, string[]>()
      for (const { item, problem } of failed) {
        const why = explain(problem, t)
        reasons.set(why, [...(reasons.get(why) ?? []), nameOf(item)])
      }
      const messages = [...reasons].map(([why, names]) =>
        t.record.not_done({
          names: names.slice(0, named).join(', '),
          more: Math.max(0, names.length - named),
          why,
        }),
      )
      showProblem(first.problem, t, of > 1 ? messages.join(' ') : undefined)
    },
    [t],
  )
}

/** The change of each record: one that a batch makes for many in one request, or requests for each. */
type Does<Item> =
  | { change: (item: Item) => Changes }
  | { add_tags: string[] }
  | { remove_tags: string[] }
  | 'delete'
  | 'restore'
  | ((item: Item) => Promise<unknown>)
type Changes = ChangesOf<RecordKind>

type InBatch<Item> = Exclude<Does<Item>, (item: Item) => Promise<unknown>>

function batchItemOf<Item extends { id: number }>(does: InBatch<Item>, item: Item): BatchItem {
  const { id } = item
  if (typeof does === 'string') return { op: does, id }
  if ('change' in does) return { op: 'update', id, data: does.change(item) }
  return { op: 'update', id, data: {}, ...does }
}

type Work<Item> = {
  /** The kind of the changed records. */
  kind: RecordKind
  items: readonly Item[]
  nameOf: (item: Item) => string
  work: Does<Item>
  undo: Does<Item>
  /** Shows the items before the service has answered, or as they were. */
  show?: (items: readonly Item[], changed: boolean) => Promise<void>
  /** The message of the toast for a number of items. */
  message: (n: number) => string
}

function doAll<Item extends { id: number }>(
  { kind, matches }: Kind,
  items: readonly Item[],
  does: Does<Item>,
  ...given: Parameters<Counted<Item>>
): Promise<Outcomes<Item>> {
  if (typeof does === 'function') return forEach(items, does, ...given)
  // An appointment can get another owner, and has no batch.
  if (!matches && typeof does === 'object' && 'change' in does)
    return forEach(items, (item) => recordApi(kind).change(item.id, does.change(item)), ...given)
  return runBatch(kind, items, (item) => batchItemOf(does, item), ...given)
}

/**
 * Changes many records and offers one Undo for those that succeeded. Resolves to the items that failed, or that were
 * not begun, when the page shows the result.
 */
export function useBulk(): <Item extends { id: number }>(work: Work<Item>) => Promise<Item[]> {
  const t = useTexts()
  const counted = useProgress()
  const showFailed = useShowFailed()
  const refresh = useRefresh()
  const kinds = useKinds()
  return useCallback(
    async ({ kind, items, nameOf, work, undo, show, message }) => {
      const resources = staleAfter(kinds[kind], Object.values(kinds))
      async function go(those: typeof items, does: typeof work, changed: boolean) {
        await show?.(those, changed)
        const doing = () => counted(those.length, (...given) => doAll(kinds[kind], those, does, ...given))
        const outcomes = await (show ? shownAhead(resources, doing) : doing())
        const { done, failed, stopped, unchanged } = outcomes
        const left = [...failed.map(({ item }) => item), ...stopped]
        if (left.length) await show?.(left, !changed)
        showFailed(failed, nameOf, those.length)
        return { done, left, changed: done.filter((item) => !unchanged.has(item)) }
      }
      const { done, left, changed } = await go(items, work, true)
      if (done.length)
        offerUndo(t, message(done.length), async () => {
          await go(changed, undo, false)
          await refresh(...resources)
        })
      await refresh(...resources)
      return left
    },
    [t, counted, showFailed, refresh, kinds],
  )
}
