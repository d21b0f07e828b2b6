import { api, dataOf } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { useEnter } from './enter.ts'
import { NewPassword } from './inputs.tsx'
import { refusesToken, useLinkToken } from './link-token.ts'
import { DeadEnd, OpenForm, OpenPage } from './open-page.tsx'

/** Sets a new password by a reset link. */
export function ResetPage() {
  const t = useTexts()
  const token = useLinkToken()
  const enter = useEnter()
  if (token === null) return <DeadEnd title={t.people.link_over} text={t.people.link_incomplete} />
  return (
    <OpenPage title={t.people.reset_title} text={t.people.reset_text}>
      <OpenForm
        action={t.people.reset_action}
        start={{ password: '' }}
        send={async ({ password }) => {
          const body = { token, password }
          enter(await dataOf(api.POST('/api/v1/password-reset', { body })))
        }}
        messageOf={(problem) => refusesToken(problem) && t.people.reset_over}
      >
        {({ getInputProps }) => (
          <NewPassword label={t.people.new_password} autoFocus {...getInputProps('password')} />
        )}
      </OpenForm>
    </OpenPage>
  )
}
