import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Soft } from '../ui/values.tsx'
import { Ask } from './ask.tsx'
import { Section } from './section.tsx'

/** The pending invitations. */
export function Invitations({ writes }: { writes: boolean }) {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const [revoking, setRevoking] = useState<Schemas['Invitation'] | null>(null)
  const { data } = useQuery({
    queryKey: ['members', 'invitations'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/invitations', { signal, params: { query: { per_page: 100 } } })),
  })
  if (!data) return null
  return (
    <Section title={t.settings.open_invitations}>
      {!data.length && <Soft>{t.settings.no_invitations}</Soft>}
      <ul>
        {data.map((invitation) => (
          <li key={invitation.id} className="settings-row">
            <span>{invitation.email}</span>
            <span>{t.people.roles[invitation.role]}</span>
            <span className="soft">
              {t.settings.valid_until({ day: formats.day(invitation.expires_at) })}
            </span>
            {writes && (
              <Button
                variant="subtle"
                color="red"
                aria-label={t.settings.revoke_invitation({ email: invitation.email })}
                onClick={() => setRevoking(invitation)}
              >
                {t.settings.revoke}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Ask
        title={t.settings.revoke_invitation({ email: revoking?.email ?? '' })}
        text={t.settings.revoke_invitation_text}
        action={t.settings.revoke}
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        onDo={async () => {
          const params = { path: { invitation_id: revoking?.id ?? '' } }
          await answerOf(api.DELETE('/api/v1/invitations/{invitation_id}', { params }))
          await client.invalidateQueries({ queryKey: ['members'] })
        }}
      />
    </Section>
  )
}
