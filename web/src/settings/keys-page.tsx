import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { whoOf } from '../record/changes.tsx'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { useListView } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { Ask } from './ask.tsx'
import { CreateKey } from './create-key.tsx'
import { scopeNames } from './scopes.ts'
import { SettingsFrame } from './settings-frame.tsx'
import { KeyStatus } from './statuses.tsx'

type Key = Schemas['ApiKey']

/** The API keys of the workspace: create, view, revoke. */
export function KeysPage() {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('keys:write')
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const view = useListView()
  const query = { page: view.page, per_page: 50 }
  const page = useListPage(
    {
      queryKey: ['keys', 'list', query],
      queryFn: () => answerOf(api.GET('/api/v1/keys', { params: { query } })),
    },
    view,
  )
  useCommands(
    writes
      ? [
          {
            ...{ id: 'create-key', label: t.settings.create_key, group: 'create' as const, keys: 'c' },
            run: () => setCreating(true),
          },
        ]
      : [],
  )
  const create = writes ? () => setCreating(true) : undefined
  const columns = useColumns(writes ? setRevoking : null)
  return (
    <SettingsFrame
      title={t.settings.pages.keys.label}
      count={page.meta?.total}
      whole
      actions={create && <Button onClick={create}>{t.settings.create_key}</Button>}
      api={{
        ...{ method: 'POST', path: '/keys' },
        body: { name: 'Website form', scopes: ['contacts:read', 'contacts:write'] },
      }}
    >
      <div className="settings-table">
        <ListTable
          label={t.settings.pages.keys.label}
          columns={columns}
          page={page}
          nameOf={({ name }) => name}
          empty={
            <Empty
              text={t.settings.no_keys}
              {...(create && { action: t.settings.create_key, onAction: create })}
            />
          }
        />
      </div>
      <CreateKey opened={creating} onClose={() => setCreating(false)} />
      <Ask
        title={t.settings.revoke_title(revoking?.name ?? '')}
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
    </SettingsFrame>
  )
}

function useColumns(onRevoke: ((key: Key) => void) | null): Column<Key>[] {
  const t = useTexts()
  const language = useLanguage()
  const formats = useFormats()
  return [
    { id: 'name', label: t.settings.name, cell: ({ name }) => name },
    {
      ...{ id: 'scopes', label: t.settings.scopes },
      cell: ({ scopes }) => {
        const names = scopes ? scopeNames(scopes, t, language) : [t.settings.everything]
        return <span title={names.join(', ')}>{names.join(', ')}</span>
      },
    },
    {
      ...{ id: 'made_by', label: t.settings.made_by },
      cell: ({ made_by }) => (made_by ? whoOf(made_by, t) : t.record.actors.command_line),
    },
    { id: 'created_at', label: t.app.created_at, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: 'last_used_at',
      label: t.settings.last_used,
      cell: ({ last_used_at }) => <Ago at={last_used_at} />,
    },
    {
      ...{ id: 'expires_at', label: t.settings.expires },
      cell: ({ expires_at }) => expires_at && formats.day(expires_at),
    },
    { id: 'status', label: t.settings.status, phone: true, cell: (key) => <KeyStatus {...key} /> },
    ...(onRevoke
      ? [
          {
            ...{ id: 'revoke', label: t.app.actions, phone: true, number: true },
            cell: (key: Key) =>
              !key.revoked_at && (
                <Button
                  variant="subtle"
                  color="red"
                  aria-label={t.settings.revoke_key(key.name)}
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
