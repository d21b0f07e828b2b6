import { Select, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { useSession } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { type Role, roles } from './roles.ts'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

/** Invites somebody: the link is shown once, to be handed over by whatever way. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const { role: own_role } = useSession()
  const [link, setLink] = useState<{ email: string; url: string } | null>(null)
  const { form, submit, sending, problem } = useRecordForm({ email: '', role: 'member' as Role })
  const invite = () =>
    submit(async (body) => {
      const { email, url_path } = await dataOf(api.POST('/api/v1/invitations', { body }))
      client.invalidateQueries({ queryKey: ['members'] })
      onClose()
      form.reset()
      setLink({ email, url: window.location.origin + url_path })
    })
  return (
    <>
      <FormDialog
        title={t.settings.invite}
        opened={opened}
        onClose={onClose}
        action={t.settings.create_invitation}
        sending={sending}
        problem={problem}
        onSubmit={invite}
      >
        <Stack gap="md">
          <TextInput
            label={t.people.email}
            type="email"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('email')}
          />
          <Select
            label={t.settings.role}
            description={t.settings.role_texts[form.getValues().role]}
            data={roles
              .filter((role) => role !== 'owner' || own_role === 'owner')
              .map((role) => ({ value: role, label: t.people.roles[role] }))}
            allowDeselect={false}
            {...form.getInputProps('role')}
          />
        </Stack>
      </FormDialog>
      <ShownOnceDialog
        opened={link !== null}
        onClose={() => setLink(null)}
        title={t.settings.invitation_title}
        text={t.settings.invitation_text(link?.email ?? '')}
        value={link?.url ?? ''}
        copy={t.settings.copy_link}
      />
    </>
  )
}
