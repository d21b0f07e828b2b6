import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, Problem } from '../api/client.ts'
import { Waiting } from '../app/fallback-pages.tsx'
import { inWords, ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { useEnter } from './enter.ts'
import { guessDefaults } from './guesses.ts'
import { EmailInput, LanguageInput, NameInput, Password, ZoneInput } from './inputs.tsx'
import { refusesToken, useLinkToken } from './link-token.ts'
import { DeadEnd, OpenForm, OpenNote, OpenPage } from './open-page.tsx'
import { waitText } from './wait-text.ts'

const lookUp = (token: string, signal: AbortSignal) =>
  dataOf(api.POST('/api/v1/invitations/look-up', { body: { token }, signal }))
type Invited = Awaited<ReturnType<typeof lookUp>>

/** Accepts an invitation, with a new account or the account of the e-mail. */
export function InvitationPage() {
  const t = useTexts()
  const token = useLinkToken()
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => lookUp(token ?? '', signal),
    enabled: token !== null,
    retry: false,
    // Read once: a failed refetch must not remove the form with its text.
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (token === null) return <DeadEnd title={t.people.link_over} text={t.people.link_incomplete} />
  if (error instanceof Problem && refusesToken(error))
    return <DeadEnd title={t.people.link_over} text={t.people.invitation_over} />
  if (error)
    return (
      <OpenPage title={t.people.invitation_action}>
        {error instanceof Problem && error.status === 429 ? (
          <OpenNote text={waitText(error.retry_after_s, t)} />
        ) : (
          <ProblemNote error={error} onRetry={() => refetch()} />
        )}
      </OpenPage>
    )
  if (!data) return <Waiting />
  return <Invitation key={token} token={token} invited={data} />
}

function Invitation({ token, invited }: { token: string; invited: Invited }) {
  const t = useTexts()
  const enter = useEnter()
  const [{ time_zone, language }] = useState(guessDefaults)
  const { workspace_name, email, role, has_account } = invited
  // The account of this e-mail may belong to another person.
  const [own, setOwn] = useState(!has_account)
  return (
    <OpenPage
      title={t.people.invitation_title({ workspace: workspace_name })}
      text={t.people.invitation_text({ role: t.people.roles[role], has_account: !own })}
    >
      <OpenForm
        action={t.people.invitation_action}
        start={{ name: '', password: '', time_zone, language }}
        send={async ({ password, ...rest }) => {
          const body = own ? { token, password, new_account: true, ...rest } : { token, password }
          const accepting = dataOf(api.POST('/api/v1/invitations/accept', { body }))
          enter(await inWords(accepting, t.people.member_already))
        }}
        messageOf={(problem) => refusesToken(problem) && t.people.invitation_over}
      >
        {({ getInputProps }) => (
          <>
            <EmailInput value={email} readOnly />
            {own && <NameInput autoFocus {...getInputProps('name')} />}
            <Password
              label={t.people.password}
              description={own ? t.people.password_rule : undefined}
              name="password"
              autoFocus={!own}
              autoComplete={own ? 'new-password' : 'current-password'}
              {...getInputProps('password')}
            />
            {own && (
              <>
                <ZoneInput {...getInputProps('time_zone')} />
                <LanguageInput {...getInputProps('language')} />
              </>
            )}
          </>
        )}
      </OpenForm>
      {has_account && (
        <Button variant="subtle" size="sm" mt="md" onClick={() => setOwn(!own)}>
          {own ? t.people.use_account : t.people.own_account}
        </Button>
      )}
    </OpenPage>
  )
}
