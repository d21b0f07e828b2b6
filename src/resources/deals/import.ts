import { type Moment, ownTime } from '../../cells/days.ts'
import type { ImportForm, JoinedRow } from '../room.ts'

/** Columns of files, in English and German. The columns of other programs are in imports/programs. */
export const deal_import: ImportForm = {
  headers: {
    name: ['Deal', 'Deal Name', 'Title', 'Titel', 'Opportunity Name'],
    value: ['Amount', 'Deal Value', 'Betrag', 'Wert'],
    stage: ['Deal Stage', 'Deal-Phase', 'Phase'],
    probability: ['Deal Probability', 'Wahrscheinlichkeit'],
    expected_close_date: ['Expected Close', 'Expected Close Date', 'Abschluss'],
    close_date: ['Close Date', 'Closing Date', 'Abschlussdatum'],
    lost_reason: ['Closed Lost Reason', 'Verlustgrund'],
    company: [
      ...['Associated Company', 'Associated Company (Primary)', 'Organization', 'Organization Name'],
      ...['Company Name', 'Account Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    contact: [
      'Contact',
      'Contact person',
      'Contact Name',
      'Associated Contact',
      'Person',
      'Kontakt',
      'Ansprechpartner',
    ],
    owner: ['Deal owner', 'Owner', 'Besitzer', 'Verantwortlich'],
    source: ['Lead Source', 'Original Source', 'Original Traffic Source', 'Quelle'],
    tags: ['Tag', 'Labels', 'Label', 'Schlagwörter'],
  },
  by_name: ['company_id', 'contact_id', 'owner_id'],
  labels: {
    status: {
      open: ['Offen', 'Ouvert', 'Abierto', 'Aberto'],
      won: ['Closed Won', 'Gewonnen', 'Gagné', 'Ganado', 'Ganho'],
      lost: ['Closed Lost', 'Verloren', 'Perdu', 'Perdido'],
    },
    stage: {
      new_lead: ['New', 'Neuer Lead', 'Lead'],
      qualification: ['Qualifizierung'],
      demo: ['Demonstration'],
      proposal: ['Angebot', 'Quote'],
      negotiation: ['Verhandlung'],
      verbal_commitment: ['Mündliche Zusage'],
      won: ['Closed Won', 'Gewonnen', 'Abgeschlossen und gewonnen'],
      lost: ['Closed Lost', 'Verloren', 'Abgeschlossen und verloren'],
    },
  },
  choices: { stage: 'deal_stages' },
  percent: ['probability'],
  parts: {
    status: 'code',
    won_time: 'moment',
    lost_time: 'moment',
    closed_at: 'moment',
    close_date: 'moment',
  },
  join: joinState,
  after_create: ['lost_reason'],
  sets: ['closed_at', 'status'],
  // The default depends on the stage. An undo that sent it back would make it the deal's own probability. A closed deal
  // loses its own probability when it is reopened.
  derived: (before) => ((before as { status: string }).status === 'open' ? ['probability'] : []),
}

/** A program may keep the last open stage of a closed deal, and its state beside it. `closed_at` is when it closed. */
function joinState({ data, parts, now, timeOf, leave }: JoinedRow): { field: string; message: string }[] {
  const status = parts.get('status') as 'open' | 'won' | 'lost' | undefined
  const won_at = parts.get('won_time')
  const lost_at = parts.get('lost_time')
  const against = (told: string) => [
    { field: 'status', message: `The status is ${status}, but the row has ${told}. Correct one of them.` },
  ]
  if (status === 'won' && data.stage === 'lost') return against('the stage lost')
  if (status === 'lost' && data.stage === 'won') return against('the stage won')
  if (status === 'open' && (data.stage === 'won' || data.stage === 'lost'))
    return against(`the stage ${data.stage}`)
  if (status === 'won' && won_at === undefined && lost_at !== undefined)
    return against('a time when it was lost')
  if (status === 'lost' && lost_at === undefined && won_at !== undefined)
    return against('a time when it was won')
  if (status === 'open' && (won_at ?? lost_at) !== undefined)
    return against(won_at === undefined ? 'a time when it was lost' : 'a time when it was won')
  if (status === 'won' || status === 'lost') data.stage = status
  // Of a deal that is closed, it is against its state (deals/operations.ts).
  else if (status === 'open' && data.stage === undefined) data.status = status
  const close = parts.get('close_date') as Moment | undefined
  const is_closed = data.stage === 'won' || data.stage === 'lost'
  const expected = data.expected_close_date
  if (close) data.expected_close_date ??= close.day
  const own_time = data.stage === 'won' ? 'won_time' : 'lost_time'
  const timeIn = (part: string) => {
    const moment = parts.get(part) as Moment | undefined
    return moment && timeOf(moment)
  }
  const told = (['closed_at', own_time, 'close_date'] as const).find((part) => parts.has(part))
  const last = is_closed && told ? timeIn(told) : undefined
  const closed_at = last !== undefined && last <= now ? last : undefined
  for (const part of ['won_time', 'lost_time', 'closed_at'])
    if ((part !== 'closed_at' && part !== own_time) || timeIn(part) !== closed_at) leave(part)
  if (expected !== undefined && expected !== close?.day && timeIn('close_date') !== closed_at)
    leave('close_date')
  // A day alone would make the time of a closed deal less exact.
  if (closed_at !== undefined)
    data[ownTime(parts.get(told as string) as Moment) ? 'closed_at' : 'stage_since'] = closed_at
  return []
}
