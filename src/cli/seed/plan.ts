import type { DemoContact, DemoDeal, DemoMove } from '../../../demo/data.ts'
import { type CompanyNames, inventData, inventedNames } from '../../../demo/invent.ts'
import { type Random, seededRandom } from '../../../demo/random.ts'
import { day_ms, isoTime } from '../../clock.ts'
import { stages } from '../../resources/deals/stages.ts'
import * as texts from './texts.ts'

// Steps that create no record with an owner. The kind of each other step is the noun of a resource.
const without_owner: readonly string[] = ['stage', 'note', 'edit', 'page', 'cancel']

/** One operation, at a time in the past. `of` has the keys of other steps, by the field that gets the id of their record. */
export type Step = {
  kind: string
  at_ms: number
  key?: string
  of: { [field: string]: string | undefined }
  body: Record<string, unknown>
}

export const sizes = {
  small: {
    companies: 24,
    contacts: 80,
    deals: 60,
    overdue: 15,
    open: 40,
    done: 90,
    meetings: 30,
    notes: { contact: 60, company: 20, deal: 40 },
  },
  large: {
    companies: 400,
    contacts: 5000,
    deals: 2500,
    overdue: 15,
    open: 1500,
    done: 3500,
    meetings: 600,
    notes: { contact: 2500, company: 300, deal: 1200 },
  },
}
export type Size = keyof typeof sizes

/** `owners` are the ids of the members, and `names` their names. */
export type Wish = {
  seed: number
  size: Size
  now_ms: number
  owners: readonly string[]
  names: readonly string[]
  slug: string
}

type Work = { random: Random; now_ms: number; owners: readonly string[]; steps: Step[] }

const history_days = 180

/** The steps of the workspace's history, oldest first. The same wish gives the same steps. */
export function planOf({ seed, size, now_ms, owners, names, slug }: Wish): Step[] {
  const random = seededRandom(seed)
  const counts = sizes[size]
  const data = inventData(random, namesOf(counts.companies, random), {
    ...counts,
    firstClosingDay: now_ms - 10 * day_ms,
  })
  const work: Work = { random, now_ms, owners, steps: [] }
  for (const { key, body } of data.companies)
    add(work, 'company', past(work, history_days + 5, history_days + 60), {
      key,
      body: { ...body, ...tagsOf(random, texts.company_tags, 30) },
    })
  for (const contact of data.contacts) addContact(work, contact)
  for (const [index, deal] of data.deals.entries()) addDeal(work, deal, index)
  addActivities(work, data.deals, data.contacts, counts)
  addAppointments(work, data.contacts, counts.meetings, slug)
  addNotes(work, counts.notes, names)
  // Steps of one time stay in the order in which they depend on each other.
  return work.steps.sort((a, b) => a.at_ms - b.at_ms)
}

/** Names of as many companies. Beyond the invented ones, each gets the names of two families. */
function namesOf(count: number, random: Random): CompanyNames[] {
  const left = [...inventedNames]
  const names: CompanyNames[] = []
  while (names.length < count && left.length) names.push(...left.splice(random.below(left.length), 1))
  while (names.length < count) {
    const { culture, company } = random.pick(inventedNames)
    const [one, other] = [random.pick(culture.family), random.pick(culture.family)].map((name) =>
      name.replace(/:.*/, ''),
    )
    const number = names.length + 1
    names.push({
      culture,
      company: [`${one} & ${other} ${number}`, `firm-${number}`, company[2], company[3]],
    })
  }
  return names
}

function add(work: Work, kind: string, at_ms: number, step: Partial<Pick<Step, 'key' | 'of' | 'body'>>) {
  const { owners, random } = work
  const has_owner = !without_owner.includes(kind) && owners.length && random.chance(90)
  const owner = has_owner ? { owner_id: random.pick(owners) } : {}
  work.steps.push({ kind, at_ms, of: {}, ...step, body: { ...step.body, ...owner } })
}

/** A minute of a working day, a number of days ago. */
function past({ random, now_ms }: Work, from_days: number, to_days: number): number {
  return earlier(now_ms, workTime(now_ms - random.between(from_days, to_days) * day_ms, random))
}

const minute_ms = 60_000
const earlier = (now_ms: number, at_ms: number) => Math.min(at_ms, now_ms - minute_ms)

function workTime(day: number, random: Random): number {
  const date = new Date(day)
  const weekend = [2, 0, 0, 0, 0, 0, 1][date.getUTCDay()] as number
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) - weekend * day_ms
  return midnight + (random.between(8, 16) * 60 + random.below(60)) * minute_ms
}

const tagsOf = (random: Random, tags: readonly string[], percent: number) =>
  random.chance(percent) ? { tags: [random.pick(tags)] } : {}

function addContact(work: Work, { key, company, body }: DemoContact) {
  add(work, 'contact', past(work, 130, history_days), { key, of: { company_id: company }, body })
}

const open_stages = stages.filter((stage) => stage !== 'won' && stage !== 'lost')

/** The first deals show every stage. The others go the way that was invented for them, as far as the time reaches. */
function addDeal(work: Work, deal: DemoDeal, index: number) {
  const { random, now_ms } = work
  const shown = stages[index]
  const moves = shown ? movesTo(shown) : deal.moves
  const begun_ms = shown ? past(work, 100, 120) : past(work, 1, 120)
  const custom_fields = {
    contract_months: random.pick([6, 12, 24, 36]),
    ...(random.chance(70) && { region: random.pick(texts.regions) }),
  }
  const { stage, ...body } = deal.body
  add(work, 'deal', begun_ms, {
    key: deal.key,
    of: { company_id: deal.company, contact_id: deal.contact },
    body: {
      ...body,
      ...(stage && !shown && { stage }),
      custom_fields,
      ...tagsOf(random, texts.deal_tags, 25),
    },
  })
  let at_ms = begun_ms
  for (const move of moves) {
    at_ms = Math.max(at_ms + minute_ms, workTime(at_ms + random.between(1, 12) * day_ms, random))
    if (at_ms >= now_ms) return
    add(work, 'stage', at_ms, { of: { id: deal.key }, body: { ...move } })
  }
}

function movesTo(stage: (typeof stages)[number]): DemoMove[] {
  if (stage === 'lost') return [{ stage: 'proposal' }, { stage, lost_reason: 'Went with a competitor' }]
  const way = stage === 'won' ? [...open_stages, stage] : open_stages.slice(0, open_stages.indexOf(stage) + 1)
  return way.slice(1).map((stage) => ({ stage }))
}

type Counts = (typeof sizes)[Size]
const types = ['call', 'email', 'meeting', 'task'] as const

function addActivities(
  work: Work,
  deals: readonly DemoDeal[],
  contacts: readonly DemoContact[],
  { overdue, open, done }: Counts,
) {
  const { random, now_ms, steps } = work
  const begun = new Map(steps.flatMap(({ kind, key, at_ms }) => (kind === 'deal' ? [[key, at_ms]] : [])))
  const activity = (at_ms: number, times: { due_at: number; completed_at?: number }) => {
    const type = random.pick(types)
    const picked = random.chance(70) ? random.pick(deals) : undefined
    const deal = picked && (begun.get(picked.key) as number) < at_ms ? picked : undefined
    const contact = deal ? undefined : random.pick(contacts)
    add(work, 'activity', at_ms, {
      of: {
        deal_id: deal?.key,
        contact_id: deal ? deal.contact : contact?.key,
        company_id: deal ? deal.company : contact?.company,
      },
      body: {
        type,
        subject: random.pick(texts.subjects[type]),
        due_at: isoTime(times.due_at),
        ...(times.completed_at !== undefined && {
          completed_at: isoTime(times.completed_at),
          outcome: random.pick(texts.outcomes),
        }),
      },
    })
  }
  for (let n = 0; n < overdue; n++) {
    const due_at = earlier(now_ms - 60 * minute_ms, workTime(now_ms - random.between(1, 12) * day_ms, random))
    activity(due_at - random.between(1, 5) * day_ms, { due_at })
  }
  const midnight = day_ms * (Math.floor(now_ms / day_ms) + 1)
  for (let n = 0; n < open; n++) {
    // A fifth is due today, in what is left of the day.
    const today = now_ms + Math.floor(((midnight - now_ms) * (n + 1)) / (open + 1))
    const due_at = n % 5 === 0 ? today : workTime(now_ms + random.between(3, 30) * day_ms, random)
    activity(past(work, 0, 6), { due_at })
  }
  for (let n = 0; n < done; n++) {
    const completed_at = past(work, 0, 100)
    activity(completed_at, { due_at: completed_at + random.between(-2, 2) * day_ms, completed_at })
  }
}

/** Notes of the records. Some are edited later, and some mention a member. */
function addNotes(work: Work, counts: Counts['notes'], names: readonly string[]) {
  const { random, now_ms, steps } = work
  const by_kind = Map.groupBy(steps, ({ kind }) => kind)
  let written = 0
  for (const kind of ['contact', 'company', 'deal'] as const)
    for (let n = 0; n < counts[kind]; n++) {
      const noted = random.pick(by_kind.get(kind) ?? [])
      const key = `note-${++written}`
      const of = { [`${kind}_id`]: noted.key }
      const at_ms = Math.max(noted.at_ms + minute_ms, past(work, 0, 100))
      const [text, edited] = random.pick(texts.notes[kind])
      const mention =
        names.length && random.chance(12) ? ` @${random.pick(names)} ${random.pick(texts.asked)}` : ''
      add(work, 'note', at_ms, { key, of, body: { body: text + mention } })
      if (!edited || random.chance(30)) continue
      const edited_ms = Math.min(now_ms, at_ms + random.between(1, 2000) * minute_ms)
      add(work, 'edit', edited_ms, { of: { ...of, id: key }, body: { body: edited + mention } })
    }
}

const slots_a_day = 12

/** Appointments in slots of half an hour, so that those of the booking page do not overlap. Half are in the future. */
function addAppointments(work: Work, contacts: readonly DemoContact[], count: number, slug: string) {
  const { random, now_ms } = work
  add(work, 'page', now_ms - history_days * day_ms, { key: 'page', body: pageBody(slug) })
  const today = Math.floor(now_ms / day_ms) * day_ms
  // Not before the contacts.
  const first_day = -Math.min(110, Math.ceil(count / 4))
  const taken = new Set<number>()
  for (let n = 0; n < count; n++) {
    let slot = 0
    do slot = random.below(Math.ceil(count / 2)) * slots_a_day + random.below(slots_a_day)
    while (taken.has(slot))
    taken.add(slot)
    const start_ms = startOf(today, first_day + Math.floor(slot / slots_a_day), slot % slots_a_day)
    const key = `appointment-${n}`
    const { key: contact_id } = random.pick(contacts)
    const booked_ms = earlier(now_ms, start_ms - random.between(1, 9) * day_ms)
    add(work, 'appointment', booked_ms, {
      key,
      of: { contact_id, booking_page_id: random.chance(50) ? 'page' : undefined },
      body: {
        title: random.pick(texts.appointment_titles),
        type: random.pick(['demo', 'visit', 'call']),
        start_at: isoTime(start_ms),
        end_at: isoTime(start_ms + 30 * minute_ms),
        location: random.pick(texts.locations),
      },
    })
    if (random.chance(12))
      add(work, 'cancel', earlier(now_ms, booked_ms + 60 * minute_ms), {
        of: { id: key },
        body: { reason: random.pick(texts.cancel_reasons) },
      })
  }
}

const startOf = (today: number, days: number, slot: number) =>
  today + days * day_ms + (9 * 60 + slot * 30) * minute_ms

const pageBody = (slug: string) => ({
  slug,
  title: 'Introductory call',
  description: 'Half an hour to see if we fit.',
  duration_minutes: 30,
  time_zone: 'UTC',
})
