import { TextInput } from '@mantine/core'
import { useTexts } from '../texts/with-settings.ts'
import { RowsInput } from './rows-input.tsx'
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
  return (
    <RowsInput<Header>
      legend={t.webhooks.headers}
      hint={t.webhooks.headers_text}
      value={value}
      onChange={onChange}
      error={errors.headers}
      most={max_headers}
      empty={{ name: '', value: '', kept: false }}
      add={t.webhooks.add_header}
      remove={t.webhooks.remove_header}
      className="header-row"
    >
      {(header, put, index) => (
        <>
          <TextInput
            aria-label={t.webhooks.header_name({ n: index + 1 })}
            placeholder="Authorization"
            autoComplete="off"
            value={header.name}
            error={errors[`headers.${header.name.trim()}`]}
            // The service keeps the value of the same name only.
            onChange={(event) => put({ ...header, name: event.currentTarget.value, kept: false })}
          />
          <TextInput
            aria-label={t.webhooks.header_value({ n: index + 1 })}
            placeholder={header.kept ? t.webhooks.kept : t.webhooks.value}
            autoComplete="off"
            value={header.value}
            onChange={(event) => put({ ...header, value: event.currentTarget.value, kept: false })}
          />
        </>
      )}
    </RowsInput>
  )
}
