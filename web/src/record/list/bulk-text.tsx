import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../../texts/texts.ts'
import { Popover } from '../../ui/floating.tsx'

type InputProps = {
  label: string
  value: string
  onChange: (value: string) => void
  size: 'xs'
  'data-autofocus': true
}

type Props = {
  label: string
  icon: React.ReactNode
  /** Whether an empty text is allowed, to clear the field. */
  may_be_empty?: boolean
  onApply: (text: string) => void
  children: (input: InputProps) => React.ReactNode
}

/** A bulk action that asks for one text, in a popover over its button. */
export function BulkText({ label, icon, may_be_empty = false, onApply, children }: Props) {
  const t = useTexts()
  const [opened, setOpened] = useState(false)
  const [text, setText] = useState('')
  return (
    <Popover opened={opened} onChange={setOpened} position="top" width={240} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={icon}
          aria-expanded={opened}
          onClick={() => {
            setText('')
            setOpened(!opened)
          }}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (!text.trim() && !may_be_empty) return
            setOpened(false)
            onApply(text.trim())
          }}
        >
          {children({ label, value: text, onChange: setText, size: 'xs', 'data-autofocus': true })}
          <Group mt="sm">
            <Button type="submit" disabled={!text.trim() && !may_be_empty}>
              {t.record.apply}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
