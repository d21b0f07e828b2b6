import { Button, Group } from '@mantine/core'
import { CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, dataOf } from '../api/client.ts'
import { Waiting } from '../app/fallback-pages.tsx'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/with-mail.ts'
import { ByApi } from '../ui/by-api.tsx'
import { Page } from '../ui/page.tsx'
import { showMessage } from '../ui/undo.tsx'
import { NextAttempt } from '../webhooks/countdown.tsx'
import { Status } from '../webhooks/statuses.tsx'
import { type MailDetail, useMail } from './mail-queries.ts'
import '../settings/settings.css'
import { useDoing } from '../ui/doing.ts'
import '../webhooks/deliveries.css'

/** A mail: its text, and its attempts as a line of time. */
export function MailPage() {
  const t = useTexts()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { data, error, refetch } = useMail(id)
  const back = (
    <Button component={Link} to="/settings/mail" variant="default">
      {t.settings.pages.mail.label}
    </Button>
  )
  if (error && !data)
    return (
      <Page title={t.mail.mail}>
        <div className="padded">
          <ProblemNote error={error} onRetry={refetch} />
          {back}
        </div>
      </Page>
    )
  if (!data) return <Waiting />
  return (
    <Page
      title={data.subject || t.mail.mail}
      middle={<Status status={data.status} label={t.mail.statuses[data.status]} />}
      actions={
        <>
          {back}
          <Resend mail={data} />
        </>
      }
    >
      <div className="delivery-page">
        <div className="delivery">
          <Facts mail={data} />
          <div className="delivery-split">
            <Attempts mail={data} />
            <div className="delivery-detail">
              <section className="message" aria-label={t.mail.text}>
                <h3>{t.mail.text}</h3>
                <pre className="mail-text" dir="auto">
                  {data.text}
                </pre>
              </section>
            </div>
          </div>
        </div>
        <ByApi method="POST" path={`/mails/${id}/resend`} />
      </div>
    </Page>
  )
}

function Facts({ mail }: { mail: MailDetail }) {
  const t = useTexts()
  const formats = useFormats()
  const { recipient, kind, created_at, reason, has_calendar } = mail
  const reasons = t.mail.reasons as Record<string, string | undefined>
  const facts: [label: string, value: React.ReactNode][] = [
    [t.mail.recipient, <bdi key="to">{recipient}</bdi>],
    [t.mail.kind, `${t.mail.kinds[kind]}${has_calendar ? ` · ${t.mail.calendar}` : ''}`],
    [t.fields.created_at, `${formats.day(created_at)} ${formats.seconds(created_at)}`],
    ...(reason
      ? [[t.mail.reason, reasons[reason] ?? <code key="reason">{reason}</code>] as [string, React.ReactNode]]
      : []),
  ]
  return (
    <dl className="delivery-facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Attempts({ mail: { attempts, status, next_attempt_at } }: { mail: MailDetail }) {
  const t = useTexts()
  const formats = useFormats()
  if (!attempts.length && status !== 'pending')
    return <p className="settings-hint hint">{t.settings.no_attempt_yet}</p>
  return (
    <ol className="attempt-line" aria-label={t.settings.attempts}>
      {attempts.map(({ number, started_at, duration_ms, server, tls, response, error }) => (
        <li key={number} data-failed={error !== null || undefined}>
          <span className="attempt-mark">
            {error ? <XCircleFillIcon size={16} /> : <CheckCircleFillIcon size={16} />}
          </span>
          <span>
            <span className="attempt-top">
              <strong>{t.settings.attempt({ n: number })}</strong>
              <time dateTime={started_at} title={formats.exact(started_at)} className="numbers soft">
                {formats.day(started_at)} {formats.seconds(started_at)}
              </time>
              <span className="numbers soft">{t.settings.ms({ n: duration_ms })}</span>
            </span>
            <code lang="en" className="mail-answer" title={t.mail.answer}>
              {response?.text ?? (error ? `${error.code}: ${error.message}` : t.mail.no_answer)}
            </code>
            {server && (
              <span className="soft">
                {server}, {tls ? t.mail.encrypted : t.mail.not_encrypted}
              </span>
            )}
          </span>
        </li>
      ))}
      {status === 'pending' && <NextAttempt at={next_attempt_at} />}
    </ol>
  )
}

/** Sends a finished mail once more. Invitations and resets are made anew. */
function Resend({ mail: { id, kind, status } }: { mail: MailDetail }) {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('mails:write')
  const { doing, run } = useDoing()
  const is_made_anew = kind === 'invitation' || kind === 'password_reset'
  if (!writes || is_made_anew || status === 'pending' || status === 'cancelled') return null
  async function send() {
    const params = { path: { mail_id: id } }
    const mail = await dataOf(api.POST('/api/v1/mails/{mail_id}/resend', { params, body: {} }))
    client.setQueryData(['mails', 'one', id], mail)
    client.invalidateQueries({ queryKey: ['mails', 'list'] })
    if (mail.status === 'sent') showMessage(t.mail.resent)
  }
  return (
    <Group>
      <Button loading={doing} onClick={() => run(send, (error) => showProblem(error, t))}>
        {t.mail.resend}
      </Button>
    </Group>
  )
}
