import { Button, SegmentedControl, TextInput, Title, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { browser_zone } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { sessionQuery, useSession } from '../app/session.ts'
import { LanguageInput, Password, ZoneInput } from '../people/inputs.tsx'
import { type Language, useLanguage, useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { showMessage } from '../ui/undo.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { PasswordForm } from './password-form.tsx'
import { useSavedForm } from './saved-form.ts'
import { Sessions } from './sessions.tsx'
import { SettingsFrame } from './settings-frame.tsx'

/** The person's account: name, e-mail, language, zone, appearance, password and sessions. */
export function ProfilePage() {
  const t = useTexts()
  return (
    <SettingsFrame title={t.app.profile} api={{ path: '/session' }}>
      <Facts />
      <Appearance />
      <section className="settings-section">
        <Title order={2} mb="xs">
          {t.settings.change_password}
        </Title>
        <PasswordForm />
      </section>
      <Sessions />
      <DeleteAccount />
    </SettingsFrame>
  )
}

function useKeepProfile() {
  const client = useQueryClient()
  return (user: Schemas['Profile']) =>
    client.setQueryData(sessionQuery.queryKey, (before) => before && { ...before, user })
}

function Facts() {
  const t = useTexts()
  const keep = useKeepProfile()
  const { user } = useSession()
  const shown = useLanguage()
  const [moving, setMoving] = useState(false)
  const { form, save, changed, sending, problem } = useSavedForm({
    name: user.name,
    language: (user.language ?? shown) as Language,
    time_zone: user.time_zone ?? browser_zone,
  })
  async function send() {
    const saved = await save(async (body) => keep(await dataOf(api.PUT('/api/v1/profile', { body }))))
    if (saved) showMessage(t.app.saved)
  }
  return (
    <form
      noValidate
      className="settings-section"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className="settings-form">
        <TextInput label={t.people.name} autoComplete="name" {...form.getInputProps('name')} />
        <div className="settings-beside">
          <TextInput label={t.people.email} value={user.email} readOnly />
          <Button variant="default" size="sm" onClick={() => setMoving(true)}>
            {t.settings.change_email}
          </Button>
        </div>
        <LanguageInput {...form.getInputProps('language')} />
        <ZoneInput {...form.getInputProps('time_zone')} />
        {problem ? <ProblemNote error={problem} /> : null}
        <Button type="submit" w="fit-content" loading={sending} disabled={!changed}>
          {t.app.save}
        </Button>
      </div>
      <ChangeEmail opened={moving} onClose={() => setMoving(false)} />
    </form>
  )
}

function ChangeEmail({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const keep = useKeepProfile()
  return (
    <FormDialog
      title={t.settings.change_email}
      opened={opened}
      onClose={onClose}
      action={t.settings.change_email}
      start={{ email: '', current_password: '' }}
      send={(body) => dataOf(api.PUT('/api/v1/profile', { body }))}
      onSent={(user) => {
        keep(user)
        showMessage(t.app.saved)
      }}
    >
      {({ getInputProps }) => (
        <>
          <TextInput
            label={t.settings.new_email}
            type="email"
            autoComplete="email"
            data-autofocus
            {...getInputProps('email')}
          />
          <Password
            label={t.settings.current_password}
            autoComplete="current-password"
            {...getInputProps('current_password')}
          />
        </>
      )}
    </FormDialog>
  )
}

function Appearance() {
  const t = useTexts()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <section className="settings-section">
      <Title order={2} mb="xs">
        {t.app.appearance}
      </Title>
      <SegmentedControl
        aria-label={t.app.appearance}
        size="xs"
        data={[
          { value: 'auto', label: t.app.system },
          { value: 'light', label: t.app.light },
          { value: 'dark', label: t.app.dark },
        ]}
        value={colorScheme}
        onChange={(scheme) => setColorScheme(scheme as 'light' | 'dark' | 'auto')}
      />
    </section>
  )
}
