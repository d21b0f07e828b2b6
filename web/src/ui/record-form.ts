import { useForm } from '@mantine/form'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { Problem } from '../api/client.ts'
import { fieldMessage } from '../app/explain.ts'
import { useTexts } from '../texts/texts.ts'

export type FormValues = Record<string, unknown>

/**
 * The state of a form. Errors of the service are shown at the field with the same name as in the API. Other
 * errors are in `problem`. `nested`: the fields whose parts, such as `headers.X-Tenant`, show own errors.
 */
export function useRecordForm<Values extends FormValues>(
  initial: Values,
  nested: readonly string[] = [],
  onChange: (values: Values) => void = () => {},
) {
  const t = useTexts()
  const form = useForm<Values>({ initialValues: initial, mode: 'controlled', onValuesChange: onChange })
  const [problem, setProblem] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  async function submit(send: (values: Values) => Promise<unknown>): Promise<boolean> {
    setProblem(null)
    setSending(true)
    form.clearErrors()
    try {
      await send(form.getValues())
    } catch (error) {
      const fields = error instanceof Problem ? error.fields : []
      const isNested = (field: string) => nested.some((name) => field.startsWith(`${name}.`))
      const mine = fields.filter(
        ({ field }) => field in initial || isCustom(field, initial) || isNested(field),
      )
      // At once, so that an invalid field can get the focus.
      flushSync(() => {
        form.setErrors(Object.fromEntries(mine.map((one) => [one.field, fieldMessage(one, t)])))
        if (mine.length < fields.length || mine.length === 0) setProblem(error)
        setSending(false)
      })
      return false
    }
    setSending(false)
    return true
  }
  return { form, submit, sending, problem }
}

/** Whether a problem is that of a custom field of the form. */
function isCustom(field: string, { custom_fields }: FormValues): boolean {
  const key = /^custom_fields\.(.+)$/s.exec(field)?.[1]
  return key !== undefined && Object.hasOwn((custom_fields as object | undefined) ?? {}, key)
}
