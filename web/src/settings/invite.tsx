import { Select, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { useSession } from '../app/session.ts'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { type Role, roles } from './roles.ts'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

/** Invites a person. The link is shown once, to be passed on by any means; with a mail server, it is mailed, too. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const { role: own_role } = useSession()
  const { data: setup } = useQuery({
    queryKey: ['setup'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/setup', { signal })),
    enabled: opened,
  })
  const [link, setLink] = useState<{ email: string; url: string } | null>(null)
  return (
    <>
      <FormDialog
        draft="invite"
        title={t.settings.invite}
        opened={opened}
        onClose={onClose}
        action={t.settings.create_invitation}
        start={{ email: '', role: 'member' as Role }}
        send={(body) => dataOf(api.POST('/api/v1/invitations', { body }))}
        onSent={({ email, url_path, url = window.location.origin + url_path }) => {
          client.invalidateQueries({ queryKey: ['members'] })
          setLink({ email, url })
        }}
      >
        {({ values, getInputProps }) => (
          <>
            <TextInput
              label={t.fields.email}
              type="email"
              autoComplete="off"
              data-autofocus
              {...getInputProps('email')}
            />
            <Select
              label={t.fields.role}
              description={t.settings.role_texts[values.role]}
              data={roles
                .filter((role) => role !== 'owner' || own_role === 'owner')
                .map((role) => ({ value: role, label: t.people.roles[role] }))}
              {...getInputProps('role')}
            />
          </>
        )}
      </FormDialog>
      <ShownOnceDialog
        opened={link !== null}
        onClose={() => setLink(null)}
        title={t.settings.invitation_title}
        text={t.settings.invitation_text({ email: link?.email ?? '', mail: setup?.mail === true })}
        value={link?.url ?? ''}
        copy={t.settings.copy_link}
      />
    </>
  )
}
