import { TextInput } from '@mantine/core'
import type { FieldKind, LongInput, Value } from './fields.tsx'
import { GrowingTextarea } from './growing-textarea.tsx'
import { DayInput, MomentInput, MoneyInput, NumberInput } from './inputs.tsx'
import { Select } from './select.tsx'

type Props = {
  kind: FieldKind
  Input: LongInput | undefined
  /** The choices, instead of free text. */
  options: { value: string; label: string }[] | undefined
  required: boolean
  searchable: boolean
  draft: Value
  common: { size: 'xs'; 'aria-labelledby': string; autoFocus: boolean; error: string | null }
  /** Enter and blur save, in inputs of text. */
  keys: {
    onKeyDown: (event: React.KeyboardEvent) => void
    onBlur: (event: React.FocusEvent) => void
  }
  /** The same of inputs that are written as text. */
  ending: {
    typed?: string
    onChange: (value: Value) => void
    onEnd: (value: Value | undefined, text: string) => void
  }
  onChange: (value: Value) => void
  onSave: (value: Value) => void
  onEscape: (event: React.KeyboardEvent) => void
}

const PlainInput: LongInput = ({ onChange, ...more }) => (
  <GrowingTextarea {...more} onChange={(event) => onChange(event.currentTarget.value)} />
)

/** The editor of a field, by its kind. */
export function FieldEditor(props: Props) {
  const {
    kind,
    Input = PlainInput,
    options,
    required,
    searchable,
    draft,
    common,
    keys,
    ending,
    onChange,
    onSave,
    onEscape,
  } = props
  if (options)
    return (
      <Select
        {...common}
        data={options}
        value={draft === null ? null : String(draft)}
        clearable={!required}
        allowDeselect={!required}
        searchable={searchable}
        defaultDropdownOpened
        onChange={(next) => {
          onChange(next)
          onSave(next)
        }}
        onKeyDown={onEscape}
        onBlur={() => onSave(draft)}
      />
    )
  if (kind === 'long')
    return (
      <Input {...common} {...keys} minRows={2} maxRows={12} value={String(draft ?? '')} onChange={onChange} />
    )
  const number = kind === 'number' || kind === 'money'
  const AmountInput = kind === 'money' ? MoneyInput : NumberInput
  const WrittenInput = kind === 'date' ? DayInput : MomentInput
  if (number || kind === 'date' || kind === 'moment')
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: keys are heard on their way up from the input
      <div
        onKeyDown={(event) => {
          onEscape(event)
          // Enter returns the focus to the button, which the same key press would click.
          if (event.key === 'Enter') event.preventDefault()
        }}
      >
        {number ? (
          <AmountInput {...common} {...ending} value={draft as number | null} />
        ) : (
          <WrittenInput {...common} {...ending} value={draft as string | null} />
        )}
      </div>
    )
  return (
    <TextInput
      {...common}
      {...keys}
      type={kind}
      value={String(draft ?? '')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
