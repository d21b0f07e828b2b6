import { RapportError, responseOf } from '../../../client/src/index.ts'
import { described } from '../generated/described.ts'
import { clientOf } from './fetch.ts'
import { parsed } from './json.ts'
import type { Choice, ExecuteContext, Item, Json, NodeDescription, Property, Value } from './sdk.ts'

type Methods = Record<string, (...values: unknown[]) => Promise<unknown> | AsyncIterable<Json>>

/** The node with the actions. */
export class Rapport {
  description: NodeDescription = {
    displayName: 'Rapport',
    name: 'rapport',
    icon: 'file:rapport.svg',
    group: ['output'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Read and change records of the Rapport CRM',
    defaults: { name: 'Rapport' },
    inputs: ['main'],
    outputs: ['main'],
    usableAsTool: true,
    credentials: [{ name: 'rapportApi', required: true }],
    properties: described.properties,
  }

  async execute(this: ExecuteContext): Promise<Item[][]> {
    const client = (await clientOf(this)) as unknown as Record<string, Methods>
    const results: Item[] = []
    for (const item of this.getInputData().keys())
      try {
        for (const json of await run(this, client, item)) results.push({ json, pairedItem: { item } })
      } catch (error) {
        if (!this.continueOnFail()) throw said(error, item)
        results.push(failed(this, error, item))
      }
    return [results]
  }
}

/** Runs the operation that the form of an item says. Resolves to the records that it answers. */
async function run(context: ExecuteContext, client: Record<string, Methods>, item: number): Promise<Json[]> {
  const read = (name: string, fallback?: unknown) => context.getNodeParameter(name, item, fallback)
  const [resource, name] = [String(read('resource')), String(read('operation'))]
  const operation = described.operations[resource]?.[name]
  const methods = client[resource]
  if (!operation || !methods) throw new TypeError(`${resource} has no operation ${name}.`)
  const in_path = operation.path.map((parameter) => read(parameter))
  if (operation.each)
    return listed(
      methods[operation.each]?.(...in_path, queryOf(operation.query ?? [], read)) as AsyncIterable<Json>,
      read('returnAll', false) === true ? Number.POSITIVE_INFINITY : Number(read('limit', 50)),
    )
  const body = operation.body && bodyOf(operation.body, read)
  const values = [
    ...in_path,
    ...(operation.match ? [upsertOf(operation.match, body ?? {})] : operation.body ? [body] : []),
    ...(operation.query ? [queryOf(operation.query, read)] : []),
    { idempotency_key: keyOf(context, item), ...(read('options', {}) as { if_match?: string }) },
  ]
  const answer = await (methods[operation.method] as (...values: unknown[]) => Promise<unknown>)(...values)
  if (operation.match) return [upserted(answer)]
  if (answer === undefined) return [{ deleted: true, id: (in_path.at(-1) ?? null) as Value }]
  const data = (answer as { data?: unknown }).data ?? answer
  if (Array.isArray(data)) return data
  // A later change may give it as If-Match.
  const { etag } = responseOf(answer as object)
  return [{ ...(data as Json), ...(etag && { etag }) }]
}

async function listed(records: AsyncIterable<Json>, limit: number): Promise<Json[]> {
  const all: Json[] = []
  if (limit < 1) return all
  for await (const record of records) {
    all.push(record)
    if (all.length >= limit) break
  }
  return all
}

type Read = (name: string, fallback?: unknown) => unknown

const namesOfJson = (properties: readonly (Property | Choice)[]): string[] =>
  properties.flatMap((one) => {
    if (!('type' in one)) return []
    return one.type === 'json' ? [one.name] : namesOfJson(one.options ?? [])
  })
const json_fields = new Set(namesOfJson(described.properties))
const sentValue = (name: string, value: unknown) => (json_fields.has(name) ? parsed(name, value) : value)

function bodyOf(required: readonly string[], read: Read): Json {
  const fields = Object.entries((read('fields', {}) ?? {}) as object)
  const all = [...required.map((name) => [name, read(name)] as const), ...fields]
  return Object.fromEntries(all.map(([name, value]) => [name, sentValue(name, value)])) as Json
}

/** An empty filter is one that was added and not filled in. */
function queryOf(required: readonly string[], read: Read): object {
  const filters = Object.entries((read('query', {}) ?? {}) as object)
  const sent = [...required.map((name) => [name, read(name)] as const), ...filters]
  return Object.fromEntries(
    sent
      .filter(([, value]) => value !== '')
      .flatMap(([one, value]) => parametersOf(one, sentValue(one, value))),
  )
}

const ends = new Map([
  ['custom_fields_from', '_from'],
  ['custom_fields_to', '_to'],
])
/** The parameters of a filter. The range of a custom field has one with its key, such as `custom_fields[seats]_from`. */
function parametersOf(name: string, value: unknown): [string, unknown][] {
  const end = ends.get(name)
  if (!end || typeof value !== 'object' || value === null) return [[name, value]]
  return Object.entries(value).map(([key, one]) => [`custom_fields[${key}]${end}`, one])
}

const upsertOf = (match: string, data: Json) => ({ items: [{ op: 'upsert', match, data }] })

function upserted(answer: unknown): Json {
  const [{ status, id }] = (answer as { data: [{ status: string; id: number }] }).data
  return { id, status }
}

/**
 * One for each item of each run, so that a repetition of the run by n8n repeats no write. A manual test has no execution,
 * and gets a new one. So does each call by an agent: the agent's items share the numbers of their runs.
 */
function keyOf(context: ExecuteContext, item: number): string {
  const [execution, node] = [context.getExecutionId(), context.getNode()]
  // As a tool of an agent, n8n adds Tool to the type of the node.
  if (!execution || node.type.endsWith('Tool')) return crypto.randomUUID()
  const run = context.evaluateExpression('{{ $runIndex }}', item)
  return `n8n-${execution}-${node.id}-${run}-${item}`
}

/**
 * A failed item of a workflow that continues. n8n sends it to the error output if it has an `error`; without that output,
 * n8n would replace its fields by the message.
 */
function failed(context: ExecuteContext, error: unknown, item: number): Item {
  const result = { json: failureOf(error), pairedItem: { item } }
  return context.getNode().onError === 'continueErrorOutput'
    ? { ...result, error: said(error, item) }
    : result
}

function failureOf(error: unknown): Json {
  if (!(error instanceof RapportError)) return { error: (error as Error).message }
  const { status, code, fields, request_id } = error
  return { error: textOf(error), status, code, fields: fields as Value, request_id }
}

const textOf = ({ message, fields }: RapportError): string =>
  fields.length ? `${message} ${fields.map((one) => one.message).join(' ')}` : message

/** The error as n8n shows it: with the failing fields, and the number of the item. */
function said(error: unknown, item: number): Error {
  const text = error instanceof RapportError ? textOf(error) : (error as Error).message
  const context = { itemIndex: item, ...(error instanceof RapportError && { status: error.status }) }
  return Object.assign(new Error(text, { cause: error }), { context })
}
