// The parts that are loaded after the first screen of a page with such inputs.
export { Autocomplete, NumberInput } from '@mantine/core'
export { Select } from './select.tsx'
export { TagsInput } from './tags-input.tsx'
