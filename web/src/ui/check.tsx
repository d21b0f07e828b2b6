import type { ComponentProps, ReactNode } from 'react'
import './check.css'

type Props = Omit<ComponentProps<'input'>, 'type'> & {
  label?: ReactNode
  /** Some of what it stands for is chosen. */
  indeterminate?: boolean
}

/** A small checkbox of the browser: a table and a list of events have many, and Mantine's takes ten times as long. */
export function Check({ label, indeterminate = false, ...given }: Props) {
  const box = (
    <input
      type="checkbox"
      className="check"
      ref={(input) => {
        if (input) input.indeterminate = indeterminate
      }}
      {...given}
    />
  )
  return label === undefined ? (
    box
  ) : (
    // biome-ignore lint/a11y/noLabelWithoutControl: the box is in it
    <label className="check-line">
      {box}
      <span>{label}</span>
    </label>
  )
}
