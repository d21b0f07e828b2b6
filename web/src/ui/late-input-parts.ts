// The parts that are loaded after the first screen of a page with such inputs.
export { Autocomplete, NumberInput, Select, TagsInput } from '@mantine/core'
