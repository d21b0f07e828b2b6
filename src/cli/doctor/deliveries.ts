import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { command } from '../../installed.ts'
import { queueNumbers } from '../../webhooks/delivery/queue.ts'
import { counted } from '../text.ts'
import type { Life } from './clock.ts'
import { type Examined, type Finding, fault, lengthOf, ok, orOk, warning } from './finding.ts'

type Webhook = {
  id: string
  workspace_id: number
  name: string | null
  url: string
  status: string
  status_reason: string | null
}

const max_webhooks = 20

/** Webhooks whose last delivery failed: which, since when, why, and what to do. */
export async function examineWebhooks({ db }: Examined): Promise<Finding[]> {
  const { rows: webhooks } = await sql<Webhook>`
    SELECT id, workspace_id, name, url, status, status_reason FROM webhooks ORDER BY seq`.execute(db)
  const findings: Finding[] = []
  for (const webhook of webhooks) {
    const trouble = await troubleOf(db, webhook)
    if (!trouble) continue
    if (findings.length < max_webhooks) findings.push(trouble)
    else {
      const mend = 'Mend these first, and run this again; the web app lists all.'
      findings.push(warning('webhooks', 'More webhooks fail.', mend))
      break
    }
  }
  return orOk(findings, 'webhooks', `No webhook fails; checked ${webhooks.length}.`)
}

async function troubleOf(db: Db, webhook: Webhook): Promise<Finding | null> {
  const { id, name, url, status } = webhook
  // The path of an address may be a secret, as at Slack.
  const subject = `Webhook ${name ? `"${name}" (${id})` : id}, at ${new URL(url).origin},`
  if (status === 'paused')
    return warning(
      'webhooks',
      `${subject} is paused. Its deliveries wait.`,
      `POST /api/v1/webhooks/${id}/resume`,
    )
  const since = await failingSince(db, webhook)
  if (!since && status !== 'failed') return null
  const error = await lastError(db, webhook)
  const when = since ? ` since ${since.created_at}, for ${counted(since.n, 'delivery', 'deliveries')}` : ''
  const why = error ? `: ${error.code}. ${error.message}` : ''
  const mend = [
    remedyOf(error),
    status === 'failed' && `Then send them again: POST /api/v1/webhooks/${id}/resend-failed`,
  ]
  const found = status === 'failed' ? fault : warning
  return found('webhooks', `${subject} fails${when}${why}`, mend.filter(Boolean).join(' '))
}

/** The first delivery with a failed attempt after the newest success, and how many there are. */
async function failingSince(db: Db, { id, workspace_id }: Webhook) {
  const { rows } = await sql<{ created_at: string | null; n: number }>`
    SELECT min(created_at) AS created_at, count(*) AS n FROM webhook_deliveries
    WHERE workspace_id = ${workspace_id} AND webhook_id = ${id} AND event <> 'ping'
      AND (status = 'failed' OR (status = 'pending' AND attempt_count > 0))
      AND id > coalesce((SELECT max(id) FROM webhook_deliveries
        WHERE workspace_id = ${workspace_id} AND webhook_id = ${id} AND status = 'succeeded'), '')`.execute(
    db,
  )
  const [found] = rows
  return found?.created_at ? { created_at: found.created_at, n: Number(found.n) } : null
}

type Failure = { code: string; status: number | null; message: string }

async function lastError(db: Db, { id, workspace_id }: Webhook): Promise<Failure | null> {
  const { rows } = await sql<{
    error_code: string
    error_message: string | null
    response_status: number | null
  }>`
    SELECT a.error_code, a.error_message, a.response_status FROM webhook_attempts a
    WHERE a.workspace_id = ${workspace_id} AND a.error_code IS NOT NULL AND a.delivery_id = (
      SELECT max(d.id) FROM webhook_deliveries d
      WHERE d.workspace_id = ${workspace_id} AND d.webhook_id = ${id}
        AND d.status IN ('failed', 'pending') AND d.attempt_count > 0)
    ORDER BY a.number DESC LIMIT 1`.execute(db)
  const [row] = rows
  return row ? { code: row.error_code, status: row.response_status, message: row.error_message ?? '' } : null
}

const remedies: Record<string, string> = {
  timeout:
    'Let the receiver store the event and answer, and do its work later. Or set WEBHOOK_TIMEOUT_MS higher.',
  dns_error: 'Correct the name in the URL, or the name server of this machine.',
  connection_refused: 'Start the receiver, or open its port to this machine.',
  connection_reset: 'Look into the log of the receiver or of its proxy: it closes connections.',
  tls_error: 'Renew the certificate of the receiver, with all intermediate ones.',
  protocol_error: 'The receiver does not answer in HTTP. Correct the URL.',
  address_blocked: 'If the receiver is in a private network, add that to WEBHOOK_ALLOWED_NETWORKS.',
  redirect_not_followed: 'Set the URL to the address to which it redirects.',
  interrupted: 'The service ended during the attempts. Look into its log, and at its memory.',
}

/** The remedy for an error of attempts. */
function remedyOf(error: Failure | null): string {
  if (!error) return 'Look into the delivery log.'
  const { code, status } = error
  if (code !== 'http_error') return remedies[code] ?? 'Look into the delivery log.'
  if (status === 401 || status === 403)
    return `The receiver refuses the signature: give it the webhook's secret, and try it: ${command('verify-receiver URL --secret S')}`
  if (status === 404 || status === 405 || status === 410)
    return 'The receiver does not know this address. Correct the URL.'
  return status !== null && status >= 500
    ? 'Look into the log of the receiver.'
    : `Look at the answer in the delivery log, and try the receiver: ${command('verify-receiver URL --secret S')}`
}

const slow_seconds = 60

const dueOf = (due: number) => counted(due, 'delivery is due', 'deliveries are due')

/** Deliveries that are due, and work that no process does. */
export async function examineQueue({ db }: Examined, { elapsed_ms, is_served }: Life): Promise<Finding[]> {
  const { due, in_flight, paused, oldest_due_seconds } = await queueNumbers(db, elapsed_ms)
  const findings: Finding[] = []
  if (oldest_due_seconds > slow_seconds && is_served)
    findings.push(
      warning(
        'queue',
        `${dueOf(due)}, the oldest for ${lengthOf(oldest_due_seconds * 1000)}.`,
        'Start a process with the role dispatcher, or more of them. A receiver that answers late holds back only itself.',
      ),
    )
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM imports
    WHERE status IN ('queued', 'running') AND lease_ends_ms < ${elapsed_ms - slow_seconds * 1000}`.execute(db)
  const imports = Number(rows[0]?.n ?? 0)
  if (imports > 0 && is_served)
    findings.push(
      warning(
        'queue',
        `${counted(imports, 'import waits', 'imports wait')}.`,
        'Start a process with the role dispatcher: it imports.',
      ),
    )
  if (findings.length) return findings
  return [
    ok(
      'queue',
      `${dueOf(due)}, ${in_flight} in flight, ${counted(paused, 'waits', 'wait')} for paused webhooks.`,
    ),
  ]
}
