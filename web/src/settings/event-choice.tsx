import { Checkbox, Input, Text } from '@mantine/core'
import type { EventName } from '../api/client.ts'
import { all_events, all_kinds } from '../kinds.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'

const of_kinds = all_kinds.filter(({ events }) => events.length)

type Props = { value: EventName[]; onChange: (events: EventName[]) => void; error?: React.ReactNode }

/** The events of a webhook in groups, with checkboxes for each group and for all. */
export function EventChoice({ value, onChange, error }: Props) {
  const t = useTexts()
  const language = useLanguage()
  const put = (names: readonly EventName[], on: boolean) =>
    onChange(all_events.filter((name) => (names.includes(name) ? on : value.includes(name))))
  const all = (label: string, names: readonly EventName[]) => {
    const chosen = names.filter((name) => value.includes(name)).length
    return (
      <Checkbox
        size="xs"
        fw={600}
        label={label}
        checked={chosen === names.length}
        indeterminate={chosen > 0 && chosen < names.length}
        onChange={(event) => put(names, event.currentTarget.checked)}
      />
    )
  }
  return (
    <fieldset className="events-choice-set">
      <legend>{t.fields.events}</legend>
      {all(t.settings.all_events, all_events)}
      <div className="events-choice">
        {of_kinds.map(({ kind, names, events }) => (
          <div key={kind} className="events-group">
            {all(t.settings.all_of(names[language].many), events)}
            {events.map((name) => (
              <Checkbox
                key={name}
                size="xs"
                label={<code>{name}</code>}
                checked={value.includes(name)}
                onChange={(event) => put([name], event.currentTarget.checked)}
              />
            ))}
          </div>
        ))}
      </div>
      {error && <Input.Error role="alert">{error}</Input.Error>}
      <Text size="xs" c="dimmed" className="numbers">
        {t.app.selected(value.length)}
      </Text>
    </fieldset>
  )
}
