// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { companies } from '../../resources/companies/resource.ts'
import { contacts } from '../../resources/contacts/resource.ts'
import { type Fields, planMerge, planUndo, survivorChanges } from './plan.ts'

const text = fc.option(fc.constantFrom('a', 'b', 'ü', '1'), { nil: null })
const key = fc.constantFrom('region', 'size', 'constructor', '__proto__x')
const custom_fields = fc.dictionary(key, fc.oneof(fc.constantFrom('a', 1, 0, true, false)), {
  maxKeys: 4,
  noNullPrototype: true,
})
const tags = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
const plain = ['email', 'phone', 'mobile', 'company_id', 'stage', 'source', 'title', 'owner_id'] as const
const record = (id: number) =>
  fc.record(
    {
      id: fc.constant(id),
      first_name: fc.constantFrom('Ana', 'Anna'),
      last_name: fc.constantFrom('Ruiz', 'Diaz'),
      ...(Object.fromEntries(plain.map((name) => [name, text])) as Record<string, typeof text>),
      custom_fields,
      tags,
    },
    { noNullPrototype: true },
  ) as fc.Arbitrary<Fields>
const records = fc.tuple(record(1), record(2), record(3))
const fields = ['first_name', 'last_name', ...plain]
const wanted = fc.dictionary(
  fc.oneof(
    fc.constantFrom(...fields),
    key.map((name) => `custom_fields.${name}`),
  ),
  fc.constantFrom(1, 2, 3),
)

type Custom = Record<string, unknown>
const customOf = (one: Fields) => one.custom_fields as Custom
/** The record after a change, as a PUT merges it. */
function changed(before: Fields, body: Record<string, unknown>): Fields {
  const custom = { ...customOf(before), ...((body.custom_fields as Custom) ?? {}) }
  const left = Object.fromEntries(Object.entries(custom).filter(([, value]) => value !== null))
  return { ...before, ...body, custom_fields: left } as Fields
}

test('a merge takes the wanted value, else the first that is not null, and loses no tag and no key', () => {
  fc.assert(
    fc.property(records, wanted, (all, choice) => {
      const [survivor, ...others] = all
      const after = changed(survivor, planMerge(contacts, survivor, others, choice).body)
      const chosen = (name: string, read: (one: Fields) => unknown) => {
        const id = choice[name]
        const from = id === undefined ? undefined : all.find((one) => one.id === id)
        const values = all.map((one) => read(one) ?? null)
        return from ? (read(from) ?? null) : (values.find((value) => value !== null) ?? null)
      }
      for (const name of fields)
        assert.deepEqual(
          after[name],
          chosen(name, (one) => one[name]),
          name,
        )
      for (const name of new Set(all.flatMap((one) => Object.keys(customOf(one)))))
        assert.deepEqual(
          Object.hasOwn(customOf(after), name) ? customOf(after)[name] : null,
          chosen(`custom_fields.${name}`, (one) =>
            Object.hasOwn(customOf(one), name) ? customOf(one)[name] : null,
          ),
          name,
        )
      assert.deepEqual(
        [...(after.tags as string[])].sort(),
        [...new Set(all.flatMap((one) => one.tags as string[]))].sort(),
      )
    }),
  )
})

test('an undo without a change in between gives the survivor back as it was', () => {
  fc.assert(
    fc.property(records, wanted, ([survivor, ...others], choice) => {
      const { body } = planMerge(contacts, survivor, others, choice)
      const after = changed(survivor, body)
      const undone = planUndo(after, survivorChanges(survivor, body))
      assert.equal(undone.is_changed, false)
      assert.deepEqual(changed(after, undone.body), survivor)
    }),
  )
})

test('an undo keeps what was changed in between', () => {
  fc.assert(
    fc.property(records, fc.constantFrom(...plain), ([survivor, ...others], name) => {
      const { body } = planMerge(contacts, survivor, others, {})
      const edited = { ...changed(survivor, body), [name]: 'edited' }
      const undone = planUndo(edited, survivorChanges(survivor, body))
      const after = changed(edited, undone.body)
      assert.equal(after[name], 'edited')
      assert.equal(undone.is_changed, name in body)
      for (const other of plain) if (other !== name) assert.deepEqual(after[other], survivor[other], other)
    }),
  )
})

test('a merge of equal records changes nothing, for companies too', () => {
  const company = { id: 1, name: 'Acme', phone: null, custom_fields: { a: 1 }, tags: ['a'] }
  assert.deepEqual(planMerge(companies, company, [{ ...company, id: 2 }], {}).body, {})
})
