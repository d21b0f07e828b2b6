import { type Stage, staleAfter } from './stages.ts'

const day_ms = 86_400_000
/** The number of a day in UTC, by which the API counts these days, too. */
const dayOf = (at_ms: number): number => Math.floor(at_ms / day_ms)

/** The days since a deal entered its stage. */
export const daysInStage = (stage_since: string, now_ms: number): number =>
  Math.max(0, dayOf(now_ms) - dayOf(Date.parse(stage_since)))

/** Whether an open deal stands still. */
export const isStale = (
  { status, stage, stage_since }: { status: string; stage: Stage; stage_since?: string | null | undefined },
  now_ms: number,
): boolean =>
  status === 'open' && Boolean(stage_since) && daysInStage(stage_since ?? '', now_ms) >= staleAfter(stage)
