// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, useStored } from './database.ts'
import { dataOf, problems } from './envelope.ts'
import { type Rapport, useRapport } from './harness.ts'
import { importFile } from './imports.ts'

const rapport = useRapport()
const stored = useStored(rapport)

type Call = Rapport['call']
// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
const ok = async (call: Call, method: string, path: string, body?: unknown): Promise<any> =>
  dataOf(await call(method, `/api/v1${path}`, body))
const made = async (call: Call, kind: string, body: object): Promise<number> =>
  (await ok(call, 'POST', `/${kind}`, body)).id
const person = { first_name: 'Ana', last_name: 'Ruiz' }
const listed = async (call: Call, kind: string, query: Record<string, string>): Promise<number[]> =>
  (await ok(call, 'GET', `/${kind}?${new URLSearchParams(query)}`)).map(({ id }: { id: number }) => id)
const upsert = async (call: Call, kind: string, match: string, data: object) =>
  (await ok(call, 'POST', `/${kind}/batch`, { items: [{ op: 'upsert', match, data }] }))[0]

const emails = [
  'user@müller.example',
  'User@MÜLLER.example',
  'user@xn--mller-kva.example',
  'user@mu\u0308ller.example',
  'us\u00ader@müller.example\u200b',
]
const phones = ['+49 30 1234567', '0049 30 1234567', '+49 (0)30 123-4567', '\u202a+49\u00a0301234567\u202c']
const websites = ['https://acme.example', 'acme.example', 'www.acme.example', 'http://Acme.example/']
const texts = ['Café Ruiz', 'Cafe\u0301 Ruiz', 'Café\u00a0 Ruiz', 'Ca\u00adfé Ruiz\u200b']

for (const [name, kind, field, forms, more] of [
  ['an e-mail address', 'contacts', 'email', emails, person],
  ['a telephone number', 'contacts', 'phone', phones, person],
  ['a website', 'companies', 'website', websites, { name: 'Acme' }],
] as const)
  test(`a filter finds ${name} in any form of it, however it was stored`, async () => {
    const call = await newWorkspace(rapport)
    const ids: number[] = []
    for (const form of forms) ids.unshift(await made(call, kind, { ...more, [field]: form }))
    await made(call, kind, { ...more, [field]: String(forms[0]).replace(/[a-z1]/, 'x9') })
    for (const form of forms) assert.deepEqual(await listed(call, kind, { [field]: form }), ids, form)
  })

for (const [name, kind, field, forms, more] of [
  ['an e-mail address', 'contacts', 'email', emails, person],
  ['a website', 'companies', 'website', websites, { name: 'Acme' }],
  ['a name', 'companies', 'name', texts, {}],
] as const)
  test(`an upsert matches ${name} in any form of it`, async () => {
    const call = await newWorkspace(rapport)
    for (const first of forms) {
      const id = await made(call, kind, { ...more, [field]: first })
      for (const form of forms)
        assert.equal(
          (await upsert(call, kind, field, { ...more, [field]: form })).id,
          id,
          `${first}: ${form}`,
        )
      await ok(call, 'DELETE', `/${kind}/${id}`)
    }
  })

test('an import finds a company, a contact and an owner by any form of the name or the address', async () => {
  const { call } = rapport
  const company_id = await made(call, 'companies', { name: texts[0] })
  const contact_id = await made(call, 'contacts', { ...person, email: emails[0] })
  const file = `name,company,contact\n${texts.map((text, n) => `Deal ${n},${text},${emails[n]}`).join('\n')}\n`
  await importFile(rapport, { resource: 'deals' }, file)
  const deals = await ok(call, 'GET', '/deals')
  assert.deepEqual(
    deals.map((deal: Record<string, unknown>) => [deal.company_id, deal.contact_id]),
    texts.map(() => [company_id, contact_id]),
  )
})

test('a unique custom field refuses the same text in another form', async () => {
  const call = await newWorkspace(rapport)
  for (const [key, type] of [
    ['code', 'text'],
    ['billing', 'email'],
  ])
    await ok(call, 'POST', '/custom-fields', { resource: 'contacts', key, type, unique: true })
  await made(call, 'contacts', { ...person, custom_fields: { code: texts[0], billing: emails[0] } })
  for (const form of texts)
    assert.deepEqual(
      await problems(await call('POST', '/api/v1/contacts', { ...person, custom_fields: { code: form } })),
      { 'custom_fields.code': 'taken' },
    )
  for (const form of emails.slice(0, 4))
    assert.deepEqual(
      await problems(await call('POST', '/api/v1/contacts', { ...person, custom_fields: { billing: form } })),
      { 'custom_fields.billing': 'taken' },
    )
})

test('a record has a tag once, and tags and custom fields are found in any form', async () => {
  const call = await newWorkspace(rapport)
  const id = await made(call, 'contacts', { ...person, tags: texts, custom_fields: { motto: texts[1] } })
  assert.deepEqual((await ok(call, 'GET', `/contacts/${id}`)).tags, [texts[0]])
  const items = [{ op: 'update', id, data: {}, add_tags: [texts[1], 'VIP'] }]
  await ok(call, 'POST', '/contacts/batch', { items })
  assert.deepEqual((await ok(call, 'GET', `/contacts/${id}`)).tags, [texts[0], 'VIP'])
  for (const form of texts) {
    assert.deepEqual(await listed(call, 'contacts', { tag: form }), [id])
    assert.deepEqual(await listed(call, 'contacts', { 'custom_fields[motto]': form }), [id])
  }
  assert.deepEqual(await listed(call, 'contacts', { tag: 'vip' }), [])
  const away = [{ op: 'update', id, data: {}, remove_tags: [texts[2]] }]
  await ok(call, 'POST', '/contacts/batch', { items: away })
  assert.deepEqual((await ok(call, 'GET', `/contacts/${id}`)).tags, ['VIP'])
})

test('the columns source and industry are filtered by a text in the forms that programs write', async () => {
  const call = await newWorkspace(rapport)
  const two = [
    await made(call, 'contacts', { ...person, source: 'Café' }),
    await made(call, 'contacts', { ...person, source: 'Cafe\u0301' }),
  ].reverse()
  for (const source of ['Café', 'Cafe\u0301', 'Ca\u00adfé'])
    assert.deepEqual(await listed(call, 'contacts', { source }), two)
})

test('duplicates by e-mail, telephone number and name are found in any form', async () => {
  const call = await newWorkspace(rapport)
  const [a, b] = [
    await made(call, 'contacts', { first_name: 'A', last_name: 'One', email: emails[0] }),
    await made(call, 'contacts', { first_name: 'B', last_name: 'Two', email: emails[2], phone: phones[0] }),
  ]
  const c = await made(call, 'contacts', { first_name: 'C', last_name: 'Three', phone: phones[1] })
  const names = [
    await made(call, 'companies', { name: texts[0] }),
    await made(call, 'companies', { name: texts[2] }),
  ]
  const groups = async (kind: string) =>
    (await ok(call, 'GET', `/${kind}/duplicates`)).map(
      ({ reason, ids }: { reason: string; ids: number[] }) => [reason, ...ids],
    )
  assert.deepEqual(await groups('contacts'), [
    ['email', a, b],
    ['phone', b, c],
  ])
  assert.deepEqual(await groups('companies'), [['name', ...names]])
})

test('an e-mail address and a telephone number lose the characters that nobody sees, and a name keeps them', async () => {
  const call = await newWorkspace(rapport)
  const name = 'Ana\u200d\u00ad'
  const id = await made(call, 'contacts', {
    first_name: name,
    last_name: 'Ruiz',
    email: '\u200eana\u00ad@acme.example\u200b',
    phone: '\u202a+49 30 1\u202c',
    mobile: '\u2060+49 170 1\ufeff',
  })
  const { first_name, email, phone, mobile } = await ok(call, 'GET', `/contacts/${id}`)
  assert.deepEqual([first_name, email, phone, mobile], [name, 'ana@acme.example', '+49 30 1', '+49 170 1'])
  const company = await made(call, 'companies', { name, phone: '\u200e+1 555\u200f' })
  assert.equal((await ok(call, 'GET', `/companies/${company}`)).phone, '+1 555')
})

test('stored texts stay as they are written', async () => {
  const call = await newWorkspace(rapport)
  const id = await made(call, 'companies', { name: texts[1], website: 'HTTP://WWW.Müller.example/' })
  const { name, website } = await ok(call, 'GET', `/companies/${id}`)
  assert.deepEqual([name, website], [texts[1], 'HTTP://WWW.Müller.example/'])
  const [row] = await stored.rows(`SELECT website_key FROM companies WHERE id = ${id}`)
  assert.equal(row?.website_key, 'xn--mller-kva.example')
})

test('a blank in a filter by e-mail is refused, and says how a + is written', async () => {
  const call = await newWorkspace(rapport)
  const id = await made(call, 'contacts', { ...person, email: 'a+b@acme.example' })
  for (const query of [
    'email=a+b@acme.example',
    'email=x@acme.example,a+b@acme.example',
    'email=!a%20b@acme.example',
  ]) {
    const reply = await call('GET', `/api/v1/contacts?${query}`)
    assert.deepEqual(problems(reply), { email: 'invalid_format' })
    assert.match(reply.text, /write %2B for \+/)
  }
  for (const query of ['email=a%2Bb@acme.example', 'email=+a%2Bb@acme.example+'])
    assert.deepEqual((await ok(call, 'GET', `/contacts?${query}`))[0].id, id)
})
