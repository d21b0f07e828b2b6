import { type CompiledQuery, type QueryResult, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, Tx, type WriteRows } from '../tx.ts'
import { prepare, type Statement } from './prepare.ts'
import { isAnyOf, listParameter } from './recordset.ts'

// A transaction that changes many records works in bulk. Each item has a handle of its own, a member, and runs the same
// code as a single change. Members run concurrently: equal statements that they issue in one turn are sent as one statement
// for all of their rows. Writes whose result nobody needs are collected, and written together in the order of the items.

/** Runs the inputs of several members as one statement; returns a result for each input. */
type Send = (tx: Tx, inputs: readonly never[]) => Promise<unknown[]>
type Call = { index: number; input: unknown; resolve(result: unknown): void; reject(error: unknown): void }
type Slot = { send: Send; key: string; calls: Call[] }
type Collected = { index: number; row: unknown }

type State = {
  tx: Tx
  /** The statements of this turn, in their order. */
  round: Slot[]
  /** Statements that wait until no other one runs. Then they have the rows of all members, in the order of the items. */
  held: Slot[]
  running: number
  collected: Map<WriteRows<never>, Collected[]>
}

/** The transaction of an item. */
export class Member extends Tx {
  readonly bulk: State
  readonly index: number
  /** Whether the item has written something. Collected rows count. */
  has_written = false
  /** The slots of this turn, and the place of this member's last statement. Its next one must not come before. */
  round: Slot[]
  at = 0

  constructor(bulk: State, index: number) {
    const { tx } = bulk
    super(tx.getExecutor(), tx.session, tx)
    this.bulk = bulk
    this.index = index
    this.round = bulk.round
  }

  /** Runs a query behind the statements that the item has issued in this turn. */
  override issue<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { bulk, session } = this
    if (!/^\s*select\b/i.test(query.sql)) this.has_written = true
    if (!bulk.round.length || this.round !== bulk.round) return watched(bulk, session.executeQuery<R>(query))
    const runOwn: Send = async () => [await session.executeQuery(query)]
    const { calls } = nextSlot(this, runOwn, '')
    return new Promise((resolve, reject) =>
      calls.push({ index: this.index, input: null, resolve: resolve as never, reject }),
    )
  }

  override rows<R>(write: WriteRows<R>, rows: readonly R[]): void {
    if (!rows.length) return
    this.has_written = true
    const { collected } = this.bulk
    let list = collected.get(write)
    if (!list) {
      list = []
      collected.set(write, list)
    }
    for (const row of rows) list.push({ index: this.index, row })
  }
}

export type Bulk = {
  /** The transaction of an item. `index` orders what the items write. */
  member(index: number): Member
  /** Writes the collected rows. */
  flush(): Promise<void>
  /** Drops the collected rows. */
  discard(): void
}

/** Begins to work in bulk in a transaction. The caller flushes before the commit. */
export function openBulk(tx: Tx): Bulk {
  const bulk: State = { tx, round: [], held: [], running: 0, collected: new Map() }
  return {
    member: (index) => new Member(bulk, index),
    async flush() {
      // A member may have issued a statement without waiting for it.
      sendRound(bulk)
      const writes = [...bulk.collected]
      bulk.collected = new Map()
      await Promise.all(
        writes.map(([write, rows]) =>
          write(tx, rows.sort((a, b) => a.index - b.index).map(({ row }) => row) as never[]),
        ),
      )
    },
    discard() {
      bulk.collected = new Map()
    },
  }
}

type Join = {
  writes: boolean
  key?: string
  /** Waits for all other statements: for new rows, whose ids follow the order of the items. */
  waits?: boolean
}

/** The result of a statement that is sent with those of other members; undefined outside of bulk. */
export function join<I, R>(
  db: Db,
  send: (tx: Tx, inputs: readonly I[]) => Promise<R[]>,
  input: I,
  { writes, key = '', waits = false }: Join,
): Promise<R> | undefined {
  if (!(db instanceof Member)) return undefined
  if (writes) db.has_written = true
  const { bulk, index } = db
  const slot = waits ? heldSlot(bulk, send as unknown as Send) : nextSlot(db, send as unknown as Send, key)
  return new Promise((resolve, reject) =>
    slot.calls.push({ index, input, resolve: resolve as never, reject }),
  )
}

/** Where the next statement of a member belongs: into a slot with equal ones that is not before its last statement. */
function nextSlot(member: Member, send: Send, key: string): Slot {
  const { bulk } = member
  const { round } = bulk
  // After all members of this turn have issued their statements.
  if (!round.length) process.nextTick(sendRound, bulk)
  if (member.round !== round) Object.assign(member, { round, at: 0 })
  let at = round.findIndex((slot, index) => index >= member.at && slot.send === send && slot.key === key)
  if (at < 0) at = round.push({ send, key, calls: [] }) - 1
  member.at = at
  return round[at] as Slot
}

function heldSlot(bulk: State, send: Send): Slot {
  let slot = bulk.held.find((one) => one.send === send)
  if (!slot) {
    slot = { send, key: '', calls: [] }
    bulk.held.push(slot)
    process.nextTick(sendHeld, bulk)
  }
  return slot
}

function sendRound(bulk: State): void {
  const { round } = bulk
  bulk.round = []
  sendAll(bulk, round)
}

function sendHeld(bulk: State): void {
  if (bulk.running || bulk.round.length) return
  const { held } = bulk
  bulk.held = []
  sendAll(bulk, held)
}

function sendAll(bulk: State, slots: readonly Slot[]): void {
  for (const { send, calls } of slots) {
    calls.sort((a, b) => a.index - b.index)
    const sent = send(bulk.tx, calls.map(({ input }) => input) as never[])
    void watched(bulk, sent).then(
      (results) => {
        for (const [index, { resolve }] of calls.entries()) resolve(results[index])
      },
      (error) => {
        for (const { reject } of calls) reject(error)
      },
    )
  }
}

/** Counts a running statement. When it ends, and no member has issued another one, the held ones are sent. */
async function watched<T>(bulk: State, statement: Promise<T>): Promise<T> {
  bulk.running++
  try {
    return await statement
  } finally {
    bulk.running--
    if (bulk.held.length) process.nextTick(sendHeld, bulk)
  }
}

type Keyed = { workspace_id: number; id: number | string }
/** The condition on a column that holds the id. */
export type IsId = (column: string) => RawBuilder<SqlBool>

/**
 * A statement about the record with an id, compiled once. `build` makes it from a condition on the id; its row has the id.
 * In bulk, it runs once for the ids of all members with otherwise equal parameters.
 */
export function prepareById<P extends Keyed, R extends Pick<P, 'id'>>(
  build: (is: IsId, p: P, db: Db) => Statement<R>,
  { writes = false, type = 'bigint' }: { writes?: boolean; type?: 'bigint' | 'text' } = {},
) {
  const single = prepare<P, R>((p, db) => build((column) => sql`${sql.ref(column)} = ${p.id}`, p, db))
  const together = prepare<P & { ids: unknown }, R>((p, db) =>
    build((column) => isAnyOf(db, column, p.ids, type), p, db),
  )
  const send = async (tx: Tx, inputs: readonly P[]): Promise<(R | undefined)[]> => {
    const ids = [...new Set(inputs.map(({ id }) => id))]
    const rows = await together(tx, { ...(inputs[0] as P), ids: listParameter(tx, ids) })
    const by_id = new Map(rows.map((row) => [row.id, row]))
    return inputs.map(({ id }) => by_id.get(id))
  }
  return async (db: Db, p: P): Promise<R | undefined> => {
    if (db instanceof Member) {
      const joined = join(db, send, p, { writes, key: keyOf(p) })
      if (joined) return joined
    }
    const [row] = await single(db, p)
    return row
  }
}

/** A text for the parameters without the id. Parameters of one statement have the same names. */
function keyOf(p: Keyed): string {
  let key = ''
  for (const [name, value] of Object.entries(p))
    if (name !== 'id') key += typeof value === 'number' ? `${value} ` : JSON.stringify(value)
  return key
}

/** Rows of a table as one parameter, on PostgreSQL: a table `r` with its columns. `rows` is JSON text. */
export const rowsOfTable = (table: string, rows: string): RawBuilder<unknown> =>
  sql`json_populate_recordset(NULL::${sql.table(table)}, ${rows}::json) AS r`
