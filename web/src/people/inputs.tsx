import { PasswordInput, type PasswordInputProps, type SelectProps } from '@mantine/core'
import { useMemo } from 'react'
import { browser_zone } from '../app/formats.ts'
import { languages, useLanguage, useTexts } from '../texts/texts.ts'
import { Select } from '../ui/late-inputs.tsx'
import { currencies } from './currencies.ts'
import { browserZones } from './zone-names.ts'

/** A password input that can show the password. */
export function Password(props: PasswordInputProps) {
  const t = useTexts()
  return (
    <PasswordInput
      {...props}
      visibilityToggleButtonProps={{ 'aria-label': t.people.show_password, tabIndex: 0 }}
    />
  )
}

type ChoiceProps = Omit<SelectProps, 'data' | 'value' | 'onChange' | 'label'> & {
  value?: string | null
  onChange: (value: string) => void
}
type Options = Pick<SelectProps, 'data' | 'label' | 'searchable'>

/** One of many values, which cannot be cleared. */
function Choice({ value = null, onChange, ...rest }: ChoiceProps & Options) {
  const t = useTexts()
  return (
    <Select
      {...rest}
      value={value}
      onChange={(chosen) => chosen && onChange(chosen)}
      nothingFoundMessage={t.people.nothing_found}
      limit={100}
    />
  )
}

/** Chooses a time zone by a part of its name. */
export function ZoneInput(props: ChoiceProps) {
  const t = useTexts()
  const { value } = props
  const zones = useMemo(() => {
    const known = new Set([...browserZones(), 'UTC', browser_zone, ...(value ? [value] : [])])
    return [...known].sort().map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))
  }, [value])
  return <Choice {...props} label={t.fields.time_zone} data={zones} searchable />
}

export function LanguageInput(props: ChoiceProps) {
  const t = useTexts()
  const data = Object.entries(languages).map(([code, label]) => ({ value: code, label }))
  return <Choice {...props} label={t.fields.language} data={data} />
}

/** Chooses a currency by code or name. */
export function CurrencyInput(props: ChoiceProps) {
  const t = useTexts()
  const language = useLanguage()
  const data = useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: 'currency', fallback: 'none' })
    const labelOf = (code: string) => [code, names.of(code) ?? []].flat().join(' – ')
    return currencies.map((code) => ({ value: code, label: labelOf(code) }))
  }, [language])
  return <Choice {...props} label={t.fields.currency} data={data} searchable />
}
