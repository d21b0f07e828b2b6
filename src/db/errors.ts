/** The meaning of an error of either engine for the caller. */
export type Trouble =
  /** A deadlock or a serialisation failure: the same work may succeed when it is retried. */
  | 'retry'
  /** The database cannot be reached, or cannot run the statement now. */
  | 'unavailable'

// PostgreSQL's error codes are in its manual, appendix A. Whole classes: 53 (resources), 57 (operator), 58 (system).
// 26000 and 42P05: a pooler switched to a connection that lacks, or already has, a prepared statement.
const retry = new Set(['40001', '40P01', '26000', '42P05'])
const unavailable_classes = new Set(['53', '57', '58'])
// 55000: a server in another role. 55P03: a lock timeout. 25006: a read-only server, after a fail-over. 25P03, 25P04:
// timeouts of a transaction. 28P01: a changed password. SQLite: SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL.
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

/** Other transactions did not end in time, as with a lock timeout of PostgreSQL. */
export class LockTimeout extends Error {
  readonly code = '55P03'
}

/** A concurrent transaction came first. `transaction` runs the work again. */
export class Overtaken extends Error {
  readonly code = '40001'
}

type Fields = { code?: unknown; errcode?: unknown }

/** Classifies an error of a query or a connection. Null: an error in the program or its input. */
export function troubleOf(error: unknown): Trouble | null {
  if (error instanceof Unreachable) return 'unavailable'
  const { code, errcode } = (error ?? {}) as Fields
  if (typeof errcode === 'number') return sqlite_unavailable.has(errcode & 0xff) ? 'unavailable' : null
  if (typeof code !== 'string') return null
  if (retry.has(code)) return 'retry'
  const sql_state = /^[0-9A-Z]{5}$/.test(code)
  const busy = unavailable.has(code) || (sql_state && unavailable_classes.has(code.slice(0, 2)))
  return busy ? 'unavailable' : null
}

/** The connection broke, or none was free in time. A commit that was in progress may or may not have succeeded. */
export class Unreachable extends Error {}

// For some lost connections, the driver gives a message but no code.
const lost_texts =
  /connection (error|terminated|ended|timeout)|timeout (exceeded|expired)|read timeout|not queryable|client was closed/i
// Connection exceptions, and a server that shuts down or starts.
const lost_codes = /^(08|57P0[123])/

/** The same error, or an Unreachable when the error means a lost connection. */
export function explainLoss(error: unknown): unknown {
  if (error instanceof Unreachable) return error
  const {
    message = '',
    code = '',
    errors = [],
  } = error as { message?: string; code?: string; errors?: unknown[] }
  const reason = code || (errors[0] as { code?: string } | undefined)?.code || message
  const lost = network.has(reason) || lost_codes.test(code) || (code === '' && lost_texts.test(message))
  if (!lost) return error
  const text = `The database of DATABASE_URL cannot be reached (${reason}). Check that its server runs.`
  return new Unreachable(text, { cause: error })
}

// SQLite's message has the columns of a unique index, the name of a check, or the text of a trigger.
const sqlite_constraint = 19
const by_columns = /^UNIQUE constraint failed: (.*)$/
const by_name = /^CHECK constraint failed: (.*)$/

/**
 * The name of the constraint that refused a statement; null when there is none, or it has no name. A unique index must be
 * named after its table and columns, so that both engines give the same name.
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
