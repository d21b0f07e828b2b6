import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { answerOf, api, dataOf } from '../api/client.ts'
import { sessionQuery } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { useAddress } from '../ui/list-view.ts'
import { safePath, useEnter } from './enter.ts'
import { EmailInput, Password } from './inputs.tsx'
import { OpenForm, OpenPage } from './open-page.tsx'

/** The sign-in page. Returns to the page from which the person came. */
export function SignInPage() {
  const t = useTexts()
  const { address } = useAddress()
  const router = useRouter()
  const enter = useEnter()
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/setup', { signal })),
  })
  const { data: session } = useQuery(sessionQuery)
  useEffect(() => {
    if (session) router.history.replace(safePath(address.to))
  }, [session, router, address.to])

  if (setup.data?.needed) return <OpenPage title={t.people.setup_needed} text={t.people.setup_needed_text} />
  return (
    <OpenPage title={t.people.sign_in} text={address.ended && t.people.session_ended}>
      <OpenForm
        action={t.people.sign_in}
        start={{ email: '', password: '' }}
        send={async (body) => enter(await dataOf(api.POST('/api/v1/session', { body })), address.to)}
        messageOf={({ status }) => status === 401 && t.people.wrong}
      >
        {({ getInputProps }) => (
          <>
            <EmailInput autoFocus {...getInputProps('email')} />
            <Password
              label={t.people.password}
              name="password"
              autoComplete="current-password"
              {...getInputProps('password')}
            />
          </>
        )}
      </OpenForm>
      {setup.data?.mail ? <Forgotten /> : <p className="open-text">{t.people.forgotten}</p>}
    </OpenPage>
  )
}

/** Asks for a mail with a link. The answer is the same for each address. */
function Forgotten() {
  const t = useTexts()
  const [state, setState] = useState<'closed' | 'open' | 'sent'>('closed')
  if (state === 'sent')
    return (
      <p className="open-text" role="status">
        {t.people.link_sent}
      </p>
    )
  if (state === 'closed')
    return (
      <p className="open-text">
        <Button variant="subtle" onClick={() => setState('open')}>
          {t.people.forgot}
        </Button>
      </p>
    )
  return (
    <OpenForm
      action={t.people.send_link}
      start={{ email: '' }}
      send={async (body) => {
        await answerOf(api.POST('/api/v1/password-reset/request', { body }))
        setState('sent')
      }}
    >
      {({ getInputProps }) => <EmailInput autoFocus {...getInputProps('email')} />}
    </OpenForm>
  )
}
