import { useCallback, useEffect, useRef, useState } from 'react'
import { patiently } from '../api/client.ts'
import { showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Identified } from './table-parts.tsx'

/** The most rows that are selected at once. Their actions are batches of 1,000 records. */
export const most_selected = 10_000
const per_page = 100

type Answer<Row> = { data: Row[]; meta: object }
/** All rows that the filters of a list match. */
export type WholeList<Row> = {
  /** Differs for other filters or another order, and not for another page. */
  key: string
  /** Reads the rows at a cursor. */
  read: (
    place: { cursor: string; per_page: number; page: undefined },
    by: { signal: AbortSignal },
  ) => Promise<Answer<Row>>
}

/**
 * The rows of a whole list, read when all of them are to be selected: an action changes those that matched then, also if a
 * row changes while it runs.
 */
export function useWholeList<Row extends Identified>(whole: WholeList<Row> | undefined) {
  const t = useTexts()
  const [found, setFound] = useState<{ key: string; rows: readonly Row[] } | null>(null)
  const [count, setCount] = useState<number | null>(null)
  const reading = useRef<AbortController>(undefined)
  const stop = useCallback(() => reading.current?.abort(), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of other filters are not wanted any more
  useEffect(() => stop, [whole?.key, stop])

  /** Reads the rows; null if it was stopped or failed. */
  async function readAll(): Promise<readonly Row[] | null> {
    if (!whole) return null
    stop()
    const mine = new AbortController()
    reading.current = mine
    setCount(0)
    try {
      const rows = await rowsOf(whole, mine.signal, setCount)
      if (mine.signal.aborted) return null
      setFound({ key: whole.key, rows })
      return rows
    } catch (error) {
      if (!mine.signal.aborted) showProblem(error, t)
      return null
    } finally {
      if (reading.current === mine) setCount(null)
    }
  }
  return {
    /** The rows that were read for these filters. */
    rows: found && found.key === whole?.key ? found.rows : null,
    /** How many rows are read so far, while they are read. */
    count,
    readAll,
    stop,
    forget: useCallback(() => {
      stop()
      setFound(null)
    }, [stop]),
    /** Forgets the rows, which an action changes. Its result takes back the rows that were not changed. */
    lend() {
      stop()
      const lent = found
      setFound(null)
      return (rows: readonly Row[]) => {
        if (lent && rows.length) setFound((now) => now ?? { ...lent, rows })
      }
    },
  }
}

async function rowsOf<Row extends Identified>(
  { read }: WholeList<Row>,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<Row[]> {
  // A row that changes its place meanwhile may come twice.
  const rows = new Map<Row['id'], Row>()
  for (let cursor: string | null = 'start'; cursor !== null && rows.size < most_selected; ) {
    const readAt = (at: string) => read({ cursor: at, per_page, page: undefined }, { signal })
    const { data, meta }: Answer<Row> = await patiently(readAt, cursor, signal)
    for (const row of data) rows.set(row.id, row)
    onProgress(rows.size)
    cursor = (meta as { next_cursor?: string | null }).next_cursor ?? null
  }
  return [...rows.values()].slice(0, most_selected)
}
