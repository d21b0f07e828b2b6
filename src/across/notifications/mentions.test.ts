import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { archiveOf, importFile } from '../../../test/imports.ts'
import { ask, type Caller, join, keyCaller, useOwner } from '../../../test/people.ts'

const clock = turnableClock(Date.now())
const rapport = useRapport({ clock })
const ada = useOwner(rapport)

const key = keyCaller(rapport)
const listed = async (call: Caller) => (await call('GET', '/notifications')).body
const member = (role: 'admin' | 'member' = 'member') => join(ada, rapport.url, role)
const contact = () => ({ first_name: 'Ana', last_name: 'Ruiz' })

const noted = async (call: Caller, body: string, id?: number) => {
  const contact_id = id ?? (await ask(call, 'POST', '/contacts', contact())).id
  const note = await ask(call, 'POST', `/contacts/${contact_id}/notes`, { body })
  return { contact_id, note_id: note.id, path: `/contacts/${contact_id}/notes/${note.id}` }
}
const named = async (name: string) => {
  const one = await member()
  await ask(one.call, 'PUT', '/profile', { name })
  return one
}
const unread = async ({ call }: { call: Caller }) => (await listed(call)).meta.unread

test('a mention in a note, by name or e-mail, notifies the member with the note, by a person or a key', async () => {
  const grace = await named('Grace O’Brien-Łukasiewicz')
  const by_name = await noted(ada, 'Offer sent. @Grace O’Brien-Łukasiewicz, please call back.')
  clock.advance(1)
  const by_email = await noted(key, `(@${grace.email.toUpperCase()}) wants the numbers.`)
  const { data, meta } = await listed(grace.call)
  assert.equal(meta.unread, 2)
  for (const [n, { contact_id, note_id }] of [by_email, by_name].entries()) {
    const record = { kind: 'contacts', id: contact_id, title: 'Ana Ruiz' }
    const { kind, actor } = data[n]
    assert.deepEqual([kind, data[n].record, data[n].note_id], ['mentioned', record, note_id])
    assert.equal(actor.kind, n ? 'person' : 'key')
  }
})

test('a mention in a note of a company or a deal notifies with that record', async () => {
  const ruth = await named('Ruth Amsel')
  const { id: company } = await ask(ada, 'POST', '/companies', { name: 'Größe & Söhne GmbH' })
  const { id: deal } = await ask(ada, 'POST', '/deals', { name: 'Relaunch 2027' })
  const first = await ask(ada, 'POST', `/companies/${company}/notes`, { body: '@Ruth Amsel knows them.' })
  clock.advance(1)
  const second = await ask(ada, 'POST', `/deals/${deal}/notes`, { body: 'Signed.' })
  await ask(ada, 'PUT', `/deals/${deal}/notes/${second.id}`, { body: 'Signed, @Ruth Amsel.' })
  const { data } = await listed(ruth.call)
  assert.deepEqual(
    data.map(({ record, note_id }: Record<string, unknown>) => [record, note_id]),
    [
      [{ kind: 'deals', id: deal, title: 'Relaunch 2027' }, second.id],
      [{ kind: 'companies', id: company, title: 'Größe & Söhne GmbH' }, first.id],
    ],
  )
})

test('a mention in the text of an activity notifies with the activity: created, changed, or in a batch', async () => {
  const uma = await named('Uma Thorvaldsen')
  const create = (body: string) => ask(ada, 'POST', '/activities', { subject: 'Call', type: 'call', body })
  const first = await create('@Uma Thorvaldsen wants the minutes.')
  const { data } = await listed(uma.call)
  const { kind, record, note_id } = data[0]
  const title = 'Call'
  assert.deepEqual([kind, record, note_id], ['mentioned', { kind: 'activities', id: first.id, title }, null])
  const other = await create('Nobody there.')
  assert.equal(await unread(uma), 1)
  await ask(ada, 'PUT', `/activities/${other.id}`, { body: 'Nobody there, @Uma Thorvaldsen.' })
  assert.equal(await unread(uma), 2)
  await ask(ada, 'POST', `/activities/${other.id}/complete`, { outcome: 'For @Uma Thorvaldsen' })
  await ask(ada, 'PUT', `/activities/${first.id}`, { body: '@Uma Thorvaldsen has the minutes.' })
  assert.equal(await unread(uma), 2)
  const items = ['@Uma Thorvaldsen, once more', 'as said'].map((body) => ({
    op: 'create',
    data: { subject: 'Call', body },
  }))
  await ask(ada, 'POST', '/activities/batch', { items })
  assert.equal(await unread(uma), 3)
})

test('a mention of the longest name counts, and an address or another word is no mention', async () => {
  const [short, long] = [await named('Jo'), await named('Jo Weiß')]
  await noted(ada, '@jo weiß will know.')
  assert.deepEqual([await unread(short), await unread(long)], [0, 1])
  await noted(ada, 'jo@jo.example, info@Jo Weiß, @Jo-Ann, @Josefine, @Jo.example and @ Jo Weiß')
  assert.deepEqual([await unread(short), await unread(long)], [0, 1])
  await noted(ada, 'Ask @Jo.')
  assert.deepEqual([await unread(short), await unread(long)], [1, 1])
})

test('a mention notifies once: a change notifies those who are new in it, and nobody of their own note', async () => {
  const [kim, lee] = [await named('Kim Novák'), await named('Lee Novák')]
  const { path } = await noted(kim.call, '@Kim Novák and @Kim Novák')
  assert.equal(await unread(kim), 0)
  await ask(ada, 'PUT', path, { body: '@Kim Novák: signed' })
  assert.equal(await unread(kim), 0)
  await ask(ada, 'PUT', path, { body: '@Kim Novák and @Lee Novák: signed' })
  assert.deepEqual([await unread(kim), await unread(lee)], [0, 1])
  await ask(ada, 'DELETE', path)
  await ask(ada, 'POST', `${path}/restore`, {})
  assert.deepEqual([await unread(kim), await unread(lee)], [0, 1])
})

test('a member with a new name is mentioned by the former one, until somebody else has it', async () => {
  const eva = await named('Eva Brandt')
  const { path } = await noted(ada, '@Eva Brandt: please call.')
  await ask(eva.call, 'PUT', '/profile', { name: 'Eva Öztürk' })
  const { data } = (await ada('GET', '/members?per_page=100')).body
  const { id, former_names } = data.find(({ email }: { email: string }) => email === eva.email)
  assert.equal(former_names[0], 'Eva Brandt')
  assert.deepEqual((await ask(ada, 'GET', `/members/${id}`)).former_names, former_names)
  await noted(ada, 'Ask @Eva Brandt.')
  assert.equal(await unread(eva), 2)
  await ask(ada, 'PUT', path, { body: '@Eva Öztürk: please call.' })
  assert.equal(await unread(eva), 2)
  const other = await named('Eva Brandt')
  await noted(ada, 'Ask @Eva Brandt.')
  assert.deepEqual([await unread(eva), await unread(other)], [2, 1])
})

test('a mention of members with one name notifies all of them, and of nobody in another workspace', async () => {
  const [one, two] = [await named('Sam Okoye'), await named('Sam Okoye')]
  const { call: eve } = await member('admin')
  await ask(eve, 'POST', '/workspaces', { name: 'Elsewhere' })
  await noted(eve, '@Sam Okoye')
  assert.deepEqual([await unread(one), await unread(two)], [0, 0])
  await noted(ada, '@Sam Okoye')
  assert.deepEqual([await unread(one), await unread(two)], [1, 1])
})

test('a mention in a refused note or in what an import brings notifies nobody', async () => {
  const max = await named('Max Überall')
  const { id } = await ask(ada, 'POST', '/contacts', contact())
  await ada('POST', `/contacts/${id}/notes`, { body: `@Max Überall ${'x'.repeat(70_000)}` })
  await ada('POST', '/contacts/999999/notes', { body: '@Max Überall' })
  const archive = archiveOf({
    'contacts-0001.ndjson': '{"id":1,"first_name":"Ana","last_name":"Ruiz"}\n',
    'activities-0001.ndjson': '{"id":1,"subject":"Call","body":"@Max Überall, in 2024"}\n',
    'notes-0001.ndjson': '{"id":1,"contact_id":1,"body":"@Max Überall wrote this in 2024"}\n',
  })
  const headers = { 'content-type': 'application/gzip' }
  const done = await importFile(rapport, { resource: 'workspace' }, archive, headers)
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 3, 0])
  assert.equal(await unread(max), 0)
})

test('a mention counts up to the 100th sign of a text', async () => {
  const pat = await named('Pat Smith')
  await noted(ada, `${'@ @x '.repeat(10_000)}@Pat Smith`)
  assert.equal(await unread(pat), 0)
  await noted(ada, `${'@x '.repeat(99)}@Pat Smith`)
  assert.equal(await unread(pat), 1)
})
