import {
  CheckCircleIcon,
  CircleSlashIcon,
  ClockIcon,
  type Icon,
  PauseIcon,
  ReplyIcon,
  XCircleIcon,
} from '@primer/octicons-react'
import type { Schemas } from '../api/client.ts'
import { useTexts } from '../texts/with-settings.ts'
import { statusText } from './outcome-text.ts'
import './statuses.css'

const looks: Record<string, Icon> = {
  pending: ClockIcon,
  succeeded: CheckCircleIcon,
  failed: XCircleIcon,
  sent: CheckCircleIcon,
  not_sent: CircleSlashIcon,
  cancelled: CircleSlashIcon,
  undone: ReplyIcon,
  active: CheckCircleIcon,
  paused: PauseIcon,
  revoked: CircleSlashIcon,
  expired: CircleSlashIcon,
}

/** A status: its icon and its word. */
export function Status({ status, label }: { status: string; label: string }) {
  const StatusIcon = looks[status] ?? ClockIcon
  return (
    <span className="status" data-status={status}>
      <StatusIcon size={14} />
      <span className="one-line">{label}</span>
    </span>
  )
}

type DeliveryProps = {
  status: Schemas['Delivery']['status']
  /** How the newest attempt failed. */
  failure?: string | null
}

export function DeliveryStatus({ status, failure }: DeliveryProps) {
  const t = useTexts()
  return <Status status={status} label={statusText(status, failure, t)} />
}

export function WebhookStatus({ status }: { status: Schemas['Webhook']['status'] }) {
  const t = useTexts()
  return <Status status={status} label={t.settings.webhook_status[status]} />
}

/** Whether an API key is valid. */
export function KeyStatus({ revoked_at, expires_at }: Pick<Schemas['ApiKey'], 'revoked_at' | 'expires_at'>) {
  const t = useTexts()
  const over = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const status = revoked_at ? 'revoked' : over ? 'expired' : 'active'
  return <Status status={status} label={t.settings.key_status[status]} />
}
