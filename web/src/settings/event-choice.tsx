import { Checkbox, Input, Text } from '@mantine/core'
import { useTexts } from '../texts/texts.ts'
import { all_events, type EventGroup, type EventName, event_groups } from './catalogue.ts'

type Props = { value: EventName[]; onChange: (events: EventName[]) => void; error?: React.ReactNode }

/** The events of a webhook, in their groups; each group and all of them can be chosen at once. */
export function EventChoice({ value, onChange, error }: Props) {
  const t = useTexts()
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
      <legend>{t.settings.events}</legend>
      {all(t.settings.all_events, all_events)}
      <div className="events-choice">
        {Object.entries(event_groups).map(([noun, names]) => (
          <div key={noun} className="events-group">
            {all(t.settings.all_of[noun as EventGroup], names)}
            {names.map((name) => (
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
