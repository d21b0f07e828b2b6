import { Button } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef } from 'react'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { focusWrong } from '../ui/focus.ts'
import { useRecordForm } from '../ui/record-form.ts'
import { showMessage } from '../ui/undo.tsx'
import { unreadIn } from '../ui/unread.ts'
import { written } from '../ui/written.ts'

type Props<Values extends Record<string, unknown>> = {
  saved: Values
  /** Sends changed fields. `began` has each field as it was when the person began to change it. */
  send: (changes: Partial<Values>, began: Values) => Promise<unknown>
  /** Whether the person may change the record. */
  writes?: boolean
  /** The fields whose parts show own errors. */
  nested?: readonly string[]
  className?: string
  children: (form: UseFormReturnType<Values>) => React.ReactNode
}

/**
 * A form on a saved record. Changes of other people show in untouched fields. Only edited fields are sent,
 * so that nobody's change is undone.
 */
export function SavedForm<Values extends Record<string, unknown>>(props: Props<Values>) {
  const { saved, send, writes = true, nested, className, children } = props
  const t = useTexts()
  const { form, submit, sending, problem } = useRecordForm(saved, nested)
  const changes = () => written(form.getValues(), form.getInitialValues())
  const changed = Object.keys(changes()).length > 0
  const began = useRef(saved)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is written stays, whatever it is when others save
  useEffect(() => {
    const kept = changes()
    const before = Object.keys(kept).map((field) => [field, began.current[field]])
    began.current = { ...saved, ...Object.fromEntries(before) }
    form.setInitialValues(saved)
    form.setValues({ ...saved, ...kept })
  }, [JSON.stringify(saved)])
  async function save(shown: HTMLFormElement) {
    const done = await submit(async (values) => {
      await send(changes(), began.current)
      began.current = values
      form.setInitialValues(values)
    })
    if (done) showMessage(t.app.saved)
    else focusWrong(shown)
  }
  return (
    <form
      noValidate
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        const unread = unreadIn(event.currentTarget)
        if (unread) return unread.focus()
        save(event.currentTarget)
      }}
    >
      <fieldset disabled={!writes}>{children(form)}</fieldset>
      {problem ? <ProblemNote error={problem} /> : null}
      {writes && (
        <Button type="submit" mt="md" loading={sending} disabled={!changed}>
          {t.app.save}
        </Button>
      )}
    </form>
  )
}
