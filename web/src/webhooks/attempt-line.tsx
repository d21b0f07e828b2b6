import { CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react'
import type { Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/with-settings.ts'
import { NextAttempt } from './countdown.tsx'
import { Outcome } from './outcome.tsx'
import { useWebhooks } from './webhooks.ts'

type Props = {
  delivery: Schemas['DeliveryDetail']
  chosen: number | null
  onChoose: (number: number) => void
}

/** The attempts as a vertical line, first one at the top, with the next retry below. */
export function AttemptLine({ delivery, chosen, onChoose }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const { attempts, status, next_attempt_at, webhook_id } = delivery
  const { data: webhooks } = useWebhooks()
  const paused = webhooks?.find(({ id }) => id === webhook_id)?.status === 'paused'
  return (
    <ol className="attempt-line" aria-label={t.settings.attempts}>
      {attempts.map((attempt) => {
        const { number, started_at, duration_ms, error } = attempt
        return (
          <li key={number} data-failed={error !== null || undefined}>
            <span className="attempt-mark">
              {error ? <XCircleFillIcon size={16} /> : <CheckCircleFillIcon size={16} />}
            </span>
            <button type="button" aria-pressed={number === chosen} onClick={() => onChoose(number)}>
              <span className="attempt-top">
                <strong>{t.settings.attempt({ n: number })}</strong>
                <span className="numbers soft">{t.settings.ms({ n: duration_ms })}</span>
              </span>
              <span className="attempt-top">
                <Outcome attempt={attempt} />
                <time dateTime={started_at} title={formats.exact(started_at)} className="numbers soft">
                  {formats.seconds(started_at)}
                </time>
              </span>
            </button>
          </li>
        )
      })}
      {status === 'pending' && <NextAttempt at={next_attempt_at} paused={paused} />}
    </ol>
  )
}
