import { TagsInput as Input, type TagsInputProps } from '@mantine/core'
import { writtenTags } from './written-tags.ts'

/** An input of several texts. Without own `splitChars`, a comma ends a text. */
export const TagsInput = ({ onChange, ...props }: TagsInputProps) => (
  <Input
    {...props}
    onChange={(tags) => onChange?.(props.splitChars ? tags : writtenTags(tags, props.value))}
  />
)
