import { Stack, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { showProblem } from '../app/problems.tsx'
import { Section } from '../settings/section.tsx'
import { useTexts } from '../texts/with-mail.ts'
import { Check } from '../ui/check.tsx'

type Preferences = Schemas['MailPreferences']
type Name = Exclude<keyof Preferences, 'daily_digest_at'>

/** Which mails the person gets. Each switch is saved at once. */
export function MailPreferences() {
  const t = useTexts()
  const client = useQueryClient()
  const queryKey = ['profile']
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/profile', { signal })),
  })
  if (!data) return null
  const preferences = data.mail_preferences
  async function change(mail_preferences: Partial<Preferences>) {
    try {
      const body = { mail_preferences }
      client.setQueryData(queryKey, await dataOf(api.PUT('/api/v1/profile', { body })))
    } catch (error) {
      showProblem(error, t)
    }
  }
  return (
    <Section title={t.mail.preferences}>
      <p className="settings-hint hint">{t.mail.preferences_text}</p>
      <Stack gap="xs">
        {(Object.keys(t.mail.switches) as Name[]).map((name) => (
          <Check
            key={name}
            label={t.mail.switches[name]}
            checked={preferences[name]}
            onChange={({ currentTarget }) => change({ [name]: currentTarget.checked })}
          />
        ))}
        {preferences.daily_digest && (
          <TextInput
            type="time"
            w="12rem"
            label={t.mail.digest_at}
            key={preferences.daily_digest_at}
            defaultValue={preferences.daily_digest_at}
            onBlur={({ currentTarget }) => {
              // There is always one: a part of a time is none.
              currentTarget.value ||= preferences.daily_digest_at
              const { value } = currentTarget
              if (value !== preferences.daily_digest_at) change({ daily_digest_at: value })
            }}
          />
        )}
      </Stack>
    </Section>
  )
}
