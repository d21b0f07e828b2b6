import type { Rapport } from '../harness.ts'

const people = [
  ...[
    'Ada Lovelace',
    'Grace Hopper',
    'Alan Turing',
    'Katherine Johnson',
    'Linus Berg',
    'Mei Tanaka',
    'Zoë Ångström',
  ],
  ...[
    'José Álvarez',
    'Anna Schmidt',
    'Omar Haddad',
    'Ivy Chen',
    'Paul Nowak',
    'Sofia Rossi',
    'Tom Baker',
    'Nina Weber',
  ],
]
const firms = [
  'Analytical Engines',
  'Harbour Logistics',
  'Northwind Foods',
  'Blue Peak Energy',
  'Lumen Optics',
]
const stages = [
  ...['new_lead', 'qualification', 'demo', 'proposal', 'negotiation', 'verbal_commitment', 'won', 'lost'],
  ...['new_lead', 'demo', 'proposal', 'won'],
]
const tasks = ['Call back', 'Send the offer', 'Demo follow-up', 'Ask for the contract']
const hour_ms = 3600 * 1000
// Whole hours from now. The first one is at least half an hour away, so that nothing becomes overdue during a test.
const hour = (from_now: number) =>
  new Date((Math.ceil(Date.now() / hour_ms + 0.5) + from_now) * hour_ms).toISOString()
const day = (from_now: number) => hour(from_now * 24)

/** A workspace as a sales team has it, small: firms, people, deals in every stage, activities, appointments, notes. */
export async function fillWorkspace({ call }: Pick<Rapport, 'call'>) {
  async function create(path: string, body: object): Promise<number> {
    const made = await call('POST', `/api/v1${path}`, body)
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`)
    return made.body.data.id
  }
  const companies: number[] = []
  for (const name of firms) {
    const website = `https://${name.toLowerCase().replaceAll(' ', '-')}.example`
    companies.push(await create('/companies', { name, website, industry: 'Manufacturing' }))
  }
  const contacts: number[] = []
  for (const [index, name] of people.entries()) {
    const [first_name = '', last_name = ''] = name.split(' ')
    const plain = `${first_name}.${last_name}`.toLowerCase().normalize('NFD')
    contacts.push(
      await create('/contacts', {
        first_name,
        last_name,
        email: `${plain.replaceAll(/[^a-z.]/g, '')}@example.test`,
        phone: `+49 30 5550${100 + index}`,
        company_id: companies[index % 5],
        stage: index % 3 ? 'customer' : 'lead',
        tags: index % 2 ? ['partner'] : ['newsletter', 'berlin'],
        custom_fields: { region: index % 2 ? 'EMEA' : 'APAC', seats: index * 3 },
      }),
    )
  }
  const deals: number[] = []
  for (const [index, stage] of stages.entries()) {
    const id = await create('/deals', {
      name: `${firms[index % 5]}: ${index % 2 ? 'renewal' : 'first order'}`,
      value: Number((1200.5402 + index * 850).toFixed(4)),
      contact_id: contacts[index],
      company_id: companies[index % 5],
      expected_close_date: day(index * 4 - 12).slice(0, 10),
    })
    deals.push(id)
    const lost_reason = stage === 'lost' ? { lost_reason: 'Chose another supplier' } : {}
    if (stage !== 'new_lead')
      await call('POST', `/api/v1/deals/${id}/change-stage`, { stage, ...lost_reason })
  }
  const activities: number[] = []
  for (const [index, subject] of tasks.entries()) {
    const linked = { contact_id: contacts[index], deal_id: deals[index] }
    activities.push(
      await create('/activities', {
        type: index % 2 ? 'task' : 'call',
        subject,
        due_at: day(index - 1),
        ...linked,
      }),
    )
  }
  const page = { slug: 'demo', title: 'Product demo', time_zone: 'Europe/Berlin' }
  const booking_page = await create('/booking-pages', page)
  const appointments: number[] = []
  for (const index of [0, 1, 2])
    appointments.push(
      await create('/appointments', {
        title: tasks[index],
        start_at: hour(index * 24 + 2),
        end_at: hour(index * 24 + 3),
        contact_id: contacts[index],
      }),
    )
  await create(`/contacts/${contacts[0]}/notes`, { body: 'Met at the fair. Wants an offer for 40 seats.' })
  await call('DELETE', `/api/v1/contacts/${contacts.at(-1)}`)
  return { companies, contacts, deals, activities, appointments, booking_page }
}
