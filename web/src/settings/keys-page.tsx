import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { whoOf } from '../record/fields/changes.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { useCreating } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { KeyStatus } from '../webhooks/statuses.tsx'
import { Ask } from './ask.tsx'
import { scopeNames } from './scopes.ts'
import { SettingsList } from './settings-list.tsx'

const CreateKey = laterDialog(async () => (await import('./create-key.tsx')).CreateKey)

type Key = Schemas['ApiKey']

/** The API keys of the workspace: create, view, revoke. */
export function KeysPage() {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('keys:write')
  const [creating, setCreating] = useCreating()
  const [revoking, setRevoking] = useState<Key | null>(null)
  return (
    <SettingsList
      name="keys"
      title={t.settings.pages.keys.label}
      read={(query, signal) => answerOf(api.GET('/api/v1/keys', { params: { query }, signal }))}
      columns={useColumns(writes ? setRevoking : null)}
      nameOf={({ name }) => name}
      empty={t.settings.no_keys}
      create_label={t.settings.create_key}
      onCreate={writes ? () => setCreating(true) : undefined}
      api={{
        method: 'POST',
        path: '/keys',
        body: { name: 'Website form', scopes: ['contacts:read', 'contacts:write'] },
      }}
    >
      <CreateKey opened={creating} onClose={() => setCreating(false)} />
      <Ask
        title={t.settings.revoke_title({ name: revoking?.name ?? '' })}
        text={t.settings.revoke_text}
        action={t.settings.revoke}
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        onDo={async () => {
          const params = { path: { key_id: revoking?.id ?? '' } }
          await dataOf(api.POST('/api/v1/keys/{key_id}/revoke', { params, body: {} }))
          await client.invalidateQueries({ queryKey: ['keys'] })
        }}
      />
    </SettingsList>
  )
}

function useColumns(onRevoke: ((key: Key) => void) | null): Column<Key>[] {
  const t = useTexts()
  const formats = useFormats()
  return [
    { id: 'name', label: t.fields.name, cell: ({ name }) => name },
    {
      id: 'scopes',
      label: t.settings.scopes,
      cell: ({ scopes }) => {
        const names = scopes ? scopeNames(scopes, t) : [t.settings.everything]
        return <span title={names.join(', ')}>{names.join(', ')}</span>
      },
    },
    {
      id: 'made_by',
      label: t.settings.made_by,
      cell: ({ made_by }) => (made_by ? whoOf(made_by, t) : t.record.actors.command_line),
    },
    {
      id: 'created_at',
      label: t.fields.created_at,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
    {
      id: 'last_used_at',
      label: t.settings.last_used,
      cell: ({ last_used_at }) => <Ago at={last_used_at} />,
    },
    {
      id: 'expires_at',
      label: t.fields.expires_at,
      cell: ({ expires_at }) => expires_at && formats.day(expires_at),
    },
    { id: 'status', label: t.fields.status, phone: true, cell: (key) => <KeyStatus {...key} /> },
    ...(onRevoke
      ? [
          {
            id: 'revoke',
            label: t.app.actions,
            phone: true,
            number: true,
            cell: (key: Key) =>
              !key.revoked_at && (
                <Button
                  variant="subtle"
                  color="red"
                  aria-label={t.settings.revoke_key({ name: key.name })}
                  onClick={() => onRevoke(key)}
                >
                  {t.settings.revoke}
                </Button>
              ),
          },
        ]
      : []),
  ]
}
