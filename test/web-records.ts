import type { Rapport } from './harness.ts'

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
const days_ms = 24 * 3600 * 1000
const day = (from_now: number) => new Date(Date.now() + from_now * days_ms).toISOString()

/** A workspace as a sales team has it, small: firms, people, deals in every stage, activities, appointments, notes. */
export async function fillWorkspace({ call }: Pick<Rapport, 'call'>): Promise<void> {
  async function create(path: string, body: object): Promise<number> {
    const made = await call('POST', `/api/v1${path}`, body)
    if (made.status !== 201) throw new Error(`${path}: ${made.text}`)
    return made.body.data.id
  }
  const companies: number[] = []
  for (const name of firms)
    companies.push(
      await create('/companies', {
        name,
        website: `https://${name.toLowerCase().replaceAll(' ', '-')}.example`,
      }),
    )
  const contacts: number[] = []
  for (const [index, name] of people.entries()) {
    const [first_name = '', last_name = ''] = name.split(' ')
    const email = `${first_name}.${last_name}@example.test`
      .toLowerCase()
      .normalize('NFD')
      .replaceAll(/[^a-z.@]/g, '')
    contacts.push(
      await create('/contacts', {
        ...{
          first_name,
          last_name,
          email,
          phone: `+49 30 5550${100 + index}`,
          company_id: companies[index % 5],
        },
        ...{
          stage: index % 3 ? 'customer' : 'lead',
          tags: index % 2 ? ['partner'] : ['newsletter', 'berlin'],
        },
        custom_fields: { region: index % 2 ? 'EMEA' : 'APAC', seats: index * 3 },
      }),
    )
  }
  for (const [index, stage] of stages.entries()) {
    const id = await create('/deals', {
      name: `${firms[index % 5]}: ${index % 2 ? 'renewal' : 'first order'}`,
      ...{ value: 1200.5 + index * 850, contact_id: contacts[index], company_id: companies[index % 5] },
      expected_close_date: day(index * 4 - 12).slice(0, 10),
    })
    const lost_reason = stage === 'lost' ? { lost_reason: 'Chose another supplier' } : {}
    if (stage !== 'new_lead')
      await call('POST', `/api/v1/deals/${id}/change-stage`, { stage, ...lost_reason })
  }
  for (const [index, subject] of [
    'Call back',
    'Send the offer',
    'Demo follow-up',
    'Ask for the contract',
  ].entries())
    await create('/activities', {
      ...{ type: index % 2 ? 'task' : 'call', subject, due_at: day(index - 1), contact_id: contacts[index] },
    })
  await create(`/contacts/${contacts[0]}/notes`, { body: 'Met at the fair. Wants an offer for 40 seats.' })
}
