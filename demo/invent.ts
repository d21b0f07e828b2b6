import { type Culture, otherScripts } from './cultures.ts'
import { latinScript } from './cultures_latin.ts'
import type { DemoCompany, DemoContact, DemoData, DemoDeal, DemoMove } from './data.ts'
import { landline, mobile } from './phones.ts'
import type { Random } from './random.ts'

const dayMs = 86_400_000

const cultures = [...latinScript, ...otherScripts]
const openPath = [
  'new_lead',
  'qualification',
  'demo',
  'proposal',
  'negotiation',
  'verbal_commitment',
] as const

const contactStages = ['lead', 'prospect', 'customer', 'customer', 'partner', 'former customer']
const sources = ['website', 'referral', 'trade fair', 'newsletter', 'phone call', 'partner']
const tags = ['newsletter', 'decision maker', 'technical', 'vip', 'event 2026', 'invoice by post', 'réseau']

/** A company with invented names, and the culture of its people. */
export type CompanyNames = { culture: Culture; company: Culture['companies'][number] }

/** The companies of all cultures. */
export const inventedNames: readonly CompanyNames[] = cultures.flatMap((culture) =>
  culture.companies.map((company) => ({ culture, company })),
)

/** `firstClosingDay`: the first day on which a deal may close, in Unix milliseconds. */
export type Sizes = { contacts: number; deals: number; firstClosingDay: number }

/** Companies with these names, their people and their deals. The same random numbers give the same data. */
export function inventData(random: Random, names: readonly CompanyNames[], sizes: Sizes): DemoData {
  const companies = inventCompanies(names, random)
  const contacts = inventContacts(companies, sizes.contacts, random)
  const deals = inventDeals(companies, contacts, sizes, random)
  return { companies: companies.map(({ row }) => row), contacts: contacts.map(({ row }) => row), deals }
}

type InventedCompany = { culture: Culture; domain: string; row: DemoCompany }
type InventedContact = { culture: Culture; row: DemoContact }

function inventCompanies(names: readonly CompanyNames[], random: Random): InventedCompany[] {
  return names.map(({ culture, company }, index) => {
    const [name, domain_name, industry, address] = company
    const domain = `${domain_name}.example`
    const region = culture.phones.length > 0 ? random.pick(culture.phones) : undefined
    const body = {
      name,
      website: `https://www.${domain}`,
      industry,
      phone: region && landline(region, random),
      address,
      custom_fields: { employees: random.between(4, 900), language: culture.language },
    }
    return { culture, domain, row: { key: key('company', index), body } }
  })
}

function inventContacts(companies: InventedCompany[], count: number, random: Random): InventedContact[] {
  const emails = new Set<string>()
  return Array.from({ length: count }, (_, index) => {
    // Each company gets three people before companies are chosen at random. Every twelfth person has no company.
    const alone = index % 12 === 11
    const place = index < companies.length * 3 ? index % companies.length : random.below(companies.length)
    const { culture, domain, row } = companies[place]!
    const body = person(culture, alone ? 'example.com' : domain, emails, random)
    return { culture, row: { key: key('contact', index), company: alone ? undefined : row.key, body } }
  })
}

function inventDeals(
  companies: InventedCompany[],
  contacts: InventedContact[],
  { deals, firstClosingDay }: Sizes,
  random: Random,
): DemoDeal[] {
  return Array.from({ length: deals }, (_, index): DemoDeal => {
    const { culture, row } = random.pick(contacts)
    const company = row.company
    const companyName = companies.find((candidate) => candidate.row.key === company)?.row.body.name
    const thing = random.pick(culture.deals)
    const start = random.chance(70) ? 0 : random.between(1, 3)
    return {
      key: key('deal', index),
      company,
      // Each deal has a company or a contact.
      contact: company && random.chance(12) ? undefined : row.key,
      body: {
        name: companyName ? `${companyName}: ${thing}` : `${thing} (${row.body.last_name})`,
        value: random.chance(94) ? dealValue(random) : undefined,
        probability: random.chance(15) ? random.between(1, 19) * 5 : undefined,
        // Sometimes leave out the default stage, which a new deal gets anyway.
        stage: start === 0 && random.chance(50) ? undefined : openPath[start],
        expected_close_date: closingDate(firstClosingDay, random),
        priority: random.chance(60) ? random.pick(['low', 'normal', 'high']) : undefined,
        source: random.chance(70) ? random.pick(sources) : undefined,
      },
      moves: stageMoves(start, culture, random),
    }
  })
}

function person(culture: Culture, domain: string, taken: Set<string>, random: Random): DemoContact['body'] {
  const woman = random.chance(50)
  const [first_name, firstLatin] = spelled(random.pick(woman ? culture.women : culture.men))
  const families = (woman && culture.family_of_women) || culture.family
  const [last_name, lastLatin] = spelled(random.pick(families))
  const region = culture.phones.length > 0 && random.chance(85) ? random.pick(culture.phones) : undefined

  let email = `${firstLatin}.${lastLatin}@${domain}`
  for (let number = 2; taken.has(email); number++) email = `${firstLatin}.${lastLatin}${number}@${domain}`
  taken.add(email)

  return {
    first_name,
    last_name,
    email: random.chance(92) ? email : undefined,
    phone: region && landline(region, random),
    mobile: region && random.chance(50) ? mobile(region, random) : undefined,
    title: random.chance(80) ? random.pick(culture.titles) : undefined,
    stage: random.chance(90) ? random.pick(contactStages) : undefined,
    source: random.chance(75) ? random.pick(sources) : undefined,
    custom_fields: random.chance(40) ? customFields(culture, random) : undefined,
    tags: random.chance(55) ? [...new Set([random.pick(tags), random.pick(tags)])] : undefined,
  }
}

function customFields(culture: Culture, random: Random): Record<string, string | number | boolean> {
  return {
    language: culture.language,
    customer_number: `K-${random.between(10_000, 99_999)}`,
    ...(random.chance(50) ? { seats: random.between(1, 120) } : {}),
    ...(random.chance(30) ? { visited_us: random.chance(50) } : {}),
  }
}

/** Amounts with 0, 2 and 4 decimals, which the service must return exactly. */
function dealValue(random: Random): number {
  const whole = random.between(3, 900) * 50
  if (random.chance(60)) return whole
  return random.chance(60)
    ? (whole * 100 + random.below(100)) / 100
    : (whole * 10_000 + random.below(10_000)) / 10_000
}

function closingDate(firstClosingDay: number, random: Random): string {
  return new Date(firstClosingDay + random.below(300) * dayMs).toISOString().slice(0, 10)
}

/** Stage changes of a deal: some deals stay open, most are closed, and a few are reopened. */
function stageMoves(start: number, culture: Culture, random: Random): DemoMove[] {
  const moves: DemoMove[] = []
  const last = random.between(start, openPath.length - 1)
  for (let step = start + 1; step <= last; step++) {
    if (random.chance(25) && step < last) continue
    const probability = random.chance(20) ? Math.min(95, step * 15 + random.between(1, 10)) : undefined
    moves.push({ stage: openPath[step]!, probability })
  }
  const lose = (): DemoMove => ({ stage: 'lost', lost_reason: random.pick(culture.lost_reasons) })
  const end = random.below(100)
  if (end < 35) moves.push({ stage: 'won' })
  else if (end < 60) moves.push(lose())
  else if (end < 66) moves.push(lose(), { stage: 'negotiation' }, { stage: 'won' })
  else if (end < 70) moves.push({ stage: 'won' }, lose())
  return moves
}

const letters: Record<string, string> = { ß: 'ss', ø: 'o', æ: 'ae', ł: 'l', đ: 'd', ı: 'i', þ: 'th', ð: 'd' }

/** A name and its form in an e-mail address: the text after the colon, or else the name folded to ASCII. */
function spelled(entry: string): [string, string] {
  const [name, latin] = entry.split(':') as [string, string?]
  const folded = name.toLowerCase().replace(/[ßøæłđıþð]/g, (letter) => letters[letter]!)
  return [name, latin ?? folded.normalize('NFD').replace(/[^a-z-]/g, '')]
}

const key = (kind: string, index: number) => `${kind}-${String(index + 1).padStart(3, '0')}`
