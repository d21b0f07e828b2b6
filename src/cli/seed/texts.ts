import type { CustomFieldBody } from '../../custom-fields/schema.ts'

/** The acts and texts of people in the workspace that `rapport seed` makes. */
export const subjects: Record<'call' | 'email' | 'meeting' | 'task', readonly string[]> = {
  call: [
    'Call about the offer',
    'Ask who else decides',
    'Follow up on the demo',
    'Confirm the delivery date',
  ],
  email: ['Send the revised offer', 'Share the reference list', 'Answer questions on security'],
  meeting: ['Kick-off', 'Product demo for the team', 'Review of the quarter', 'Negotiate the terms'],
  task: ['Prepare the contract', 'Check the credit limit', 'Update the forecast', 'Collect the signed order'],
}

export const outcomes: readonly string[] = [
  'Wants a second offer with more seats',
  'Decision in two weeks',
  'Sends the order on Friday',
  'No answer, try again',
  'Asked for a reference customer',
  'Budget is approved',
]

/** Notes by the kind of their record, some with the text after an edit. */
export const notes: Record<'contact' | 'company' | 'deal', readonly (readonly [string, string?])[]> = {
  contact: [
    [
      'Met at the trade fair. Interested in a pilot with one site before a larger order.',
      'Met at the trade fair. Interested in a pilot with two sites before a larger order. Wants a price by Friday.',
    ],
    ['Uses a spreadsheet today, and wants to import it. Needs the custom fields of the old list.'],
    ['Was unhappy with the last delivery. Promised a credit note; sent on the same day.'],
    ['Speaks at their user conference in spring. A joint case study is possible.'],
    [
      'Asks for single sign-on and an audit log. Sent the page on security.',
      'Asks for single sign-on, an audit log and a list of subprocessors. Sent the page on security.',
    ],
    ['On parental leave until the summer; a colleague decides meanwhile.'],
    ['Wants invoices by post, in two copies.'],
  ],
  company: [
    [
      'Closed for the holidays from 20 December to 6 January.',
      'Closed for the holidays from 22 December to 8 January.',
    ],
    ['Orders go through the purchasing portal. Offers need the supplier number.'],
    [
      'Opens a second site next year, with about 40 people.',
      'Opens a second site in March, with about 60 people. The lease is signed.',
    ],
    ['Payment within 60 days, always on time. No discount for early payment.'],
    ['Moved to a new building; the old address is for deliveries only.'],
  ],
  deal: [
    [
      'Budget is set for this year. Two offers are on the table.',
      'Budget is set for this year. Three offers are on the table; ours is the only one with training.',
    ],
    ['Legal asks for a limit of liability. Waiting for their text.'],
    [
      'The buyer wants 10 % off for three years. I offered 5 %.',
      'The buyer wants 10 % off for three years. We agreed on 7 %, paid yearly.',
    ],
    ['The technical check is done. No open questions.'],
    ['Decides after the board meeting. Call on the day after.'],
  ],
}

/** Requests to a member, as notes end with them. */
export const asked: readonly string[] = [
  'please check the price.',
  'can you join the next call?',
  'you know them better: is this right?',
]

export const appointment_titles: readonly string[] = [
  'Product demo',
  'Introduction',
  'Review of the offer',
  'Site visit',
  'Training',
]

export const locations: readonly string[] = ['Video call', 'Our office', 'At the customer', 'Phone']

export const cancel_reasons: readonly string[] = ['Ill', 'Postponed by the customer', 'Double booking']

export const company_tags: readonly string[] = ['key account', 'supplier', 'press', 'pilot']

export const deal_tags: readonly string[] = ['renewal', 'upsell', 'tender', 'needs legal']

export const regions = ['Americas', 'Asia-Pacific', 'Europe', 'Middle East and Africa']

/** The custom fields of the data, with their definitions. */
export const definitions: readonly CustomFieldBody[] = [
  { resource: 'companies', key: 'employees', label: 'Employees', type: 'number' },
  { resource: 'companies', key: 'language', label: 'Language', type: 'text' },
  { resource: 'contacts', key: 'customer_number', label: 'Customer number', type: 'text' },
  { resource: 'contacts', key: 'language', label: 'Language', type: 'text' },
  { resource: 'contacts', key: 'seats', label: 'Seats', type: 'number' },
  { resource: 'contacts', key: 'visited_us', label: 'Has visited us', type: 'boolean' },
  { resource: 'deals', key: 'contract_months', label: 'Months of the contract', type: 'number' },
  { resource: 'deals', key: 'region', label: 'Region', type: 'select', options: regions },
]
