import { Checkbox, Radio, Stack } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/with-settings.ts'
import { NumberInput } from '../ui/inputs.tsx'
import { Select } from '../ui/late-inputs.tsx'
import { readNumber, writeNumber } from '../ui/number.ts'
import { WrittenInput } from '../ui/written-input.tsx'
import { HeadersInput } from './headers-input.tsx'
import type { WebhookProps } from './webhook-fields.tsx'
import type { WebhookValues } from './webhook-values.ts'

const formats = ['envelope', 'slack', 'teams'] as const

/** Options with a default: headers, retries, limits, order and format. */
export function WebhookOptions({ values, errors, put }: WebhookProps) {
  const t = useTexts()
  return (
    <Stack gap="md" mt="sm">
      <HeadersInput value={values.headers} onChange={(headers) => put('headers', headers)} errors={errors} />
      <Policy values={values} errors={errors} put={put} />
      <Checkbox
        size="xs"
        label={t.webhooks.ordered}
        description={t.webhooks.ordered_text}
        checked={values.ordered}
        onChange={(event) => put('ordered', event.currentTarget.checked)}
        error={errors.ordered}
      />
      <Radio.Group
        label={t.webhooks.format}
        value={values.format}
        onChange={(format) => put('format', format as WebhookValues['format'])}
        error={errors.format}
      >
        <Stack gap="xs" mt={6}>
          {formats.map((format) => (
            <Radio
              key={format}
              size="xs"
              value={format}
              label={t.webhooks.formats[format]}
              description={t.webhooks.format_texts[format]}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Stack>
  )
}

function Policy({ values, errors, put }: WebhookProps) {
  const t = useTexts()
  const { retry_delays, timeout_ms, max_per_second } = values
  const mode = retry_delays === null ? 'installation' : retry_delays.length ? 'own' : 'none'
  const modes = Object.entries(t.webhooks.retry_modes)
  const start = { installation: null, none: [], own: [60, 300, 1800] }
  const wrong_delay = Object.entries(errors).find(([field]) => field.startsWith('retry_delays'))?.[1]
  return (
    <div className="form-pair">
      <Select
        label={t.webhooks.retries}
        data={modes.map(([value, label]) => ({ value, label }))}
        value={mode}
        allowDeselect={false}
        onChange={(chosen) => put('retry_delays', start[(chosen ?? 'installation') as keyof typeof start])}
      />
      {mode === 'own' ? (
        <DelaysInput
          value={retry_delays ?? []}
          onChange={(delays) => put('retry_delays', delays)}
          error={wrong_delay}
        />
      ) : (
        <span />
      )}
      <NumberInput
        label={t.webhooks.timeout}
        description={t.webhooks.timeout_text}
        placeholder={t.webhooks.as_installation}
        value={timeout_ms === null ? null : timeout_ms / 1000}
        onChange={(seconds) => put('timeout_ms', seconds === null ? null : Math.round(seconds * 1000))}
        error={errors.timeout_ms}
      />
      <NumberInput
        label={t.webhooks.rate}
        description={t.webhooks.rate_text}
        placeholder={t.webhooks.no_limit}
        value={max_per_second}
        onChange={(rate) => put('max_per_second', rate)}
        error={errors.max_per_second}
      />
    </div>
  )
}

type DelaysProps = { value: number[]; onChange: (seconds: number[]) => void; error: React.ReactNode }

/** Delays in minutes, in one line: `1, 5, 30`. */
function DelaysInput({ value, onChange, error }: DelaysProps) {
  const t = useTexts()
  const { locale } = useFormats()
  // Four decimals of a minute are exact to the second.
  const minutes = (seconds: string) =>
    writeNumber(Math.round((Number(seconds) / 60) * 10_000) / 10_000, locale)
  return (
    <WrittenInput<string>
      label={t.webhooks.delays}
      description={t.webhooks.delays_text}
      value={value.join(' ')}
      wrong={t.webhooks.no_delays}
      write={(seconds) => seconds.split(' ').map(minutes).join(', ')}
      read={(text) => {
        const parts = text.trim().split(/[,;]?\s+|;/)
        const numbers = parts.map((part) => readNumber(part.replace(/,$/, ''), locale))
        return numbers.includes(null) ? null : numbers.map((n) => Math.round((n ?? 0) * 60)).join(' ')
      }}
      onChange={(seconds) => onChange(seconds === null ? [] : seconds.split(' ').map(Number))}
      error={error}
    />
  )
}
