import { Button, Group, Title } from '@mantine/core'
import { CheckCircleFillIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { Link, useNavigate } from '../app/link.ts'
import { useMay, useSession } from '../app/session.ts'
import { useMembers } from '../record/fields/members.ts'
import { useNames } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import {
  bookingPageCountQuery,
  contactCountQuery,
  dealCountQuery,
  invitationCountQuery,
  webhookCountQuery,
} from './queries.ts'

/** The numbers of contacts, deals and webhooks; undefined until known, or if the role may not read them. */
export function useBeginnings() {
  const may = useMay()
  const { data: contacts, isLoading: awaits_contacts } = useQuery({
    ...contactCountQuery,
    enabled: may('contacts:read'),
  })
  const { data: deals, isLoading: awaits_deals } = useQuery({ ...dealCountQuery, enabled: may('deals:read') })
  const begins = contacts === 0 || deals === 0
  const { data: webhooks } = useQuery({ ...webhookCountQuery, enabled: begins && may('webhooks:write') })
  return { contacts, deals, webhooks, awaited: awaits_contacts || awaits_deals }
}

type Step = {
  name: string
  text: string
  action: string
  scope: string
  to:
    | '/contacts'
    | '/deals'
    | '/settings/stages'
    | '/settings/members'
    | '/booking-pages'
    | '/settings/webhooks'
  /** Another way to the same end. */
  beside?: ReactNode
  done: boolean
}

// Sample data has records of all these kinds.
const needs = ['workspace:write', 'companies:write', 'contacts:write', 'deals:write', 'activities:write']

/** The first steps in an empty workspace, each with a button, or a tick when it is done. */
export function FirstSteps({ contacts, deals, webhooks }: Omit<ReturnType<typeof useBeginnings>, 'awaited'>) {
  const { app, home, record } = useTexts()
  const navigate = useNavigate()
  const may = useMay()
  const contact = useNames('contacts')
  const deal = useNames('deals')
  const { members } = useMembers()
  const { data: invited } = useQuery({ ...invitationCountQuery, enabled: may('members:write') })
  const { data: booking_pages } = useQuery({
    ...bookingPageCountQuery,
    enabled: may('booking_pages:write'),
  })
  const { deal_stages, lost_reasons, contact_stages } = useSession().workspace
  const booking_page = useNames('booking_pages')
  const id = useId()
  const all: Step[] = [
    {
      name: home.step_contact,
      text: home.step_contact_text,
      action: contact.create,
      scope: 'contacts:write',
      to: '/contacts',
      beside: may('imports:write') && (
        <Button
          component={Link}
          to="/settings/imports/new"
          search={{ resource: 'contacts' }}
          variant="default"
        >
          {record.import(contact.in_sentence)}
        </Button>
      ),
      done: Boolean(contacts),
    },
    {
      name: home.step_deal,
      text: home.step_deal_text,
      action: deal.create,
      scope: 'deals:write',
      to: '/deals',
      done: Boolean(deals),
    },
    {
      name: home.step_stages,
      text: home.step_stages_text,
      action: home.step_set_up,
      scope: 'workspace:write',
      to: '/settings/stages',
      done: [deal_stages, lost_reasons, contact_stages].some(({ length }) => length > 0),
    },
    {
      name: home.step_colleagues,
      text: home.step_colleagues_text,
      action: home.step_invite,
      scope: 'members:write',
      to: '/settings/members',
      done: (members?.length ?? 0) > 1 || Boolean(invited),
    },
    {
      name: home.step_booking,
      text: home.step_booking_text,
      action: booking_page.create,
      scope: 'booking_pages:write',
      to: '/booking-pages',
      done: Boolean(booking_pages),
    },
    {
      name: home.step_webhook,
      text: home.step_webhook_text,
      action: app.create_webhook,
      scope: 'webhooks:write',
      to: '/settings/webhooks',
      done: Boolean(webhooks),
    },
  ]
  const steps = all.filter(({ scope }) => may(scope))
  const next = steps.findIndex(({ done }) => !done)
  if (!steps.length) return null
  return (
    <section className="home-steps" aria-labelledby={id}>
      <Title order={2} fz={16} id={id}>
        {home.welcome}
      </Title>
      <p className="hint">
        {home.welcome_text} {needs.every(may) && <Link to="/settings/workspace">{home.sample}</Link>}
      </p>
      <ol>
        {steps.map(({ name, text, action, to, beside, done }, index) => (
          <li key={name} className="home-step" data-done={done || undefined}>
            <span className="home-step-number">
              {done ? <CheckCircleFillIcon aria-label={home.done} className="home-won-sign" /> : index + 1}
            </span>
            <span className="home-step-text">
              <b>{name}</b>
              <span className="hint">{text}</span>
            </span>
            {!done && (
              <Group gap="sm" justify="flex-end">
                {beside}
                <Button
                  variant={index === next ? 'filled' : 'default'}
                  onClick={() =>
                    navigate(to === '/settings/stages' ? { to } : { to, search: { create: '1' } })
                  }
                >
                  {action}
                </Button>
              </Group>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
