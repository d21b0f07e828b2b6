import type { BatchItem, RecordKind } from '../api/record-api.ts'
import { recordApi } from '../api/record-api.ts'
import type { Texts } from '../texts/texts.ts'

/** The tag by which the sample data is found again. */
export const sample_tag = 'sample'

const companies = [
  { name: 'Northwind Foods', website: 'https://northwind.example' },
  { name: 'Harbour Logistics', website: 'https://harbour.example' },
  { name: 'Blue Peak Energy', website: 'https://bluepeak.example' },
  { name: 'Lumen Optics', website: 'https://lumen.example' },
]
const people = [
  ['Ada', 'Lovelace', 'ada@northwind.example', '+49 30 5550100'],
  ['José', 'Álvarez', 'jose@northwind.example', '+49 30 5550101'],
  ['Grace', 'Hopper', 'grace@harbour.example', '+49 30 5550102'],
  ['Omar', 'Haddad', 'omar@harbour.example', '+49 30 5550103'],
  ['Mei', 'Tanaka', 'mei@bluepeak.example', '+49 30 5550104'],
  ['Paul', 'Nowak', 'paul@bluepeak.example', '+49 30 5550105'],
  ['Anna', 'Schmidt', 'anna@lumen.example', '+49 30 5550106'],
  ['Zoë', 'Ångström', 'zoe@lumen.example', '+49 30 5550107'],
] as const
// Each with the days from today until it may close.
const deals = [
  ['new_lead', 4200, 60],
  ['qualification', 12_500, 45],
  ['demo', 8900, 30],
  ['proposal', 24_000, 21],
  ['negotiation', 15_800, 10],
  ['verbal_commitment', 6400, 5],
  ['won', 9900, 0],
  ['proposal', 3100, -3],
] as const
const plans = [
  ['call', 0],
  ['email', 1],
  ['meeting', 3],
  ['task', -1],
] as const

const day_ms = 86_400_000
const dayIn = (days: number) => new Date(Date.now() + days * day_ms).toISOString()

type Batch = { kind: RecordKind; ids: number[] }

const doTo = (op: 'delete' | 'restore', { kind, ids }: Batch) =>
  recordApi(kind).batch(ids.map((id) => ({ op, id })) as BatchItem[], { atomic: true })

/** Goes on after an error: the error that led here counts. */
async function doEach(op: 'delete' | 'restore', batches: readonly Batch[]): Promise<void> {
  for (const batch of batches) await doTo(op, batch).catch(() => {})
}

/**
 * Fills in companies, contacts, deals and activities, all with the tag: all of them, or none. `named` adds to a refusal of records
 * what a person has to know.
 */
export async function fillSampleData(
  owner_id: string,
  t: Texts,
  named: (kind: RecordKind, error: unknown) => Promise<unknown>,
): Promise<void> {
  const made: Batch[] = []
  /** Creates records, and resolves to their ids in the same order. */
  async function create(kind: RecordKind, records: readonly object[]): Promise<number[]> {
    const items = records.map((data) => ({ op: 'create', data: { ...data, owner_id, tags: [sample_tag] } }))
    const results = await recordApi(kind)
      .batch(items as BatchItem[], { atomic: true })
      .catch(async (error) => {
        throw await named(kind, error)
      })
    const ids = results.map(({ id }) => Number(id))
    made.unshift({ kind, ids })
    return ids
  }
  try {
    const company_ids = await create('companies', companies)
    const contact_ids = await create(
      'contacts',
      people.map(([first_name, last_name, email, phone], at) => ({
        first_name,
        last_name,
        email,
        phone,
        company_id: company_ids[at >> 1],
      })),
    )
    const deal_ids = await create(
      'deals',
      deals.map(([stage, value, days], at) => ({
        name: `${companies[at >> 1]?.name} ${1 + (at % 2)}`,
        stage,
        value,
        expected_close_date: dayIn(days).slice(0, 10),
        contact_id: contact_ids[at],
        company_id: company_ids[at >> 1],
      })),
    )
    await create(
      'activities',
      plans.map(([type, days], at) => ({
        type,
        subject: `${t.activities.types[type]}: ${people[at]?.[0]} ${people[at]?.[1]}`,
        due_at: dayIn(days),
        contact_id: contact_ids[at],
        deal_id: deal_ids[at],
      })),
    )
  } catch (error) {
    await doEach('delete', made)
    throw error
  }
}

/**
 * Moves all records with the tag to the trash, or none: those that belong to others first. Resolves to the function that brings them
 * back.
 */
export async function removeSampleData(): Promise<() => Promise<void>> {
  const gone: Batch[] = []
  try {
    for (const kind of ['activities', 'deals', 'contacts', 'companies'] as const)
      for (;;) {
        const { data } = await recordApi(kind).list({ tag: sample_tag, per_page: 100 } as never)
        if (!data.length) break
        const batch = { kind, ids: data.map(({ id }) => id) }
        await doTo('delete', batch)
        gone.unshift(batch)
      }
  } catch (error) {
    await doEach('restore', gone)
    throw error
  }
  return async () => {
    for (const batch of gone) await doTo('restore', batch)
  }
}
