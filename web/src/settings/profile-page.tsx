import { Button, SegmentedControl, TextInput, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { browser_zone } from '../app/formats.ts'
import { sessionQuery, useSession } from '../app/session.ts'
import { BusyCalendars } from '../mail/busy-calendars.tsx'
import { CalendarFeeds } from '../mail/calendar-feeds.tsx'
import { MailPreferences } from '../mail/mail-preferences.tsx'
import { LanguageInput, Password, ZoneInput } from '../people/inputs.tsx'
import { type Language, useLanguage, useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { showMessage } from '../ui/undo.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { PasswordForm } from './password-form.tsx'
import { SavedForm } from './saved-form.tsx'
import { Section } from './section.tsx'
import { Sessions } from './sessions.tsx'
import { SettingsFrame } from './settings-frame.tsx'

/** The person's account: name, e-mail, language, zone, appearance, password and sessions. */
export function ProfilePage() {
  const t = useTexts()
  return (
    <SettingsFrame title={t.app.profile} api={{ path: '/session' }}>
      <Facts />
      <Appearance />
      <MailPreferences />
      <CalendarFeeds />
      <BusyCalendars />
      <Section title={t.settings.change_password}>
        <PasswordForm />
      </Section>
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
  const saved = {
    name: user.name,
    language: (user.language ?? shown) as Language,
    time_zone: user.time_zone ?? browser_zone,
  }
  return (
    <>
      <SavedForm
        className="settings-section"
        saved={saved}
        send={async (body) => keep(await dataOf(api.PUT('/api/v1/profile', { body })))}
      >
        {({ getInputProps }) => (
          <div className="settings-form">
            <TextInput label={t.people.name} autoComplete="name" {...getInputProps('name')} />
            <div className="settings-beside">
              <TextInput label={t.fields.email} value={user.email} readOnly />
              <Button variant="default" size="sm" onClick={() => setMoving(true)}>
                {t.settings.change_email}
              </Button>
            </div>
            <LanguageInput {...getInputProps('language')} />
            <ZoneInput {...getInputProps('time_zone')} />
          </div>
        )}
      </SavedForm>
      <ChangeEmail opened={moving} onClose={() => setMoving(false)} />
    </>
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
    <Section title={t.app.appearance}>
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
    </Section>
  )
}
