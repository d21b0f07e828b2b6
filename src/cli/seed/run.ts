import { isoTime } from '../../clock.ts'
import { checkExisting } from '../../custom-fields/check.ts'
import { beginDefinition, completeDefinition } from '../../custom-fields/operations.ts'
import { type Database, type Tx, transaction } from '../../db/db.ts'
import type { ServiceClock } from '../../db/service-clock.ts'
import { ApiError } from '../../errors.ts'
import { type Context, contextOf, service } from '../../events/context.ts'
import { cancelAppointment } from '../../resources/appointments/operations.ts'
import { createBookingPage } from '../../resources/booking-pages/operations.ts'
import { changeStage } from '../../resources/deals/operations.ts'
import { rooms } from '../../resources/index.ts'
import { companyNotes, contactNotes, dealNotes, type Notes } from '../../resources/notes/operations.ts'
import type { Operations } from '../../resources/writing/operations.ts'
import type { Step } from './plan.ts'
import { definitions } from './texts.ts'

/** Where to make records. They have one request id, so a member has one notification of all that are theirs. */
type Place = { database: Database; clock: ServiceClock; workspace_id: number; request_id: string }

/** Defines the custom fields that the workspace does not have. */
export async function defineFields({
  database: { db },
  clock,
  workspace_id,
  request_id,
}: Place): Promise<void> {
  for (const definition of definitions) {
    const { resource = '', key = '' } = definition
    const known = await db
      .selectFrom('field_definitions')
      .select('id')
      .where((eb) => eb.and({ workspace_id, kind: resource, key }))
      .executeTakeFirst()
    if (known) continue
    const context = () => contextOf(clock, { workspace_id, actor: service, request_id })
    const begun = await transaction(db, (tx) => beginDefinition(tx, context(), definition, []))
    if (begun.unchecked) await checkExisting(db, clock, begun.unchecked)
    await transaction(db, (tx) => completeDefinition(tx, context(), begun))
  }
}

// A small workspace is one transaction. On SQLite, other writers wait for its end.
const steps_at_once = 1000

/** Runs the steps by the operations of the API, each at its own time. Calls `onProgress` with the number of steps that are done. */
export async function runSteps(
  place: Place,
  steps: readonly Step[],
  onProgress: (done: number) => void,
): Promise<void> {
  const ids = new Map<string, number>()
  for (let at = 0; at < steps.length; at += steps_at_once) {
    const some = steps.slice(at, at + steps_at_once)
    await transaction(
      place.database.db,
      async (tx) => {
        for (const step of some) await runStep(tx, place, step, ids)
      },
      { large: true },
    )
    onProgress(at + some.length)
  }
}

/** Runs a step, and keeps the id of its record under its key. */
async function runStep(tx: Tx, place: Place, step: Step, ids: Map<string, number>): Promise<void> {
  const { workspace_id, clock, request_id } = place
  const { at_ms, key, of } = step
  const context: Context = {
    workspace_id,
    actor: service,
    request_id,
    now: isoTime(at_ms),
    now_ms: at_ms,
    elapsed: clock.elapsed,
  }
  const references = Object.entries(of).map(([field, name]) => [field, name && ids.get(name)])
  const { id, ...links } = Object.fromEntries(references)
  // As JSON has it: fields that are undefined are left out.
  const body = JSON.parse(JSON.stringify({ ...step.body, ...links }))
  try {
    const record = await operate(tx, context, step.kind, id, body)
    if (key !== undefined) ids.set(key, record.id)
  } catch (error) {
    throw error instanceof ApiError ? explained(step, error) : error
  }
}

const sent = { problems: [], expect() {} }

const notes: { [field: string]: Notes } = {
  contact_id: contactNotes,
  company_id: companyNotes,
  deal_id: dealNotes,
}

function operationsOf(noun: string): Operations<{ id: number }> {
  const operations = rooms.find(({ resource }) => resource.noun === noun)?.operations
  if (!operations) throw new Error(`No resource with operations is a ${noun}.`)
  return operations
}

function operate(
  tx: Tx,
  context: Context,
  kind: Step['kind'],
  id: number,
  // biome-ignore lint/suspicious/noExplicitAny: the plan makes bodies of each kind
  body: any,
): Promise<{ id: number }> {
  switch (kind) {
    case 'stage':
      return changeStage(tx, context, id, body, sent)
    case 'page':
      return createBookingPage(tx, context, body, [])
    case 'cancel':
      return cancelAppointment(tx, context, id, body, sent)
    case 'note':
      return writeNote(body, (of, owner_id, note) => of.create(tx, context, owner_id, note, []))
    case 'edit':
      return writeNote(body, (of, owner_id, note) =>
        of.change(tx, context, { id: owner_id, note_id: id }, note, sent),
      )
    default:
      return operationsOf(kind).create(tx, context, body, [])
  }
}

/** Writes a note by the operations of its kind. The body has the id of its record. */
function writeNote(
  { body, ...owner }: { body: string } & { [field: string]: unknown },
  write: (of: Notes, owner_id: number, note: { body: string }) => Promise<{ id: number }>,
) {
  const [[field, owner_id] = ['', 0]] = Object.entries(owner)
  return write(notes[field] as Notes, owner_id as number, { body })
}

// A workspace with records may have definitions that the data does not meet.
function explained({ kind, body }: Step, { message, fields = [] }: ApiError): Error {
  const name = body.name ?? body.subject ?? body.title ?? body.last_name ?? ''
  const why = fields.map((field) => field.message).join(' ') || message
  return new Error(`The ${kind} "${name}" was refused: ${why}`)
}
