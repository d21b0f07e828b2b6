import type { Rapport } from '../harness.ts'
import { quick } from '../quick.ts'
import { startReceiver } from '../receiver.ts'
import { fillWorkspace } from './records.ts'

/**
 * Fills a workspace, with succeeded and failed deliveries. Returns the address of every screen of the app by its name.
 */
export async function makeScreens({ call }: Pick<Rapport, 'call'>): Promise<Record<string, string>> {
  const receiver = await startReceiver({
    answer: (_, number) => (number % 2 ? { body: '{"ok":true}' } : { status: 503, body: 'busy' }),
  })
  const events = ['deal.won', 'deal.lost', 'contact.created']
  const made = await call('POST', '/api/v1/webhooks', { name: 'Billing', url: receiver.url, events })
  const { contacts, companies, deals, activities, appointments, booking_page } = await fillWorkspace({ call })
  const body = 'Closed in July and August.\nOrders go through Ms. Ruiz, who is back in September.'
  for (const path of [`companies/${companies[0]}`, `deals/${deals[7]}`])
    await call('POST', `/api/v1/${path}/notes`, { body })
  await receiver.waitFor(10)
  const deliveries = (await call('GET', '/api/v1/deliveries?status=pending')).body.data
  await receiver.close()
  return {
    home: '/',
    contacts: '/contacts',
    'contacts-panel': `/contacts?open=${contacts[0]}`,
    'contacts-none': '/contacts?search=nobody-at-all',
    contact: `/contacts/${contacts[0]}`,
    'contact-notes': `/contacts/${contacts[0]}?tab=notes`,
    duplicates: '/contacts/duplicates',
    merge: `/contacts/${contacts[1]}/merge?with=${contacts[2]}`,
    companies: '/companies',
    company: `/companies/${companies[0]}`,
    'company-notes': `/companies/${companies[0]}?tab=notes`,
    deals: '/deals',
    'deals-table': '/deals?view=table',
    deal: `/deals/${deals[7]}`,
    'deal-notes': `/deals/${deals[7]}?tab=notes`,
    activities: '/activities',
    activity: `/activities/${activities[0]}`,
    calendar: '/calendar',
    appointment: `/calendar/${appointments[0]}`,
    'booking-pages': '/booking-pages',
    'booking-page': `/booking-pages/${booking_page}`,
    notifications: '/notifications',
    trash: '/trash',
    'audit-log': '/audit-log',
    settings: '/settings',
    profile: '/settings/profile',
    workspace: '/settings/workspace',
    members: '/settings/members',
    imports: '/settings/imports',
    'import-new': '/settings/imports/new',
    mails: '/settings/mail',
    stages: '/settings/stages',
    keys: '/settings/keys',
    webhooks: '/settings/webhooks',
    webhook: `/settings/webhooks/${made.body.data.id}`,
    deliveries: '/settings/deliveries',
    delivery: `/settings/deliveries/${deliveries[0].id}`,
    'not-found': '/contacts/999999',
  }
}

// A list, a record, a board, a calendar, figures, a form, and what they are built of.
const kinds = [
  'home',
  'contacts',
  'contact',
  'deals',
  'calendar',
  'import-new',
  'members',
  'webhook',
  'not-found',
]

/** The screens that a sweep visits in forms beside the usual one: in `npm test`, one of each kind. */
export const isSwept = (name: string): boolean => !quick || kinds.includes(name)
