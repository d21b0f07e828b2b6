// runs: once
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { credentialsOf, request, useNodes } from './host.ts'
import type { Choice, HttpRequest, Item, Property } from './src/sdk.ts'

const service = useRapport()
const nodes = useNodes()

type Run = {
  key?: string
  items?: number
  execution?: string
  run?: number
  continues?: boolean
  onError?: string
  type?: string
  send?: typeof request
}

/** Runs the node with the fields of its form; fields that are not given have their defaults, as in n8n. */
async function execute(fields: object | ((item: number) => object), options: Run = {}): Promise<Item[]> {
  const {
    key = service.key,
    items = 1,
    execution = crypto.randomUUID(),
    run = 0,
    continues = false,
    onError,
    type = 'n8n-nodes-rapport.rapport',
    send = request,
  } = options
  const node = new nodes.Rapport()
  const context = {
    getCredentials: async () => ({ ...credentialsOf(service), key }),
    getNode: () => ({ id: 'a1b2', name: 'Rapport', type, onError }),
    helpers: { httpRequestWithAuthentication: send },
    getInputData: () => Array.from({ length: items }, () => ({ json: {} })),
    getNodeParameter(name: string, item: number, fallback?: unknown) {
      const all = (typeof fields === 'function' ? fields(item) : fields) as Record<string, unknown>
      return name in all ? all[name] : fallback
    },
    evaluateExpression: () => run,
    getExecutionId: () => execution,
    continueOnFail: () => continues,
  }
  const [found = []] = await node.execute.call(context as never)
  return found
}
const one = async (fields: object, options?: Run) =>
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
  (await execute(fields, options))[0]?.json as Record<string, any>

test('the package has only its nodes, its README and its licence, and names what it has', () => {
  const installed = join(nodes.folder, 'package')
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])
  const { name, keywords, n8n, dependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  assert.match(name, /^n8n-nodes-/)
  assert.ok(keywords.includes('n8n-community-node-package'))
  assert.equal(n8n.n8nNodesApiVersion, 1)
  assert.equal(dependencies, undefined)
  const { description } = new nodes.Rapport()
  assert.ok(readdirSync(join(installed, 'dist')).includes(description.icon.slice('file:'.length)))
})

test('the credentials are accepted with a good key and refused with a bad one', async () => {
  const { test, authenticate } = new nodes.RapportApi()
  const statusOf = async (key: string) => {
    const authorization = authenticate.properties.headers.Authorization.slice(1).replace(
      '{{$credentials.key}}',
      key,
    )
    const { url, method } = test.request
    return (await fetch(service.url + url, { method, headers: { authorization } })).status
  }
  assert.equal(await statusOf(service.key), 200)
  assert.equal(await statusOf('crm_wrong'), 401)
})

type Described = { summary: string; tags: string[]; parameters: { $ref?: string }[] }
const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))

test('every operation of the form sends its request of the API, with its key, its fields and its If-Match', async () => {
  const { properties } = new nodes.Rapport().description
  const shownFor = (group: string, operation: string) =>
    properties.filter(({ displayOptions: { show } = { show: {} } }) =>
      Boolean(show.resource?.includes(group) && show.operation?.includes(operation)),
    )
  const in_document = Object.entries<Record<string, Described>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ path, verb, ...operation })),
  )
  const forms = properties
    .filter(({ name }) => name === 'operation')
    .flatMap(({ options = [], displayOptions }) =>
      options.map((one) => ({ ...(one as Choice), group: displayOptions?.show.resource?.[0] as string })),
    )
  assert.ok(forms.length > 50)
  for (const { group, value, name } of forms) {
    const [found, ...others] = in_document.filter(
      ({ path, verb, summary, tags }) =>
        tags[0] === group &&
        (value === 'upsert' ? path.endsWith('/batch') : verb !== 'patch' && summary === name),
    )
    assert.ok(found && !others.length, `${group} ${value} is not one operation of the document`)
    const shown = shownFor(group, value)
    const conditional = shown.some((property) => property.name === 'options')
    const given = Object.fromEntries(
      shown
        .filter(({ required }) => required)
        .map(({ name, type }) => [name, type === 'number' ? 7 : type === 'json' ? '[7]' : 'seven']),
    )
    const sent: HttpRequest[] = []
    const send: typeof request = async (_, one) => {
      sent.push(one)
      const body = JSON.stringify({ data: [{ id: 7, status: 'created' }], meta: { has_more: false } })
      return { statusCode: 200, headers: {}, body }
    }
    const options = { if_match: '"v1"' }
    await execute({ resource: group, operation: value, ...given, options }, { execution: 'e1', send })
    const [{ method, url, headers, body } = {} as HttpRequest] = sent
    const { pathname } = new URL(url)
    const pattern = found.path.replaceAll(/\{\w+\}/g, '(7|seven)')
    assert.match(pathname, new RegExp(`^${pattern}$`), `${group} ${value}`)
    assert.equal(method, found.verb.toUpperCase())
    const takes = (parameter: string) =>
      found.parameters.some(({ $ref }) => $ref === `#/components/parameters/${parameter}`)
    assert.equal(headers['idempotency-key'], takes('idempotency_key') ? 'n8n-e1-a1b2-0-0' : undefined)
    assert.equal(conditional, takes('if_match'), `${group} ${value}`)
    if (conditional) assert.equal(headers['if-match'], '"v1"')
    if (shown.some((property) => property.name === 'fields'))
      assert.equal(typeof JSON.parse(body ?? ''), 'object')
  }
})

test('the form has the resources of the API, and its fields are those of the document', async () => {
  const { properties } = new nodes.Rapport().description
  const resources = properties[0]?.options?.map((option) => (option as { value: string }).value)
  const { enum: kinds } = document.components.schemas.Found.properties.kind
  assert.deepEqual(new Set(resources), new Set([...kinds, 'reports', 'search', 'events']))
  const wanted = Object.keys(document.components.schemas.ContactCreate.properties).filter(
    (name) => !document.components.schemas.ContactCreate.properties[name].readOnly,
  )
  const shown = properties.filter(({ displayOptions, name }) => {
    const { resource = [], operation = [] } = displayOptions?.show ?? {}
    return name !== 'operation' && resource.includes('contacts') && operation.includes('create')
  })
  const names = shown.flatMap((property) =>
    property.type === 'collection' ? (property.options as Property[]).map(({ name }) => name) : property.name,
  )
  assert.deepEqual(names.sort(), wanted.sort())
})

test('records are created, read, changed, upserted, listed and deleted, each output paired with its item', async () => {
  const company = await one({ resource: 'companies', operation: 'create', name: 'Søren & Söhne' })
  const created = await execute(
    (item) => ({
      resource: 'contacts',
      operation: 'create',
      first_name: `Zoë ${item}`,
      last_name: "O'Neill",
      fields: {
        email: `zoe${item}@example.test`,
        company_id: company.id,
        tags: ['partner'],
        custom_fields: '{"region": "EMEA"}',
      },
    }),
    { items: 3 },
  )
  assert.deepEqual(
    created.map(({ pairedItem }) => pairedItem),
    [{ item: 0 }, { item: 1 }, { item: 2 }],
  )
  const [
    {
      json: { id },
    } = { json: {} },
  ] = created
  const read = await one({ resource: 'contacts', operation: 'get', id })
  assert.deepEqual(
    [read.custom_fields, read.tags, read.company.name],
    [{ region: 'EMEA' }, ['partner'], 'Søren & Söhne'],
  )
  const changed = await one({ resource: 'contacts', operation: 'update', id, fields: { stage: 'customer' } })
  assert.equal(changed.stage, 'customer')

  const upsert = { resource: 'contacts', operation: 'upsert', email: 'zoe0@example.test' }
  assert.deepEqual(await one({ ...upsert, fields: { title: 'CEO' } }), { id, status: 'updated' })
  const fields = { first_name: 'New', last_name: 'Person' }
  assert.equal((await one({ ...upsert, email: 'new@example.test', fields })).status, 'created')

  const deal = await one({
    resource: 'deals',
    operation: 'create',
    name: 'Lamps',
    fields: { value: 1250.5, contact_id: id },
  })
  const lost = {
    resource: 'deals',
    operation: 'changeStage',
    id: deal.id,
    stage: 'lost',
    fields: { lost_reason: 'Price' },
  }
  assert.equal((await one(lost)).status, 'lost')
  const note = { resource: 'contacts', operation: 'createNote', id, body: 'Calls back on Monday.' }
  const { id: note_id } = await one(note)
  const listed = await execute({ resource: 'contacts', operation: 'listNotes', id, returnAll: true })
  assert.deepEqual(
    listed.map(({ json }) => json.id),
    [note_id],
  )

  const search = await execute({ resource: 'search', operation: 'searchRecords', q: "O'Neill" })
  assert.equal(search.length, 3)
  assert.equal((await one({ resource: 'reports', operation: 'getPipeline' })).stages.length, 8)
  assert.deepEqual(await one({ resource: 'contacts', operation: 'delete', id }), { deleted: true, id })
  assert.equal((await one({ resource: 'contacts', operation: 'restore', id })).id, id)
})

test('a list reads as many pages as its limit needs, with the filters of the API', async () => {
  const items = Array.from({ length: 230 }, (_, at) => ({
    op: 'create',
    data: { name: `Firm ${at}`, industry: at % 2 ? 'Optics' : 'Ships, boats' },
  }))
  assert.equal((await service.call('POST', '/api/v1/companies/batch', { items })).status, 200)
  const list = { resource: 'companies', operation: 'list' }
  const all = await execute({
    ...list,
    returnAll: true,
    query: { industry: 'Optics,Ships\\, boats', sort: '' },
  })
  assert.equal(new Set(all.map(({ json }) => json.id)).size, 230)
  assert.equal((await execute({ ...list, limit: 120 })).length, 120)
  assert.equal((await execute({ ...list, limit: 5, query: { industry: 'Optics' } })).length, 5)
  assert.equal((await execute({ ...list, limit: 0 })).length, 0)
})

test('a list has filters for the values and the ranges of custom fields', async () => {
  const definition = { resource: 'deals', key: 'seats', type: 'number' }
  assert.equal((await service.call('POST', '/api/v1/custom-fields', definition)).status, 201)
  for (const seats of [5, 50, 500])
    await service.call('POST', '/api/v1/deals', { name: `Seats ${seats}`, custom_fields: { seats } })
  const found = async (query: object) =>
    (await execute({ resource: 'deals', operation: 'list', query })).map(({ json }) => json.name)
  assert.deepEqual(await found({ custom_fields: '{"seats": "!50"}', search: 'seats' }), [
    'Seats 500',
    'Seats 5',
  ])
  const range = { custom_fields_from: '{"seats": 10}', custom_fields_to: { seats: 50 } }
  assert.deepEqual(await found(range), ['Seats 50'])
})

test('an error says every failing field and the item, and an item that continues has it as fields', async () => {
  const bad = {
    resource: 'contacts',
    operation: 'create',
    first_name: '',
    last_name: 'X',
    fields: { email: 'no' },
  }
  await assert.rejects(execute(bad), (error: Error & { context: object }) => {
    assert.match(error.message, /first_name/)
    assert.match(error.message, /email/)
    assert.deepEqual(error.context, { itemIndex: 0, status: 422 })
    return true
  })
  const [failed, made] = await execute((item) => (item ? { ...bad, first_name: 'Ana', fields: {} } : bad), {
    items: 2,
    continues: true,
  })
  assert.deepEqual(
    [failed?.json.status, failed?.json.code, failed?.pairedItem],
    [422, 'validation_failed', { item: 0 }],
  )
  assert.equal(made?.json.first_name, 'Ana')
  await assert.rejects(
    execute({ ...bad, fields: { custom_fields: '{"a": ' } }),
    /custom_fields is not valid JSON/,
  )
  await assert.rejects(
    execute(bad, { key: 'crm_wrong' }),
    (error: Error & { context: { status: number } }) => error.context.status === 401,
  )
  // A value never makes the path of another operation.
  await assert.rejects(
    execute({ resource: 'contacts', operation: 'get', id: '../companies' }),
    /does not exist/,
  )
})

test('a failed item goes to the error output of n8n, if the node has one', async () => {
  const missing = { resource: 'contacts', operation: 'get', id: 987_654 }
  const [item] = await execute(missing, { continues: true, onError: 'continueErrorOutput' })
  assert.match(item?.error?.message ?? '', /does not exist/)
  assert.equal(item?.json.status, 404)
  // n8n would replace the fields of such an item by the message.
  const [regular] = await execute(missing, { continues: true, onError: 'continueRegularOutput' })
  assert.deepEqual([regular?.error, regular?.json.status], [undefined, 404])
})

test('a change with the etag of an older version is refused', async () => {
  const { id } = await one({ resource: 'companies', operation: 'create', name: 'Old' })
  const { etag } = await one({ resource: 'companies', operation: 'get', id })
  const update = (name: string, if_match: string) =>
    one({ resource: 'companies', operation: 'update', id, fields: { name }, options: { if_match } })
  const changed = await update('New', etag)
  assert.equal(changed.name, 'New')
  await assert.rejects(
    update('Lost', etag),
    (error: Error & { context: { status: number } }) => error.context.status === 412,
  )
  assert.equal((await update('Newer', changed.etag)).name, 'Newer')
})

test('a run that n8n repeats writes nothing twice, and another run or item does', async () => {
  const company = { resource: 'companies', operation: 'create', name: 'Once' }
  const execution = crypto.randomUUID()
  const ids = []
  for (const run of [0, 0, 1]) ids.push((await one(company, { execution, run })).id)
  assert.equal(ids[0], ids[1])
  assert.notEqual(ids[1], ids[2])
})

test('calls of an agent do not share a key, though n8n gives them one number of their run', async () => {
  const options = { execution: crypto.randomUUID(), type: 'n8n-nodes-rapport.rapportTool' }
  const company = { resource: 'companies', operation: 'create' }
  for (const name of ['First', 'Second']) assert.equal((await one({ ...company, name }, options)).name, name)
})
