import { ActionIcon, Button, Text } from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { focusBeside } from '../ui/focus.ts'
import './webhook-form.css'

type Place = { n: number }
type Props<Row> = {
  legend: string
  hint: string
  value: Row[]
  onChange: (rows: Row[]) => void
  /** The error of the rows as a whole. */
  error: ReactNode
  most: number
  /** A new row. */
  empty: Row
  add: string
  remove: (place: Place) => string
  /** The name of a row that is a group of its own. */
  nameOf?: (place: Place) => string
  className: string
  children: (row: Row, put: (row: Row) => void, index: number) => ReactNode
}

/** Rows of a webhook's form. Each can be removed, and others added. */
export function RowsInput<Row>(props: Props<Row>) {
  const { legend, hint, value, onChange, error, most, empty, add, remove, nameOf, className, children } =
    props
  const Group = nameOf ? 'fieldset' : 'div'
  return (
    <fieldset className="webhook-rows">
      <legend className="settings-legend">{legend}</legend>
      <p className="hint">{hint}</p>
      {value.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing fixed but their position
        <Group key={index} ref={focusBeside} className={className} aria-label={nameOf?.({ n: index + 1 })}>
          {children(row, (changed) => onChange(value.with(index, changed)), index)}
          <ActionIcon
            variant="subtle"
            aria-label={remove({ n: index + 1 })}
            onClick={() => onChange(value.filter((_, other) => other !== index))}
          >
            <XIcon />
          </ActionIcon>
        </Group>
      ))}
      {error && (
        <Text c="var(--mantine-color-error)" size="xs" role="alert">
          {error}
        </Text>
      )}
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        leftSection={<PlusIcon size={14} />}
        disabled={value.length >= most}
        onClick={() => onChange([...value, empty])}
      >
        {add}
      </Button>
    </fieldset>
  )
}
