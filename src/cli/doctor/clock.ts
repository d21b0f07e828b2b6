import { sql } from 'kysely'
import { isoTime, systemClock } from '../../clock.ts'
import type { Sign } from '../../db/clock-sign.ts'
import { command } from '../../installed.ts'
import { counted } from '../text.ts'
import { type Examined, type Finding, fault, lengthOf, ok, orOk, warning } from './finding.ts'

/** The service time of a database, and whether a service has renewed its sign of life now. */
export type Life = { now_ms: number; elapsed_ms: number; sign: Sign | null; is_served: boolean }

// A service renews the sign of life every 10 s.
const alive_ms = 30_000
const slack_ms = 60_000
const noticeable_ms = 5000

/** Reads the sign of life, and does not renew it: a wrong clock must not leave a trace. */
export async function readLife({ db, clock }: Examined): Promise<Life> {
  const { rows } = await sql<{ value: string }>`SELECT value FROM settings WHERE name = 'clock'`.execute(db)
  const sign: Sign | null = rows[0] ? JSON.parse(rows[0].value) : null
  const now_ms = clock.now()
  const is_served = sign !== null && Math.abs(now_ms - sign.wall_ms) < alive_ms
  return { now_ms, elapsed_ms: now_ms - (sign?.offset_ms ?? 0), sign, is_served }
}

/** The clock of the database against this machine's, and against the last sign of life. */
export function examineClock({ engine }: Examined, life: Life): Finding[] {
  const { now_ms, sign, is_served } = life
  const findings = [...machineClock(engine, now_ms), ...heldRemoval(life)]
  const behind_ms = sign ? sign.wall_ms - now_ms : 0
  if (sign && behind_ms > slack_ms)
    findings.push(
      fault(
        'clock',
        `The clock says ${isoTime(now_ms)}, which is ${lengthOf(behind_ms)} before the last sign of life.`,
        `Set the clock right. If it is right: ${command('clock confirm')}`,
      ),
    )
  if (sign && !is_served && behind_ms <= slack_ms)
    findings.push(
      warning(
        'clock',
        `No service runs on this database. The last one did ${lengthOf(behind_ms)} ago, at ${isoTime(sign.wall_ms)}.`,
        `To start it: ${command('serve')}`,
      ),
    )
  return orOk(
    findings,
    'clock',
    sign
      ? `The clock is right, and the last sign of life is ${lengthOf(behind_ms)} old.`
      : 'No service has run on this database yet.',
  )
}

function machineClock(engine: Examined['engine'], now_ms: number): Finding[] {
  const ahead_ms = systemClock.now() - now_ms
  if (engine === 'sqlite' || Math.abs(ahead_ms) < noticeable_ms) return []
  return [
    warning(
      'clock',
      `This machine's clock is ${lengthOf(ahead_ms)} ${ahead_ms > 0 ? 'ahead of' : 'behind'} the clock of PostgreSQL, which counts.`,
      'Run an NTP service, such as systemd-timesyncd, on both machines.',
    ),
  ]
}

function heldRemoval({ elapsed_ms, sign }: Life): Finding[] {
  if (!sign || elapsed_ms >= sign.held_until_ms) return []
  return [
    warning(
      'clock',
      `Nothing is removed for good before ${isoTime(sign.held_until_ms + sign.offset_ms)}. ${sign.reason ?? ''}`.trim(),
      `Set the clock right. If it is right: ${command('clock confirm')}`,
    ),
  ]
}

/** Whether old records are removed: the oldest in the trash has been there for at most TRASH_DAYS and a day. */
export async function examineTrash(
  { db }: Examined,
  tables: readonly string[],
  trash_days: number,
  { now_ms }: Life,
): Promise<Finding[]> {
  const limit = isoTime(now_ms - (trash_days + 2) * 86_400_000)
  const late: string[] = []
  let held = 0
  for (const table of tables) {
    const { rows } = await sql<{ n: number; oldest: string | null }>`
      SELECT count(*) AS n, min(deleted_at) AS oldest FROM ${sql.table(table)} WHERE deleted_at IS NOT NULL`.execute(
      db,
    )
    const { n = 0, oldest = null } = rows[0] ?? {}
    held += Number(n)
    if (oldest !== null && oldest < limit) late.push(table)
  }
  if (!late.length)
    return [ok('trash', `${counted(held, 'record is', 'records are')} in the trash, none for too long.`)]
  return [
    warning(
      'trash',
      `Records are in the trash for longer than TRASH_DAYS=${trash_days}: ${late.join(', ')}`,
      `The service removes them every hour, unless the clock may be wrong: ${command('clock show')}`,
    ),
  ]
}
