import { api, dataOf, Problem } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { useRecordForm } from '../ui/form.tsx'
import { useEnter } from './enter.ts'
import { Password } from './inputs.tsx'
import { useLinkToken } from './link-token.ts'
import { OpenForm, OpenPage } from './open-page.tsx'

/** Sets a new password by a reset link. */
export function ResetPage() {
  const t = useTexts()
  const token = useLinkToken()
  const enter = useEnter()
  const { form, submit, sending, problem } = useRecordForm({ password: '' })
  if (token === null) return <OpenPage title={t.people.link_over} text={t.people.link_incomplete} />
  const over = problem instanceof Problem && problem.fields.some(({ field }) => field === 'token')
  return (
    <OpenPage title={t.people.reset_title} text={t.people.reset_text}>
      <OpenForm
        action={t.people.reset_action}
        sending={sending}
        problem={problem}
        message={over ? t.people.reset_over : null}
        onSubmit={() =>
          submit(async ({ password }) => {
            const body = { token, password }
            enter(await dataOf(api.POST('/api/v1/password-reset', { body })))
          })
        }
      >
        <Password
          label={t.people.new_password}
          description={t.people.password_rule}
          name="password"
          autoComplete="new-password"
          autoFocus
          {...form.getInputProps('password')}
        />
      </OpenForm>
    </OpenPage>
  )
}
