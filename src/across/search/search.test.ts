// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { type Reply, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const rapport = useRapport()

type Call = (method: string, path: string, body?: unknown) => Promise<Reply>
const make = async (call: Call, kind: string, body: object): Promise<number> =>
  dataOf(await call('POST', `/api/v1/${kind}`, body), 201).id
const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
const search = async (call: Call, query: Record<string, string>) =>
  dataOf(await call('GET', `/api/v1/search?${new URLSearchParams(query)}`), 200) as {
    kind: string
    id: number
    title: string
    subtitle: string | null
  }[]

test('all kinds are searched at once, best matches first: whole name, its beginning, a word, then inside', async () => {
  const call = await newWorkspace(rapport)
  const inside = await make(call, 'companies', { name: 'Großrelaunchwerk' })
  const deal = await make(call, 'deals', { name: 'Relaunch' })
  const longer = await make(call, 'deals', { name: 'Relaunch 2027, phase two' })
  const activity = await make(call, 'activities', { subject: 'Call about the RELAUNCH', type: 'call' })
  const appointment = await make(call, 'appointments', { title: 'Rélaunch review', ...times })
  const contact = await make(call, 'contacts', { first_name: 'Zoë', last_name: 'Relaunch' })
  await make(call, 'deals', { name: 'Something else' })
  assert.deepEqual(await search(call, { q: ' relaunch ' }), [
    { kind: 'deals', id: deal, title: 'Relaunch', subtitle: 'new_lead' },
    { kind: 'contacts', id: contact, title: 'Zoë Relaunch', subtitle: null },
    { kind: 'deals', id: longer, title: 'Relaunch 2027, phase two', subtitle: 'new_lead' },
    { kind: 'appointments', id: appointment, title: 'Rélaunch review', subtitle: times.start_at },
    { kind: 'activities', id: activity, title: 'Call about the RELAUNCH', subtitle: 'call' },
    { kind: 'companies', id: inside, title: 'Großrelaunchwerk', subtitle: null },
  ])
  assert.deepEqual(
    (await search(call, { q: 'relaunch', kinds: 'companies, activities' })).map(({ kind }) => kind),
    ['activities', 'companies'],
  )
})

test('a contact is found by names in both orders and by e-mail; signs are plain characters', async () => {
  const call = await newWorkspace(rapport)
  const ana = await make(call, 'contacts', {
    first_name: 'Ana',
    last_name: "O'Brien",
    email: 'ana@acme.example',
  })
  for (const q of ['ana o', "o'brien ana", 'ANA@ACME', 'acme.ex', "'"])
    assert.deepEqual(
      (await search(call, { q })).map(({ id }) => id),
      [ana],
      q,
    )
  for (const q of ['%', '_', '\\', 'ana%', '   ']) assert.deepEqual(await search(call, { q }), [], q)
})

test('a record is found with one wrong letter, if none has the words as they are', async () => {
  const call = await newWorkspace(rapport)
  const acme = await make(call, 'companies', { name: 'Acme Instruments' })
  const deal = await make(call, 'deals', { name: 'Relaunch, phase two' })
  const meyer = await make(call, 'contacts', {
    first_name: 'Zoë',
    last_name: 'Meyer',
    email: 'z@mueller.example',
  })
  const ids = async (q: string) => (await search(call, { q })).map(({ id }) => id)
  for (const q of [
    'Acme Instrumens',
    'acme instruents',
    'Instrumants',
    'instrmuents',
    'isntruments',
    'Acme Instru8m',
  ])
    assert.deepEqual(await ids(q), [acme], q)
  for (const q of ['phase relanuch', 'relaunhc', 'Rellaunch']) assert.deepEqual(await ids(q), [deal], q)
  for (const q of ['Meier', 'zoe meier', 'mejyer', 'myeer', 'meeyr', 'meyre', 'z@muelle.example', 'moeller'])
    assert.deepEqual(await ids(q), [meyer], q)
  for (const q of ['Acne', 'Acme Instrmnet', 'Zoi Meier', 'relunhc', 'meie'])
    assert.deepEqual(await ids(q), [], q)
  const exact = await make(call, 'companies', { name: 'Instrumens' })
  assert.deepEqual(await ids('instrumens'), [exact])
})

test('a wrong letter is looked for in texts of at most eight words, so that a long text costs little', async () => {
  const call = await newWorkspace(rapport)
  const rest = ['phase', 'three', 'white', 'house', 'paint', 'green', 'doors']
  const eight = await make(call, 'deals', { name: `relaunch ${rest.join(' ')}` })
  const ids = async (q: string) => (await search(call, { q })).map(({ id }) => id)
  assert.deepEqual(await ids(`relaunhc ${rest.join(' ')}`), [eight])
  await make(call, 'deals', { name: `relaunch ${rest.join(' ')} blind` })
  assert.deepEqual(await ids(`relaunhc ${rest.join(' ')} blind`), [])
})

test('of each kind at most ten are shown, and the best of many', async () => {
  const call = await newWorkspace(rapport)
  const best = await make(call, 'companies', { name: 'Acme' })
  for (let n = 0; n < 60; n++) await make(call, 'companies', { name: `Old Acme ${n}` })
  const found = await search(call, { q: 'acme' })
  assert.equal(found.length, 10)
  assert.deepEqual([found[0]?.id, found[1]?.title], [best, 'Old Acme 59'])
})

test('a search sees a write at once, and neither the trash, other workspaces nor kinds beyond the scopes', async () => {
  const call = await newWorkspace(rapport)
  const id = await make(call, 'deals', { name: 'Hidden' })
  assert.equal((await search(call, { q: 'hidden' })).length, 1)
  assert.deepEqual(await search(await newWorkspace(rapport), { q: 'hidden' }), [])
  await call('DELETE', `/api/v1/deals/${id}`)
  assert.deepEqual(await search(call, { q: 'hidden' }), [])
  await make(rapport.call, 'deals', { name: 'Scoped' })
  const { call: limited } = await makeKey(rapport, { scopes: ['contacts:read'] })
  assert.deepEqual(await search(limited, { q: 'scoped' }), [])
  const no = await limited('GET', '/api/v1/search?q=scoped&kinds=deals')
  assert.match(refused(no, 403, 'forbidden').message, /deals:read/)
  const { call: seller } = await makeKey(rapport, { scopes: ['deals:read'] })
  assert.deepEqual(
    (await search(seller, { q: 'scoped' })).map(({ kind }) => kind),
    ['deals'],
  )
  const { call: other } = await makeKey(rapport, { scopes: ['webhooks:read'] })
  const none = refused(await other('GET', '/api/v1/search?q=scoped'), 403, 'forbidden')
  assert.match(none.message, /contacts:read or companies:read or deals:read/)
})

test('a malformed search says what works', async () => {
  const problem = async (query: string) => problems(await rapport.call('GET', `/api/v1/search?${query}`))
  assert.deepEqual(await problem(''), { q: 'required' })
  assert.deepEqual(await problem('q='), { q: 'required' })
  assert.deepEqual(await problem(`q=${'x'.repeat(256)}`), { q: 'too_long' })
  assert.deepEqual(await problem('q=a&kinds=notes'), { kinds: 'unknown_value' })
})
