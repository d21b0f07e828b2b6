import { Button } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import './copy.css'

const said_ms = 2000

/** Copies a text and shows a tick. If the browser refuses, shows the text selected, to be copied by hand. */
export function CopyButton({ value, label }: { value: string; label?: string }) {
  const t = useTexts()
  const [copied, setCopied] = useState(false)
  const [refused, setRefused] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), said_ms)
    return () => clearTimeout(timer)
  }, [copied])
  async function copy(button: HTMLElement) {
    const done = await copyText(value, button)
    setCopied(done)
    setRefused(!done)
  }
  return (
    <>
      <Button
        variant="default"
        onClick={(event) => copy(event.currentTarget)}
        leftSection={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
      >
        {copied ? t.app.copied : (label ?? t.app.copy)}
      </Button>
      {refused && (
        <label className="copy-by-hand">
          <span role="alert">{t.app.copy_refused}</span>
          <textarea
            readOnly
            rows={Math.min(6, value.split('\n').length)}
            value={value}
            ref={(field) => field?.select()}
            onFocus={(event) => event.currentTarget.select()}
          />
        </label>
      )}
    </>
  )
}

/** Copies a text; resolves to whether it worked. Over plain http, only the old `execCommand` exists. */
async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  if (navigator.clipboard)
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // The person or the browser refused. The old command may still work.
    }
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'copy-source'
  // Beside the button, because a dialog takes the focus back from elements outside it.
  button.after(field)
  field.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    button.focus()
  }
}
