import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { inWords } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { useEnter } from './enter.ts'
import { guessDefaults } from './guesses.ts'
import { CurrencyInput, EmailInput, LanguageInput, NameInput, NewPassword, ZoneInput } from './inputs.tsx'
import { refusesToken, useLinkToken } from './link-token.ts'
import { DeadEnd, OpenForm, OpenPage } from './open-page.tsx'

/** Creates the first account and its workspace, by the link from the terminal. */
export function SetupPage() {
  const t = useTexts()
  const token = useLinkToken()
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/setup', { signal })),
  })
  if (setup.data && !setup.data.needed)
    return <DeadEnd title={t.people.setup_done} text={t.people.setup_done_text} />
  if (!token) return <OpenPage title={t.people.setup_needed} text={t.people.setup_needed_text} />
  return <Setup token={token} />
}

function Setup({ token }: { token: string }) {
  const t = useTexts()
  const enter = useEnter()
  const [guessed] = useState(guessDefaults)
  return (
    <OpenPage title={t.people.setup_title} text={t.people.setup_text}>
      <OpenForm
        action={t.people.setup_action}
        start={{ name: '', email: '', password: '', workspace_name: '', ...guessed }}
        send={async (values) => {
          const body = { ...values, token }
          enter(await inWords(dataOf(api.POST('/api/v1/setup', { body })), t.people.setup_done_text))
        }}
        messageOf={(problem) => refusesToken(problem) && t.people.setup_over}
      >
        {({ getInputProps }) => (
          <>
            <NameInput autoFocus {...getInputProps('name')} />
            <EmailInput {...getInputProps('email')} />
            <NewPassword {...getInputProps('password')} />
            <TextInput
              label={t.people.workspace_name}
              description={t.people.workspace_name_text}
              name="organization"
              autoComplete="organization"
              {...getInputProps('workspace_name')}
            />
            <ZoneInput {...getInputProps('time_zone')} />
            <LanguageInput {...getInputProps('language')} />
            <CurrencyInput {...getInputProps('currency')} />
          </>
        )}
      </OpenForm>
    </OpenPage>
  )
}
