import type { Database } from '../../db/db.ts'

/** The database that the doctor examines. It only reads. */
export type Examined = Pick<Database, 'db' | 'engine' | 'clock' | 'close'>

/** One line of the doctor: what it found, and the command or the setting that mends it. */
export type Finding = {
  area:
    | 'settings'
    | 'files'
    | 'database'
    | 'disk'
    | 'clock'
    | 'webhooks'
    | 'queue'
    | 'mail'
    | 'trash'
    | 'zones'
  level: 'ok' | 'warning' | 'fault'
  message: string
  mend: string | null
}
type Area = Finding['area']

export const ok = (area: Area, message: string): Finding => ({ area, level: 'ok', message, mend: null })
const withMend =
  (level: 'warning' | 'fault') =>
  (area: Area, message: string, mend: string): Finding => ({ area, level, message, mend })
export const warning = withMend('warning')
export const fault = withMend('fault')

/** The findings of an area, or its line for a good state if there are none. */
export const orOk = (findings: Finding[], area: Area, message: string): Finding[] =>
  findings.length ? findings : [ok(area, message)]

const units: [seconds: number, name: string][] = [
  [86_400, 'days'],
  [3600, 'hours'],
  [60, 'minutes'],
  [1, 'seconds'],
]

/** A length of time for people, such as `5 minutes`. */
export function lengthOf(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000)
  const [size, name] = units.find(([size]) => seconds >= 2 * size) ?? [1, 'seconds']
  const count = Math.round(seconds / size)
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`
}

/** A number of bytes for people, such as `12 MB`. */
export const sizeOf = (bytes: number): string =>
  bytes >= 1e10 ? `${Math.round(bytes / 1e9)} GB` : `${Math.ceil(bytes / 1e6)} MB`
