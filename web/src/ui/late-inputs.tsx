import {
  type AutocompleteProps,
  type NumberInputProps,
  type SelectProps,
  type TagsInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { type ComponentType, createElement, useState } from 'react'
import { useIdle } from '../app/idle.ts'
import { latePart } from '../app/late.ts'

type Parts = typeof import('./late-input-parts.ts')

const parts = latePart(() => import('./late-input-parts.ts'))

// The properties of an input that its stand-in has, too.
const looks = [
  'label',
  'description',
  'error',
  'size',
  'placeholder',
  'disabled',
  'required',
  'withAsterisk',
] as const
const places = ['w', 'miw', 'maw', 'mt', 'mb', 'className', 'style', 'leftSection', 'aria-label'] as const

type Shared = Pick<TextInputProps, (typeof looks)[number] | (typeof places)[number]>

/** An input of a page that is loaded after the page is shown. Until then it shows its value and cannot be changed. */
const lateInput = <Props extends object>(name: keyof Parts, shownIn: (props: Props) => string) =>
  function LateInput(props: Props) {
    const idle = useIdle()
    const [touched, setTouched] = useState(false)
    const found = parts.usePart(idle || touched || parts.now() !== undefined, () => setTouched(false))
    // An input that was clicked before opens now.
    const opens = { autoFocus: true, ...(name !== 'NumberInput' && { defaultDropdownOpened: true }) }
    if (found)
      return createElement(found[name] as unknown as ComponentType<Props>, {
        ...props,
        ...(touched && opens),
      })
    const given = props as Shared
    const shared = Object.fromEntries([...looks, ...places].map((one) => [one, given[one]])) as Shared
    return <TextInput {...shared} readOnly value={shownIn(props)} onFocus={() => setTouched(true)} />
  }

/** The label of the chosen value. */
function chosenIn({ data = [], value }: SelectProps): string {
  for (const one of data) {
    if (one === value) return String(one)
    if (typeof one === 'object' && 'value' in one && one.value === value) return String(one.label)
  }
  return ''
}

export const Select = lateInput<SelectProps>('Select', chosenIn)
export const Autocomplete = lateInput<AutocompleteProps>('Autocomplete', ({ value }) => value ?? '')
export const NumberInput = lateInput<NumberInputProps>('NumberInput', ({ value }) => String(value ?? ''))
export const TagsInput = lateInput<TagsInputProps>('TagsInput', ({ value = [] }) => value.join(', '))
