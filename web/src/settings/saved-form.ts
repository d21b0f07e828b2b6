import { useEffect } from 'react'
import { useRecordForm } from '../ui/form.tsx'
import { written } from '../ui/written.ts'

/**
 * A form on what is saved already. What somebody else saves meanwhile is shown, but for the fields that are written in; only
 * these are sent, so that nobody's change is taken back.
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
