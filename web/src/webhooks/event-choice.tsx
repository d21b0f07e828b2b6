import { Input, Text } from '@mantine/core'
import { useTexts } from '../texts/with-settings.ts'
import { Check } from '../ui/check.tsx'
import { addEvent, eventsOf, groups, includesEvent, removeEvent, type Subscribed } from './event-groups.ts'

type Props = { value: Subscribed[]; onChange: (events: Subscribed[]) => void; error?: React.ReactNode }

/** The events of a webhook: all, whole groups as wildcards, or single ones. */
export function EventChoice({ value, onChange, error }: Props) {
  const t = useTexts()
  const chosen = eventsOf(value)
  const box = (name: Subscribed, label: React.ReactNode, whole = false) => {
    const checked = whole ? value.includes('*') || value.includes(name) : includesEvent(value, name)
    const partly = whole && !checked && chosen.some((one) => includesEvent([name], one))
    return (
      <Check
        key={name}
        label={whole ? <strong>{label}</strong> : label}
        checked={checked}
        indeterminate={partly}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.checked ? addEvent(value, name) : removeEvent(value, name))
        }
      />
    )
  }
  return (
    <fieldset className="events-choice-set">
      <legend>{t.fields.events}</legend>
      {box('*', t.settings.all_events, true)}
      <div className="events-choice">
        {groups.map(({ kind, events, wildcard }) => (
          <div key={kind} className="events-group">
            {box(wildcard, t.settings.all_of({ many: t.kinds[kind].in_sentence.many }), true)}
            {events.map((name) => box(name, <code>{name}</code>))}
          </div>
        ))}
      </div>
      {error && <Input.Error role="alert">{error}</Input.Error>}
      <Text size="xs" c="dimmed" className="numbers">
        {t.app.selected({ n: chosen.length })}. {t.webhooks.later_too}
      </Text>
    </fieldset>
  )
}
