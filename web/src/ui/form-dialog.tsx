import { Button, Group } from '@mantine/core'
import type { FormErrors, UseFormReturnType } from '@mantine/form'
import { flushSync } from 'react-dom'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { DraftNote } from './draft-note.tsx'
import { focusFirst, focusWrong } from './focus.ts'
import { useFormDraft } from './form-draft.ts'
import { useOpening } from './opening.ts'
import { type FormValues, useRecordForm } from './record-form.ts'
import { unreadIn } from './unread.ts'
import './form.css'

type FormProps<Values extends FormValues, Made> = {
  onClose: () => void
  /** The label of the button: a verb with its object. */
  action: string
  color?: string
  /** The values at every opening. */
  start: Values
  /** The name of the draft: what is written survives Escape and a reload, but no secrets. Left out: there is none. */
  draft?: string
  /** The fields whose parts show own errors. */
  nested?: readonly string[]
  /** Validates before anything is sent. */
  check?: (values: Values) => FormErrors
  /** Sends the values. The dialog shows an error, or closes. */
  send: (values: Values) => Promise<Made>
  /** `over`: the dialog was closed before the answer, and may be open again for another record. */
  onSent?: (made: Made, over: boolean) => void
  children: (form: UseFormReturnType<Values>) => React.ReactNode
}
type DialogProps<Values extends FormValues, Made> = FormProps<Values, Made> & {
  title: string
  opened: boolean
  size?: string
}

/**
 * A form in a dialog. An opening starts with the initial values, or with the draft of an earlier one. Cancel
 * discards the draft. On close, the focus returns to where it was.
 */
export function FormDialog<Values extends FormValues, Made>(props: DialogProps<Values, Made>) {
  const { title, opened, size = 'md', ...form } = props
  return (
    <Dialog
      opened={opened}
      onClose={form.onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      // The form must have the focus as soon as it mounts.
      transitionProps={{ duration: 0 }}
      returnFocus={false}
    >
      <DialogForm {...form} />
    </Dialog>
  )
}

function DialogForm<Values extends FormValues, Made>(props: FormProps<Values, Made>) {
  const { onClose, action, color, start, nested, check, send, onSent, children } = props
  const t = useTexts()
  const draft = useFormDraft(props.draft, start)
  const { form, submit, sending, problem } = useRecordForm(draft.initial, nested, draft.keep)
  const opening = useOpening()
  function startAnew() {
    form.setValues(start)
    draft.discard()
  }
  async function onSubmit(event: React.FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // A dialog may be inside another form.
    event.stopPropagation()
    // The keys of `requestSubmit` do not wait for the disabled button.
    if (sending) return
    const unread = unreadIn(event.currentTarget)
    if (unread) return unread.focus()
    const wrong = check?.(form.getValues()) ?? {}
    const shown = event.currentTarget
    if (Object.keys(wrong).length > 0) {
      // At once, so that the invalid field can get the focus.
      flushSync(() => form.setErrors(wrong))
      return focusWrong(shown)
    }
    // Otherwise an opening during the request would restore what is already on its way.
    draft.discard()
    const sent = await submit(async (values) => {
      const made = await send(values)
      const { over } = opening
      if (!over) onClose()
      onSent?.(made, over)
    })
    if (!sent) draft.keepRefused(form.getValues(), opening.over)
    if (!sent) focusWrong(shown)
  }
  return (
    <form
      ref={focusFirst}
      noValidate
      onSubmit={onSubmit}
      // From a text of several lines, too.
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      <div className="form-fields">{children(form)}</div>
      {problem ? <ProblemNote error={problem} /> : null}
      <Group justify="flex-end" mt="xs" className="form-end">
        {draft.restored && <DraftNote onDiscard={startAnew} />}
        <Button
          variant="default"
          onClick={() => {
            draft.discard()
            onClose()
          }}
        >
          {t.app.cancel}
        </Button>
        <Button type="submit" loading={sending} color={color}>
          {action}
        </Button>
      </Group>
    </form>
  )
}
