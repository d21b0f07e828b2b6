import { Button, CopyButton as Copies } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'

/** Copies a text; says so for a moment. */
export function CopyButton({ value, label }: { value: string; label?: string }) {
  const t = useTexts()
  return (
    <Copies value={value}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          onClick={copy}
          leftSection={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
        >
          {copied ? t.app.copied : (label ?? t.app.copy)}
        </Button>
      )}
    </Copies>
  )
}
