/** What an error of either engine means for whoever asked. */
export type Trouble =
  /** Two transactions were in each other's way: the same work may succeed when it is done once more. */
  | 'again'
  /** The database cannot be reached, or cannot do this now. */
  | 'unavailable'

// PostgreSQL's error codes (its manual, appendix A). As a whole: 53 (resources), 57 (operator), 58 (the system).
// 26000 and 42P05: a pooler gave us a connection that does not know, or knows already, a prepared statement.
const again = new Set(['40001', '40P01', '26000', '42P05'])
const unavailable_classes = new Set(['53', '57', '58'])
// A server in another role; too long a wait for a lock; a server that only reads, as the old one does after a fail-over;
// too long a transaction; a password that has been changed. SQLite's own three.
const unavailable = new Set(['55000', '55P03', '25006', '25P03', '25P04', '28P01'])
const sqlite_unavailable = new Set([5, 10, 13])
const network = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

type Fields = { code?: unknown; errcode?: unknown }

/** Judges an error of a query or a connection; null when it is neither trouble: a fault of the program or of its input. */
export function troubleOf(error: unknown): Trouble | null {
  if (error instanceof Unreachable) return 'unavailable'
  const { code, errcode } = (error ?? {}) as Fields
  if (typeof errcode === 'number') return sqlite_unavailable.has(errcode & 0xff) ? 'unavailable' : null
  if (typeof code !== 'string') return null
  if (again.has(code)) return 'again'
  const sql_state = /^[0-9A-Z]{5}$/.test(code)
  const busy = unavailable.has(code) || (sql_state && unavailable_classes.has(code.slice(0, 2)))
  return busy ? 'unavailable' : null
}

/** The connection to the database broke, or none could be had in time. What was being committed may or may not be. */
export class Unreachable extends Error {}

// Some ends of a connection are told by the driver's text alone.
const lost_texts =
  /connection (error|terminated|ended|timeout)|timeout (exceeded|expired)|read timeout|not queryable|client was closed/i
// The server goes down, or is not up yet.
const lost_codes = /^(08|57P0[123])/

/** The same error, or when it tells of a broken connection, an Unreachable that says so. */
export function explainLoss(error: unknown): unknown {
  const {
    message = '',
    code = '',
    errors = [],
  } = error as { message?: string; code?: string; errors?: unknown[] }
  const reason = code || (errors[0] as { code?: string } | undefined)?.code || message
  const lost = network.has(reason) || lost_codes.test(code) || (code === '' && lost_texts.test(message))
  if (!lost) return error
  return new Unreachable(`The database of DATABASE_URL cannot be reached (${reason}).`, { cause: error })
}

// SQLite tells a unique index by its columns, a check by its name, and of a trigger what the trigger says.
const sqlite_constraint = 19
const by_columns = /^UNIQUE constraint failed: (.*)$/
const by_name = /^CHECK constraint failed: (.*)$/

/**
 * The name of the constraint that refused a statement, the same on both engines where a unique index is called by its
 * table and columns; null when none did, or one without a name.
 */
export function constraintOf(error: unknown): string | null {
  const {
    errcode,
    constraint,
    message = '',
  } = (error ?? {}) as Fields & {
    constraint?: unknown
    message?: string
  }
  if (typeof constraint === 'string') return constraint
  if (typeof errcode !== 'number' || (errcode & 0xff) !== sqlite_constraint) return null
  const [, columns] = by_columns.exec(message) ?? []
  if (columns) return columns.replaceAll(/, \w+\./g, '_').replace('.', '_')
  const [, name] = by_name.exec(message) ?? []
  return name ?? (/^\w+$/.test(message) ? message : null)
}
