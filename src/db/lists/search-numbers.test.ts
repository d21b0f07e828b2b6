// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, useRapport } from '../../../test/harness.ts'
import { phoneKey } from './same-text.ts'
import { formsOf, numberIn } from './search-numbers.ts'

const rapport = useRapport()

type Call = Rapport['call']
const searched = async (call: Call, search: string, kind = 'contacts', more = {}): Promise<number[]> =>
  dataOf(await call('GET', `/api/v1/${kind}?${new URLSearchParams({ search, ...more })}`), 200).map(
    ({ id }: { id: number }) => id,
  )
const best = async (call: Call, q: string) =>
  dataOf(await call('GET', `/api/v1/search?${new URLSearchParams({ q })}`), 200).map(
    ({ kind, id }: { kind: string; id: number }) => [kind, id],
  )
const contact = async (call: Call, fields: object): Promise<number> =>
  dataOf(await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz', ...fields }), 201).id

test('a contact is found by a part of a telephone number, however both are written', async () => {
  const call = await newWorkspace(rapport)
  const [phone, mobile] = [
    await contact(call, { phone: '+1 (555) 010-0' }),
    await contact(call, { first_name: 'Bo', mobile: '+1.555.0100' }),
  ]
  await contact(call, { phone: '+1 (555) 020-0' })
  for (const text of [
    '5550100',
    '555 0100',
    '(555) 010-0',
    '+1 555 010 0',
    '001 555 0100',
    '550-100',
    '50100',
    '５５５０１００',
  ]) {
    assert.deepEqual(await searched(call, text), [mobile, phone], text)
    assert.deepEqual(await searched(call, text, 'contacts', { sort: 'last_name' }), [phone, mobile], text)
    assert.deepEqual(
      (await best(call, text)).sort(),
      [
        ['contacts', phone],
        ['contacts', mobile],
      ].sort(),
      text,
    )
  }
  assert.deepEqual(await searched(call, 'bo 5550100'), [mobile])
  assert.deepEqual(await searched(call, '5550100 ana ruiz'), [phone])
  assert.deepEqual(await searched(call, '5550100 nobody'), [])
  assert.deepEqual(await searched(call, '5550100', 'contacts', { phone: '+1 555 010 0' }), [phone])
  assert.deepEqual(await searched(call, '100'), [])
  await call('DELETE', `/api/v1/contacts/${phone}`)
  assert.deepEqual(await searched(call, '5550100'), [mobile])
})

test('a caller is found by the number that a telephone shows, with and without the calling code', async () => {
  const call = await newWorkspace(rapport)
  const shown = ['+49 30 1234567', '0049301234567', '0301234567', '+49 (0)30 123-4567', '+49 030 1234567']
  for (const stored of shown) {
    const id = await contact(call, { phone: stored })
    for (const text of shown) assert.deepEqual(await searched(call, text), [id], `${stored}: ${text}`)
    assert.deepEqual(await searched(call, '+49 40 1234567'), [])
    await call('DELETE', `/api/v1/contacts/${id}`)
  }
  const italian = await contact(call, { phone: '06 1234567' })
  for (const text of ['+39 06 1234567', '06 1234567']) assert.deepEqual(await searched(call, text), [italian])
  const american = await contact(call, { mobile: '(202) 555-0143' })
  assert.deepEqual(await searched(call, '+1 202 555 0143'), [american])
  assert.deepEqual(await searched(call, '+1 212 555 0143'), [])
})

test('a company is found by a part of its telephone number', async () => {
  const call = await newWorkspace(rapport)
  const { id } = dataOf(
    await call('POST', '/api/v1/companies', { name: 'Acme', phone: '+49 30 99-88-77' }),
    201,
  )
  for (const text of ['998877', '030 998877', 'acme 9988']) {
    assert.deepEqual(await searched(call, text, 'companies'), [id], text)
    assert.deepEqual(await best(call, text), [['companies', id]], text)
  }
})

test('a number with digits of a name or an e-mail address still finds these', async () => {
  const call = await newWorkspace(rapport)
  const [name, email, phone] = [
    await contact(call, { last_name: 'Room 2024' }),
    await contact(call, { email: 'ana2024@acme.example' }),
    await contact(call, { phone: '+1 2024' }),
  ]
  assert.deepEqual(await searched(call, '2024'), [phone, email, name])
  assert.deepEqual(await searched(call, 'room 2024'), [name])
})

test('more contacts with a part of a number than a list of ids holds are all found', async () => {
  const call = await newWorkspace(rapport)
  for (let at = 0; at < 3; at++) {
    const items = Array.from({ length: 700 }, (_, n) => ({
      op: 'create',
      data: { first_name: 'A', last_name: 'B', phone: `+49 30 ${at * 1000 + n}` },
    }))
    dataOf(await call('POST', '/api/v1/contacts/batch', { items }), 200)
  }
  const reply = await call('GET', '/api/v1/contacts?search=4930&per_page=1')
  assert.equal(reply.body.meta.total, 2100)
})

test('a number is found by each part of at least 4 digits, and by all of its forms with a calling code', () => {
  const number = fc.stringMatching(/^[1-9]\d{6,9}$/)
  const code = fc.stringMatching(/^[1-9]\d{0,2}$/)
  const sign = fc.constantFrom('', ' ', '-', '.', '/', '\u00a0')
  fc.assert(
    fc.property(number, code, sign, fc.nat(), (national, calling, between, at) => {
      const write = (text: string) => text.split('').join(between)
      const key = phoneKey(`+${calling} ${write(national)}`)
      const start = at % (national.length - 3)
      const part = numberIn(write(national.slice(start, start + 4)))
      if (!national.slice(start).startsWith('0')) assert.ok(key.includes(part?.digits ?? '-'))
      const whole = numberIn(`+${calling} ${write(national)}`)
      assert.ok(whole?.is_whole)
      for (const stored of [national, `0${national}`, `+${calling}0${national}`])
        assert.ok(formsOf(whole.digits).includes(phoneKey(stored)))
    }),
  )
})
