import { appendFileSync } from 'node:fs'

/** Runs of their own: npm run faults -- history, npm run faults -- soak, npm run faults -- mail. */
export const long = ['history', 'soak', 'mail'] as const
export type Long = (typeof long)[number]

/**
 * The counts of a test of a fault, beside whether it passed. Lost: acknowledged, but neither delivered nor in the log
 * as failed. Phantom: delivered or stored, although its change was refused or rolled back. Unannounced: an answer ≥ 500
 * that is not 503 with Retry-After.
 */
export type Report = {
  /** Its row in the table, or a run of its own; none for what counts for no single one. */
  fault?: number | Long
  /** Its measurement, in a few words. */
  figures?: string
  events?: number
  lost?: number
  phantom?: number
  answers?: number
  unannounced?: number
}

export type Reported = Report & { engine: string }

/** Reports counts to `npm run faults`. Without it, a no-op. */
export function report(counted: Report): void {
  const { FAULT_REPORT: file, TEST_ENGINE: engine = 'sqlite' } = process.env
  if (file) appendFileSync(file, `${JSON.stringify({ engine, ...counted })}\n`)
}

/** An error is announced if the answer says when to try again. */
const isUnannounced = (status: number, headers: Headers): boolean =>
  status >= 500 && !(status === 503 && Number(headers.get('retry-after')) >= 1)

const counted = { answers: 0, unannounced: 0 }

/** Counts an answer to a test of this process. */
export function countAnswer(status: number, headers: Headers): void {
  counted.answers++
  if (isUnannounced(status, headers)) counted.unannounced++
}

process.on('exit', () => {
  if (counted.answers) report(counted)
})
