import { type TSchema, Type } from 'typebox'
import { type FieldProblem, max_problems, refuse } from '../../errors.ts'
import { max_body_bytes } from '../../http/body.ts'
import { errorBody } from '../../http/errors.ts'
import { Exact, flag, MaybeText } from '../../http/fields.ts'
import { bodyName, nounOf } from '../../http/openapi/names.ts'
import { operation } from '../../http/operation.ts'
import type { Schema } from '../../http/schema-problems.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { bodyProblems, bodyValidator } from '../../http/validation.ts'
import type { Room } from '../room.ts'
import { runBatch } from './batch.ts'
import { type Outcome, ops, type TagsChoice, tags_choices, type Writes, writesOf } from './items.ts'

/** The maximum number of items in a batch. */
const max_items = 1000
// From here on, sharing a commit costs SQLite more than a commit.
const large_from = 20

const nullable = (type: string) => Type.Unsafe<unknown>({ type: [type, 'null'] })
const Result = Type.Object({
  index: Type.Integer(),
  op: nullable('string'),
  status: Type.String({ enum: ['created', 'updated', 'unchanged', 'deleted', 'failed'] }),
  id: nullable('integer'),
  etag: nullable('string'),
  error: Type.Unsafe<unknown>({
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'As in the answer of a single request, without `request_id`.',
  }),
})
const counters = ['created', 'updated', 'unchanged', 'deleted', 'failed'] as const
const Answer = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(Result),
  meta: Type.Object(Object.fromEntries(counters.map((name) => [name, Type.Integer()]))),
})

const Query = Exact({
  dry_run: flag('Answers as usual, but writes nothing: a new record has no id, and a changed one no etag.'),
  tags: Type.Optional(
    Type.Unsafe<TagsChoice>({
      type: 'string',
      enum: [...tags_choices],
      default: 'add',
      description:
        'What `data.tags` of an upsert does with the tags of the record that it finds: add to them, or replace them.',
    }),
  ),
})

const tagsOf = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50, description }))

/** Describes the body of a batch. The items are checked one by one, by runBatch. */
function bodyOf(path: string, { create, update, match }: Writes): TSchema {
  const names = match.map(({ field }) => field)
  const { properties = {}, required = [] } = create as { properties?: object; required?: string[] }
  const examples = properties as Record<string, { examples?: unknown[] }>
  const data = Object.fromEntries(
    required.map((name) => [name, examples[name]?.examples?.[0] ?? `A ${name}`]),
  )
  return Exact({
    atomic: Type.Optional(Type.Boolean({ default: true, description: 'All items or none.' })),
    items: Type.Array(
      Exact({
        op: Type.String({ enum: [...ops] }),
        id: Type.Optional(
          Type.Integer({ minimum: 1, description: 'Of the record to update, delete or restore.' }),
        ),
        if_match: MaybeText({
          description:
            'The ETag that the record must have, for update, delete and restore. An upsert takes none.',
        }),
        match: Type.Optional(
          Type.Unsafe<string>({
            anyOf: [
              ...(names.length ? [{ type: 'string', enum: names }] : []),
              { type: 'string', pattern: '^custom_fields\\.', examples: ['custom_fields.customer_no'] },
            ],
            description:
              'The field by which upsert finds the record. A custom field must be defined as unique.',
          }),
        ),
        // A component: of fields that are read-only within a list, some generators leave the list out.
        data: Type.Optional({ ...update, title: bodyName(`update${nounOf(path)}`) } as TSchema),
        add_tags: tagsOf('Tags that an update adds to those of the record.'),
        remove_tags: tagsOf('Tags that an update removes.'),
      }),
      { minItems: 1, maxItems: max_items, examples: [[{ op: 'create', data }]] },
    ),
  })
}

// The items are not looked into: each of them may fail for itself.
const checkForm = bodyValidator({
  type: 'object',
  properties: {
    atomic: { type: 'boolean', default: true },
    items: { type: 'array', minItems: 1, maxItems: max_items },
  },
  required: ['items'],
  additionalProperties: false,
} as Schema)

function checkBody(body: unknown): { value: unknown } {
  const { items } = (body ?? {}) as { items?: unknown }
  const unread = Array.isArray(items) && { items: Array.from({ length: items.length }, () => null) }
  const checked = checkForm(unread ? { ...(body as object), ...unread } : body)
  const problems = bodyProblems(checked.value)
  if (unread && !problems.length) Object.assign(checked.value, { items })
  for (const problem of problems)
    if (problem.code === 'unknown_field')
      problem.message = `${problem.field} is not a key of a batch. Its keys are atomic, items.`
  return checked
}

type Sent = { atomic: boolean; items?: unknown }

/** POST of many changes of one resource: each item is created, changed or deleted as by a request of its own. */
export function batchRoute(app: App, service: Service, room: Room): void {
  const writes = writesOf(room)
  if (!writes) return
  const { path, scope, table } = room.resource
  const declared = {
    method: 'POST',
    path: `${path}/batch`,
    scope: `${scope}:write`,
    summary: `Create, change, delete and restore many ${table}`,
    description:
      'Runs 1 to 1,000 items in their order. `restore` is counted as `updated`. With `atomic`, any failing item fails the request, with fields such as `items[3].data.name`. Otherwise each item succeeds or fails for itself.',
    query: Query,
    body: bodyOf(path, writes),
    answers: { 200: Answer },
    repeatable: true,
    max_body_bytes: max_body_bytes.batch,
    checkBody,
  } as const
  operation(app, declared, (request, reply) => {
    const { atomic, items: sent } = request.body as Sent
    // A body with another form is refused below.
    const items: unknown[] = Array.isArray(sent) ? sent : []
    const dry_run = request.query.dry_run === 'true'
    const { tags } = request.query
    return service.write(
      request,
      reply,
      async (tx, context, problems) => {
        refuse(problems)
        const outcomes = await runBatch(tx, context, writes, items, { atomic, tags, views: false })
        return { body: answerOf(outcomes, dry_run) }
      },
      { large: items.length >= large_from, dry_run },
    )
  })
}

function answerOf(outcomes: readonly Outcome[], dry_run: boolean) {
  const meta = Object.fromEntries(counters.map((name) => [name, 0]))
  // Each item may have a thousand problems. All of them together would exceed an answer.
  let shown = 0
  const created = new Set(outcomes.filter(({ status }) => status === 'created').map(({ id }) => id))
  const data = outcomes.map(({ index, op, status, id, etag = null, error }) => {
    const is_undone = dry_run && created.has(id)
    meta[status] = (meta[status] ?? 0) + 1
    const { request_id: _, fields, ...rest } = error ? errorBody(error, '').error : ({} as Failure)
    const listed = fields?.slice(0, Math.max(1, 10 * max_problems - shown))
    shown += listed?.length ?? 0
    return {
      index,
      op,
      status,
      id: is_undone ? null : id,
      etag: is_undone || (dry_run && status !== 'unchanged') ? null : etag,
      error: error ? { ...rest, ...(listed && { fields: listed }) } : null,
    }
  })
  return { success: true as const, data, meta }
}
type Failure = { request_id?: string; fields?: FieldProblem[] }
