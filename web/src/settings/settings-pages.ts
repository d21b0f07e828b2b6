import {
  BookIcon,
  CalendarIcon,
  GearIcon,
  HistoryIcon,
  type Icon,
  KeyIcon,
  LogIcon,
  MailIcon,
  MilestoneIcon,
  PeopleIcon,
  PersonIcon,
  TableIcon,
  TrashIcon,
  UploadIcon,
  WebhookIcon,
} from '@primer/octicons-react'
import type { Path } from '../app/addresses.ts'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/with-settings.ts'

type Name =
  | 'profile'
  | 'workspace'
  | 'members'
  | 'imports'
  | 'fields'
  | 'stages'
  | 'mail'
  | 'keys'
  | 'webhooks'
  | 'deliveries'
type Elsewhere = 'audit_log' | 'booking_pages' | 'trash' | 'docs'
export type SettingsEntry = {
  name: Name | Elsewhere
  icon: Icon
  /** The documentation is outside the app. */
  to: Path | '/docs'
  label: string
  text: string
}

const groups: { name: 'yours' | 'workspace_group' | 'developers' | 'elsewhere'; pages: Known[] }[] = [
  { name: 'yours', pages: [{ name: 'profile', to: '/settings/profile', icon: PersonIcon }] },
  {
    name: 'workspace_group',
    pages: [
      { name: 'workspace', to: '/settings/workspace', icon: GearIcon, scope: 'workspace:read' },
      { name: 'members', to: '/settings/members', icon: PeopleIcon, scope: 'members:read' },
      { name: 'imports', to: '/settings/imports', icon: UploadIcon, scope: 'imports:read' },
      { name: 'mail', to: '/settings/mail', icon: MailIcon, scope: 'mails:read' },
      { name: 'fields', to: '/settings/fields', icon: TableIcon, scope: 'workspace:read' },
      { name: 'stages', to: '/settings/stages', icon: MilestoneIcon, scope: 'workspace:read' },
    ],
  },
  {
    name: 'developers',
    pages: [
      { name: 'keys', to: '/settings/keys', icon: KeyIcon, scope: 'keys:read' },
      { name: 'webhooks', to: '/settings/webhooks', icon: WebhookIcon, scope: 'webhooks:read' },
      { name: 'deliveries', to: '/settings/deliveries', icon: LogIcon, scope: 'webhooks:read' },
    ],
  },
  {
    name: 'elsewhere',
    pages: [
      { name: 'booking_pages', to: '/booking-pages', icon: CalendarIcon, scope: 'booking_pages:read' },
      { name: 'audit_log', to: '/audit-log', icon: HistoryIcon, scope: 'audit_log:read' },
      { name: 'trash', to: '/trash', icon: TrashIcon, scope: 'trash:read' },
      { name: 'docs', to: '/docs', icon: BookIcon },
    ],
  },
]
type Known = Pick<SettingsEntry, 'name' | 'to' | 'icon'> & { scope?: string }

/** The pages of the settings that the role may read, in their groups. */
export function useSettingsPages() {
  const t = useTexts()
  const may = useMay()
  return groups
    .map(({ name, pages }) => ({
      name,
      label: t.settings.groups[name],
      pages: pages
        .filter(({ scope }) => !scope || may(scope))
        .map(
          ({ name, to, icon }): SettingsEntry => ({
            name,
            to,
            icon,
            ...t.settings.pages[name],
          }),
        ),
    }))
    .filter(({ pages }) => pages.length > 0)
}
