import { Button, Group, Modal } from '@mantine/core'
import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form'
import { useState } from 'react'
import { Problem } from '../api/client.ts'
import { fieldMessage, ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { focusFirst, focusWrong } from './focus.ts'
import { useOpening } from './opening.ts'
import { unreadIn } from './unread.ts'
import './form.css'

type FormValues = Record<string, unknown>

/**
 * The values of a form and how they are sent: what the service refuses is shown at its field, by the field's name in the
 * API; what concerns no field of the form is told as `problem`.
 */
export function useRecordForm<Values extends FormValues>(initial: Values) {
  const t = useTexts()
  const form = useForm<Values>({ initialValues: initial, mode: 'controlled' })
  const [problem, setProblem] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  async function submit(send: (values: Values) => Promise<unknown>): Promise<boolean> {
    setProblem(null)
    setSending(true)
    form.clearErrors()
    try {
      await send(form.getValues())
      return true
    } catch (error) {
      const fields = error instanceof Problem ? error.fields : []
      const mine = fields.filter(({ field }) => field in initial)
      form.setErrors(Object.fromEntries(mine.map((one) => [one.field, fieldMessage(one, t)])))
      if (mine.length < fields.length || mine.length === 0) setProblem(error)
      return false
    } finally {
      setSending(false)
    }
  }
  return { form, submit, sending, problem }
}

type FormProps<Values extends FormValues, Made> = {
  onClose: () => void
  /** What the button says: a verb with its object. */
  action: string
  color?: string
  /** What its fields hold whenever it opens. */
  start: Values
  /** What is wrong with some fields before anything is sent. */
  check?: (values: Values) => FormErrors
  /** Sends what is written. What is refused is said in the dialog; else it closes. */
  send: (values: Values) => Promise<Made>
  /** `over`: the dialog was closed before, and may be open anew for something else. */
  onSent?: (made: Made, over: boolean) => void
  children: (form: UseFormReturnType<Values>) => React.ReactNode
}
type DialogProps<Values extends FormValues, Made> = FormProps<Values, Made> & {
  title: string
  opened: boolean
  size?: string
}

/** A form in a dialog, which begins anew whenever it opens. The focus goes back to where it was when it closes. */
export function FormDialog<Values extends FormValues, Made>(props: DialogProps<Values, Made>) {
  const { title, opened, size = 'md', ...form } = props
  const t = useTexts()
  return (
    <Modal
      opened={opened}
      onClose={form.onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t.app.close }}
      // Its form has the focus from the moment that it is there.
      transitionProps={{ duration: 0 }}
      returnFocus={false}
    >
      <DialogForm {...form} />
    </Modal>
  )
}

function DialogForm<Values extends FormValues, Made>(props: FormProps<Values, Made>) {
  const { onClose, action, color, start, check, send, onSent, children } = props
  const t = useTexts()
  const { form, submit, sending, problem } = useRecordForm(start)
  const opening = useOpening()
  async function onSubmit(event: React.FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // A dialog may stand in another form.
    event.stopPropagation()
    const unread = unreadIn(event.currentTarget)
    if (unread) return unread.focus()
    const wrong = check?.(form.getValues()) ?? {}
    if (Object.keys(wrong).length > 0) return form.setErrors(wrong)
    const shown = event.currentTarget
    const sent = await submit(async (values) => {
      const made = await send(values)
      const { over } = opening
      if (!over) onClose()
      onSent?.(made, over)
    })
    if (!sent) focusWrong(shown)
  }
  return (
    <form ref={focusFirst} noValidate onSubmit={onSubmit}>
      <div className="form-fields">{children(form)}</div>
      {problem ? <ProblemNote error={problem} /> : null}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          {t.app.cancel}
        </Button>
        <Button type="submit" loading={sending} color={color}>
          {action}
        </Button>
      </Group>
    </form>
  )
}
