import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api } from '../api/client.ts'
import { inWords } from '../app/problems.tsx'
import { useSession } from '../app/session.ts'
import { Password } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { Section } from './section.tsx'

/** Deletes the person's own account after asking for the password. */
export function DeleteAccount() {
  const t = useTexts()
  const client = useQueryClient()
  const { user } = useSession()
  const [asking, setAsking] = useState(false)
  return (
    <Section title={t.settings.delete_account}>
      <Text size="sm" mb="sm">
        {t.settings.delete_account_text}
      </Text>
      <Button variant="default" c="red" onClick={() => setAsking(true)}>
        {t.settings.delete_account}
      </Button>
      <FormDialog
        title={t.settings.delete_account_title}
        opened={asking}
        onClose={() => setAsking(false)}
        action={t.settings.delete_account}
        color="red"
        start={{ current_password: '' }}
        send={(body) =>
          inWords(answerOf(api.POST('/api/v1/profile/delete', { body })), t.settings.only_owner)
        }
        onSent={() => {
          client.clear()
          window.location.assign('/sign-in')
        }}
      >
        {({ getInputProps }) => (
          <>
            <Text size="sm">{t.settings.delete_account_warning}</Text>
            {/* Shows password managers whose password it is. */}
            <input type="text" name="username" autoComplete="username" value={user.email} readOnly hidden />
            <Password
              label={t.settings.current_password}
              autoComplete="current-password"
              data-autofocus
              {...getInputProps('current_password')}
            />
          </>
        )}
      </FormDialog>
    </Section>
  )
}
