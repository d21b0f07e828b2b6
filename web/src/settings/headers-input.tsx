import { ActionIcon, Button, Text, TextInput } from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/with-settings.ts'
import { focusBeside } from '../ui/focus.ts'
import type { Header } from './webhook-values.ts'

type Props = {
  value: Header[]
  onChange: (headers: Header[]) => void
  errors: Record<string, React.ReactNode>
}
const max_headers = 20

/** The own headers of a webhook. A stored value stays until another one is typed. */
export function HeadersInput({ value, onChange, errors }: Props) {
  const t = useTexts()
  const put = (at: number, changed: Partial<Header>) =>
    onChange(value.map((one, index) => (index === at ? { ...one, ...changed } : one)))
  return (
    <fieldset className="webhook-rows">
      <legend className="settings-legend">{t.webhooks.headers}</legend>
      <p className="hint">{t.webhooks.headers_text}</p>
      {value.map(({ name, value: text, kept }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed
        <div key={index} ref={focusBeside} className="header-row">
          <TextInput
            aria-label={t.webhooks.header_name({ n: index + 1 })}
            placeholder="Authorization"
            autoComplete="off"
            value={name}
            error={errors[`headers.${name.trim()}`]}
            // The service keeps the value of the same name only.
            onChange={(event) => put(index, { name: event.currentTarget.value, kept: false })}
          />
          <TextInput
            aria-label={t.webhooks.header_value({ n: index + 1 })}
            placeholder={kept ? t.webhooks.kept : t.webhooks.value}
            autoComplete="off"
            value={text}
            onChange={(event) => put(index, { value: event.currentTarget.value, kept: false })}
          />
          <ActionIcon
            variant="subtle"
            aria-label={t.webhooks.remove_header({ n: index + 1 })}
            onClick={() => onChange(value.filter((_, other) => other !== index))}
          >
            <XIcon />
          </ActionIcon>
        </div>
      ))}
      {errors.headers && (
        <Text c="var(--mantine-color-error)" size="xs" role="alert">
          {errors.headers}
        </Text>
      )}
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        leftSection={<PlusIcon size={14} />}
        disabled={value.length >= max_headers}
        onClick={() => onChange([...value, { name: '', value: '', kept: false }])}
      >
        {t.webhooks.add_header}
      </Button>
    </fieldset>
  )
}
