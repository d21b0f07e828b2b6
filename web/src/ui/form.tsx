import { Button, Group, Modal } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { Problem } from '../api/client.ts'
import { fieldMessage, ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'

/**
 * The values of a form and how they are sent: what the service refuses is shown at its field, by the field's name in the
 * API; what concerns no field of the form is told as `problem`. In a dialog that stays (`opened`), each opening begins anew,
 * with what is given then.
 */
export function useRecordForm<Values extends Record<string, unknown>>(initial: Values, opened = false) {
  const t = useTexts()
  const form = useForm<Values>({ initialValues: initial, mode: 'controlled' })
  const [problem, setProblem] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it begins with counts when it opens
  useEffect(() => {
    if (!opened) return
    form.setValues(initial)
    form.clearErrors()
    setProblem(null)
  }, [opened])
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

type DialogProps = {
  title: string
  opened: boolean
  onClose: () => void
  /** What the button says: a verb with its object. */
  action: string
  sending: boolean
  problem: unknown
  onSubmit: () => void
  size?: string
  color?: string
  children: React.ReactNode
}

/** A form in a dialog. The focus goes back to where it was when the dialog closes. */
export function FormDialog(props: DialogProps) {
  const { title, opened, onClose, action, sending, problem, onSubmit, size = 'md', color, children } = props
  const t = useTexts()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t.app.close }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        {children}
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
    </Modal>
  )
}
