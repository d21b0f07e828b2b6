import { useEffect } from 'react'
import { useRecordForm } from '../ui/form.tsx'
import { written } from '../ui/written.ts'

/**
 * A form on a saved record. Changes of other people show in untouched fields. Only edited fields are sent,
 * so that nobody's change is undone.
 */
export function useSavedForm<Values extends Record<string, unknown>>(saved: Values) {
  const { form, submit, sending, problem } = useRecordForm(saved)
  const changes = () => written(form.getValues(), form.getInitialValues())
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is written stays, whatever it is when others save
  useEffect(() => {
    const kept = changes()
    form.setInitialValues(saved)
    form.setValues({ ...saved, ...kept })
  }, [JSON.stringify(saved)])
  const save = (send: (changes: Partial<Values>) => Promise<unknown>) =>
    submit(async (values) => {
      await send(changes())
      form.setInitialValues(values)
    })
  return { form, save, changed: Object.keys(changes()).length > 0, sending, problem }
}
