import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useSession } from '../app/session.ts'
import { Password } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { useRecordForm } from '../ui/record-form.ts'
import { showMessage } from '../ui/undo.tsx'

/** Changes the person's password. All other sessions end. */
export function PasswordForm() {
  const t = useTexts()
  const client = useQueryClient()
  const { user } = useSession()
  const { form, submit, sending, problem } = useRecordForm({ current_password: '', new_password: '' })
  async function save() {
    const saved = await submit((body) => dataOf(api.POST('/api/v1/profile/password', { body })))
    if (!saved) return
    form.reset()
    client.invalidateQueries({ queryKey: ['sessions'] })
    showMessage(t.settings.password_changed)
  }
  return (
    <form
      noValidate
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      {/* Shows password managers whose password it is. */}
      <input type="text" name="username" autoComplete="username" value={user.email} readOnly hidden />
      <Password
        label={t.settings.current_password}
        autoComplete="current-password"
        {...form.getInputProps('current_password')}
      />
      <Password
        label={t.people.new_password}
        description={t.people.password_rule}
        autoComplete="new-password"
        {...form.getInputProps('new_password')}
      />
      {problem ? <ProblemNote error={problem} /> : null}
      <Button type="submit" variant="default" w="fit-content" loading={sending}>
        {t.settings.change_password}
      </Button>
    </form>
  )
}
