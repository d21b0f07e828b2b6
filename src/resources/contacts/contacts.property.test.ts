import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace } from '../../../test/database.ts'
import { type Rapport, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

const rapport = useRapport()

const path = '/api/v1/contacts'
const companies = '/api/v1/companies'

type Values = {
  first_name: string
  last_name: string
  email: string | null
  stage: string | null
  /** Index in the model's companies. */
  company: number | null
}
type Known = Values & { id: number; deleted: boolean }
type Model = { contacts: Known[]; companies: { id: number; deleted: boolean }[] }

const values = {
  first_name: fc.constantFrom('Ána', 'Bo', 'Łea', 'Max 100%'),
  last_name: fc.constantFrom('Bolaño', 'Ek', 'LEA-EK'),
  email: fc.constantFrom(null, 'Max.Ek@acme.example', 'bo@beta.example'),
  stage: fc.constantFrom(null, 'lead', 'Lead', 'won'),
  company: fc.constantFrom(null, 0, 1),
}
const which = fc.nat(9)
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('create' as const), values: fc.record(values) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('update' as const),
      which,
      values: fc.record(values, { requiredKeys: [] }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('remove' as const, 'restore' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('company' as const), which: fc.nat(1), away: fc.boolean() }),
  },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

const hidden = (model: Model, company: number | null) => company === null || model.companies[company]?.deleted

/** The company in the answer of GET: the id, or null while it is in the trash. */
const shown = (model: Model, company: number | null) =>
  hidden(model, company) ? null : (model.companies[company as number]?.id ?? null)

async function apply(call: Rapport['call'], model: Model, command: Command): Promise<void> {
  const body = (of: Partial<Values>) => {
    const { company, ...rest } = of
    if (company === undefined) return rest
    return { ...rest, company_id: company === null ? null : model.companies[company]?.id }
  }
  if (command.act === 'create') {
    const refused = command.values.company !== null && hidden(model, command.values.company)
    const reply = await call('POST', path, body(command.values))
    assert.equal(reply.status, refused ? 422 : 201, reply.text)
    if (!refused) model.contacts.push({ ...command.values, id: reply.body.data.id, deleted: false })
    return
  }
  if (command.act === 'company') {
    const company = model.companies[command.which] as Model['companies'][number]
    if (company.deleted === command.away) return
    const at = `${companies}/${company.id}`
    const reply = await (command.away ? call('DELETE', at) : call('POST', `${at}/restore`))
    assert.equal(reply.status, 200)
    company.deleted = command.away
    return
  }
  const contact = model.contacts[command.which % Math.max(1, model.contacts.length)]
  if (!contact) return
  const at = `${path}/${contact.id}`
  if (command.act === 'update') {
    const { company } = command.values
    const changes = { ...command.values }
    // Null is what a company in the trash reads, so sending it changes nothing.
    if (company === null && hidden(model, contact.company)) delete changes.company
    const refused = typeof company === 'number' && hidden(model, company)
    const reply = await call('PUT', at, body(command.values))
    assert.equal(reply.status, contact.deleted ? 404 : refused ? 422 : 200, reply.text)
    if (!contact.deleted && !refused) Object.assign(contact, changes)
    return
  }
  const away = command.act === 'remove'
  const reply = await (away ? call('DELETE', at) : call('POST', `${at}/restore`))
  assert.equal(reply.status, away && contact.deleted ? 404 : 200)
  contact.deleted = away
}

const plain = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
const searches = ['', 'ana', 'ek le', 'LÉA acme', 'o', '0% bo', 'example']

/** Every filter and search, page by page, against the model. */
async function check(call: Rapport['call'], model: Model, per_page: number): Promise<void> {
  for (const search of searches)
    for (const company of [undefined, 0, 1])
      for (const stage of [undefined, 'lead', 'won']) {
        const expected = model.contacts
          .filter((one) => !one.deleted)
          .filter((one) => stage === undefined || one.stage === stage)
          .filter((one) => company === undefined || (one.company === company && !hidden(model, company)))
          .filter((one) => {
            const text = plain([one.first_name, one.last_name, one.email].join(' '))
            return plain(search)
              .split(' ')
              .every((word) => text.includes(word))
          })
          .map((one) => ({ id: one.id, stage: one.stage, company_id: shown(model, one.company) }))
          .reverse()
        const query = new URLSearchParams({ search, per_page: `${per_page}` })
        if (company !== undefined) query.set('company_id', `${model.companies[company]?.id}`)
        if (stage !== undefined) query.set('stage', stage)
        const listed: unknown[] = []
        for (let page = 1; page <= Math.ceil(expected.length / per_page) + 1; page++) {
          const { body } = await call('GET', `${path}?${query}&page=${page}`)
          assert.equal(body.meta.total, expected.length, `total of ${query}`)
          assert.equal(body.meta.last_page, Math.max(1, Math.ceil(expected.length / per_page)))
          listed.push(
            ...body.data.map(({ id, stage, company_id }: Record<string, unknown>) => ({
              id,
              stage,
              company_id,
            })),
          )
        }
        assert.deepEqual(listed, expected, `pages of ${query}`)
      }
}

test('pages and totals agree with a plain model, whatever was created, changed, deleted and restored', async () => {
  const run = fc.asyncProperty(
    fc.array(command, { maxLength: 30, size: 'max' }),
    fc.integer({ min: 2, max: 6 }),
    async (commands, per_page) => {
      const call = await newWorkspace(rapport)
      const model: Model = { contacts: [], companies: [] }
      for (const name of ['Acme', 'Beta']) {
        const { body } = await call('POST', companies, { name })
        model.companies.push({ id: body.data.id, deleted: false })
      }
      for (const command of commands) {
        await apply(call, model, command)
        const { body } = await call('GET', `${path}?per_page=100`)
        assert.equal(body.meta.total, model.contacts.filter((one) => !one.deleted).length)
        assert.equal(body.data.length, body.meta.total)
      }
      await check(call, model, per_page)
    },
  )
  await fc.assert(run, { numRuns: runs(20), interruptAfterTimeLimit: 10_000 })
})

test('no JSON whatever in a body makes the service fail, and no refused one leaves a trace', async () => {
  const call = await newWorkspace(rapport)
  const { body: made } = await call('POST', path, { first_name: 'Ana', last_name: 'Ruiz' })
  const { id } = made.data
  const anything = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary', noUnicodeString: false } as never),
    fc.constantFrom(1e308, -0, 2 ** 53, '', ' ', 'ana@acme.example', '\ud800', '\0', 'x'.repeat(70_000)),
    fc.array(fc.string(), { maxLength: 60 }),
    fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.string(), fc.double(), fc.constant(null))),
  )
  const fields = [
    'first_name',
    'last_name',
    'email',
    'phone',
    'company_id',
    'stage',
    'custom_fields',
    'tags',
    'company',
  ]
  const body = fc.oneof(
    anything,
    fc.record(Object.fromEntries([...fields, 'body'].map((field) => [field, anything])), {
      requiredKeys: [],
    }),
    fc
      .record(Object.fromEntries(fields.slice(2).map((field) => [field, anything])), { requiredKeys: [] })
      .map((rest) => ({ first_name: 'Bo', last_name: 'Li', ...rest })),
  )
  const calls: [string, string][] = [
    ['POST', path],
    ['PUT', `${path}/${id}`],
    ['POST', `${path}/${id}/notes`],
  ]
  const total = async () => (await call('GET', path)).body.meta.total
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...calls), body, async ([method, at], json) => {
      const before = await total()
      const { status, body } = await call(method, at, JSON.stringify(json))
      assert.ok([200, 201, 400, 422].includes(status), `${status}`)
      assert.equal(body.success, status < 300)
      assert.equal(await total(), status === 201 && at === path ? before + 1 : before)
      assert.equal((await call('GET', `${path}/${id}`)).status, 200)
    }),
    { numRuns: runs(300), interruptAfterTimeLimit: 10_000 },
  )
  const { body: all } = await call('GET', `${path}?per_page=100`)
  for (const { id } of all.data) assert.equal((await call('GET', `${path}/${id}`)).status, 200)
})
