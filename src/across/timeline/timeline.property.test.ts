// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const base = '/api/v1'
const made = async (path: string, body: object): Promise<number> =>
  dataOf(await call('POST', base + path, body), 201).id

// One contact, one company, one deal. Each created record refers to some of them.
type World = { contacts: number; companies: number; deals: number }
const link = fc.record({ contact: fc.boolean(), company: fc.boolean(), deal: fc.boolean() })
const stage = fc.constantFrom('new_lead', 'demo', 'proposal', 'won')
const command = fc.oneof(
  fc.record({ act: fc.constantFrom('note' as const, 'activity' as const, 'appointment' as const), link }),
  fc.record({ act: fc.constant('deal' as const), link }),
  fc.record({ act: fc.constant('move' as const), which: fc.nat(5), stage }),
  fc.record({ act: fc.constantFrom('delete' as const, 'restore' as const), which: fc.nat(20) }),
  fc.record({ act: fc.constant('change' as const), text: fc.constantFrom('a', 'b') }),
  // Rarely: most of what happens has the time of what happened before.
  fc.record({ act: fc.constant('wait' as const) }),
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

let times = 0
async function apply(world: World, records: string[], one: Command): Promise<void> {
  const links = (asked: { contact: boolean; company: boolean; deal: boolean }) => ({
    ...(asked.contact && { contact_id: world.contacts }),
    ...(asked.company && { company_id: world.companies }),
  })
  switch (one.act) {
    case 'note': {
      const owner = one.link.deal ? 'deals' : one.link.company ? 'companies' : 'contacts'
      const path = `/${owner}/${world[owner]}/notes`
      records.push(`${path}/${await made(path, { body: 'x' })}`)
      return
    }
    case 'activity': {
      const body = { subject: 'x', ...links(one.link), ...(one.link.deal && { deal_id: world.deals }) }
      records.push(`/activities/${await made('/activities', body)}`)
      return
    }
    case 'appointment': {
      const start_at = new Date(Date.parse('2027-01-01T00:00:00Z') + ++times * 60_000).toISOString()
      const body = { title: 'x', start_at, end_at: '2028-01-01T00:00:00Z' }
      const whose = {
        ...(one.link.contact && { contact_id: world.contacts }),
        ...(one.link.deal && { deal_id: world.deals }),
        // As a guest, too.
        ...(one.link.company && { guest_ids: [world.contacts] }),
      }
      records.push(`/appointments/${await made('/appointments', { ...body, ...whose })}`)
      return
    }
    case 'deal':
      records.push(`/deals/${await made('/deals', { name: 'x', ...links(one.link) })}`)
      return
    case 'move': {
      const deals = [`/deals/${world.deals}`, ...records.filter((path) => path.startsWith('/deals/'))]
      await call('POST', `${base}${deals[one.which % deals.length]}/change-stage`, { stage: one.stage })
      return
    }
    case 'delete':
    case 'restore': {
      const path = records[one.which % Math.max(1, records.length)]
      if (!path) return
      if (one.act === 'delete') await call('DELETE', base + path)
      else await call('POST', `${base}${path}/restore`)
      return
    }
    case 'change':
      await call('PUT', `${base}/contacts/${world.contacts}`, { title: one.text })
      await call('PUT', `${base}/companies/${world.companies}`, { phone: one.text })
      await call('PUT', `${base}/deals/${world.deals}`, { source: one.text })
      return
    case 'wait':
      clock.advance(1)
  }
}

type Key = { at: string; type: string; id: number }
const ranks = [
  'change',
  'note',
  'activity',
  'appointment',
  'deal',
  'stage_change',
  'company_note',
  'deal_note',
]
const text = ({ at, type, id }: Key) => `${at} ${type} ${id}`

/** The entries that a timeline must show, from all rows of the tables. */
async function model(owner: keyof World, id: number): Promise<string[]> {
  const stored = await readStored(rapport.data_dir)
  const rows = async (table: string) =>
    (await stored.rows(`SELECT * FROM ${table}`)).filter((row) => !row.deleted_at) as Record<string, never>[]
  const [contacts, notes, company_notes, deal_notes, activities, appointments, deals, stages, audit] = [
    await rows('contacts'),
    await rows('notes'),
    await rows('company_notes'),
    await rows('deal_notes'),
    await rows('activities'),
    await rows('appointments'),
    await rows('deals'),
    await rows('deal_stages'),
    await rows('audit_log'),
  ]
  const invited = await stored.rows('SELECT * FROM appointment_guests')
  await stored.close()
  const field = { contacts: 'contact_id', companies: 'company_id', deals: 'deal_id' }[owner]
  const people = contacts.flatMap((row) =>
    (owner === 'contacts' ? row.id === id : owner === 'companies' && row.company_id === id) ? row.id : [],
  )
  const mine = deals.filter((row) => (owner === 'deals' ? row.id === id : row[field] === id))
  const entry = (type: string, at: string) => (row: Record<string, never>) => ({
    type,
    at: row[at] ?? '',
    id: Number(row.id),
  })
  const found: Key[] = [
    ...audit
      .filter((row) => row.kind === owner && row.record_id === String(id))
      .map(entry('change', 'occurred_at')),
    ...notes.filter((row) => people.includes(row.contact_id as never)).map(entry('note', 'created_at')),
    ...company_notes
      .filter((row) => owner === 'companies' && row.company_id === id)
      .map(entry('company_note', 'created_at')),
    ...deal_notes
      .filter((row) => mine.some((deal) => deal.id === row.deal_id))
      .map(entry('deal_note', 'created_at')),
    ...activities.filter((row) => row[field] === id).map(entry('activity', 'created_at')),
    ...appointments
      .filter(
        (row) =>
          people.includes(row.contact_id as never) ||
          (owner === 'deals' && row.deal_id === id) ||
          (owner === 'contacts' &&
            invited.some((one) => one.appointment_id === row.id && one.contact_id === id)),
      )
      .map(entry('appointment', 'created_at')),
    ...(owner === 'deals' ? [] : mine.map(entry('deal', 'created_at'))),
    ...stages
      .filter((row) => row.from_stage !== null && mine.some((deal) => deal.id === row.deal_id))
      .map(entry('stage_change', 'changed_at')),
  ]
  return found
    .sort((a, b) => b.at.localeCompare(a.at) || ranks.indexOf(b.type) - ranks.indexOf(a.type) || b.id - a.id)
    .map(text)
}

/** All pages of a timeline; `between` is done after each. */
async function pages(owner: keyof World, id: number, per_page: number, between = async () => {}) {
  const keys: string[] = []
  let cursor: string | null = 'start'
  while (cursor !== null) {
    const path = `${base}/${owner}/${id}/timeline?per_page=${per_page}&cursor=${cursor}`
    const { status, body, text: answer } = await call('GET', path)
    assert.equal(status, 200, answer)
    keys.push(...body.data.map(text))
    cursor = body.meta.next_cursor
    assert.ok(cursor === null || body.data.length === per_page)
    await between()
  }
  return keys
}

test('timelines are what a model makes of all rows, whatever the page and however many have one time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 25, maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      async (commands, per_page) => {
        const companies = await made('/companies', { name: 'Acme' })
        const links = { company_id: companies }
        const contacts = await made('/contacts', { first_name: 'A', last_name: 'B', ...links })
        const deals = await made('/deals', { name: 'D', ...links, contact_id: contacts })
        const world = { companies, contacts, deals }
        const records: string[] = []
        for (const one of commands) await apply(world, records, one)
        for (const owner of ['contacts', 'companies', 'deals'] as const) {
          const expected = await model(owner, world[owner])
          assert.equal(new Set(expected).size, expected.length)
          assert.deepEqual(await pages(owner, world[owner], per_page), expected)
          assert.deepEqual(await pages(owner, world[owner], 100), expected)
        }

        // An entry that is added between two pages comes first, and does not move the others.
        const known = await model('contacts', contacts)
        const seen = await pages('contacts', contacts, per_page, async () => {
          clock.advance(1)
          await apply(world, records, { act: 'note', link: { contact: true, company: true, deal: true } })
          await apply(world, records, { act: 'change', text: String(clock.now()) as 'a' })
        })
        assert.deepEqual(seen, known)
      },
    ),
    { numRuns: runs(6) },
  )
})
