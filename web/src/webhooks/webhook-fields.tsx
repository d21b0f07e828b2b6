import { Skeleton } from '@mantine/core'
import type { FormErrors, UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { late } from '../app/late.ts'
import { useTexts } from '../texts/with-settings.ts'
import { ConditionsInput } from './conditions-input.tsx'
import { EventChoice } from './event-choice.tsx'
import type { WebhookValues } from './webhook-values.ts'
import './webhook-form.css'

const WebhookOptions = late(
  async () => (await import('./webhook-options.tsx')).WebhookOptions,
  <Skeleton height={320} />,
)

export type WebhookProps = {
  values: WebhookValues
  errors: FormErrors
  put: UseFormReturnType<WebhookValues>['setFieldValue']
}
type Options = Omit<WebhookValues, 'name' | 'url' | 'events' | 'conditions'>
const option_names = ['headers', 'retry_delays', 'timeout_ms', 'max_per_second', 'ordered', 'format']

/** The events, the conditions and the folded options of a webhook. */
export function WebhookFields({ values, errors, put }: WebhookProps) {
  const t = useTexts()
  const wrong = Object.keys(errors).some((field) => option_names.includes(field.split('.')[0] ?? ''))
  const [open, setOpen] = useState(() => isSet(values))
  const shown = open || wrong
  return (
    <>
      <EventChoice
        value={values.events}
        onChange={(events) => put('events', events)}
        error={errors.events ?? Object.entries(errors).find(([field]) => field.startsWith('events.'))?.[1]}
      />
      <ConditionsInput
        events={values.events}
        value={values.conditions}
        onChange={(conditions) => put('conditions', conditions)}
        errors={errors}
      />
      <details
        className="webhook-advanced"
        open={shown}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>{t.webhooks.advanced}</summary>
        {shown && <WebhookOptions values={values} errors={errors} put={put} />}
      </details>
    </>
  )
}

const isSet = ({ headers, retry_delays, timeout_ms, max_per_second, ordered, format }: Options): boolean =>
  headers.length > 0 ||
  [retry_delays, timeout_ms, max_per_second].some((one) => one !== null) ||
  ordered ||
  format !== 'envelope'
