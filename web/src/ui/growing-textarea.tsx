import { Textarea, type TextareaProps } from '@mantine/core'
import './growing-textarea.css'

export type GrowingTextareaProps = Omit<TextareaProps, 'autosize' | 'classNames' | 'styles'> & {
  minRows: number
  maxRows: number
}

// Mantine measures a hidden copy each time that it draws a text: the browser lays out the whole page several times.
const by_style = CSS.supports('field-sizing: content')

/** A text area that grows with its text, from `minRows` to `maxRows`. */
export function GrowingTextarea({ minRows, maxRows, ...more }: GrowingTextareaProps) {
  if (!by_style) return <Textarea {...more} autosize minRows={minRows} maxRows={maxRows} />
  const rows = { '--min-rows': minRows, '--max-rows': maxRows } as React.CSSProperties
  return <Textarea {...more} classNames={{ input: 'growing-textarea' }} styles={{ input: rows }} />
}
