import { useQueries } from '@tanstack/react-query'
import type { Aborted } from '../api/client.ts'
import { noteApi } from '../api/note-api.ts'
import { type RecordKind, recordApi } from '../api/record-api.ts'
import { useMay } from '../app/session.ts'
import { type MergedKind, type Names, useAllKinds, useKind } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'

/** How many records of a kind belong to each of some records. Undefined until it is read. */
export type LinkedCount = { names: Pick<Names, 'many' | 'counted'>; counts: (number | undefined)[] }

type Meta = { meta: { total?: number } }

/** The linked records that move when records are merged. */
export function useLinkedCounts(kind: MergedKind, ids: readonly number[]): LinkedCount[] {
  const t = useTexts()
  const may = useMay()
  const { noun } = useKind(kind)
  const linked = useAllKinds()
    .filter((other) => other.related?.to.includes(kind) && may(`${other.kind}:read`))
    .map((other) => ({ kind: other.kind as string, names: t.kinds[other.kind] }))
  const all = [{ kind: 'notes', names: t.merges.notes }, ...linked]
  const read = (one: string, id: number, signal: AbortSignal): Promise<Meta> =>
    one === 'notes'
      ? noteApi(kind, id).list(undefined, signal)
      : recordApi(one as RecordKind).list({ [`${noun}_id`]: id, per_page: 1 }, signal)
  const answers = useQueries({
    queries: all.flatMap((one) =>
      ids.map((id) => ({
        queryKey: [one.kind, 'count', noun, id],
        queryFn: async ({ signal }: Aborted) => (await read(one.kind, id, signal)).meta.total ?? 0,
      })),
    ),
  })
  return all.map(({ names }, row) => ({
    names,
    counts: ids.map((_, column) => answers[row * ids.length + column]?.data),
  }))
}
