import { ActionIcon, Button } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, dataOf } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { later } from '../app/contained.tsx'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { type Definition, definitionsQuery } from '../record/fields/definitions.ts'
import { type OwnedKind, useOwnedKinds } from '../record/kinds.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Empty } from '../ui/empty.tsx'
import { focusBeside } from '../ui/focus.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useAddress } from '../ui/list-view.ts'
import { oneClick } from '../ui/one-press.ts'
import { offerUndo } from '../ui/undo.tsx'
import { Badge } from '../ui/values.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import './fields-page.css'

const FieldDialog = later(async () => (await import('./field-dialog.tsx')).FieldDialog)

/** The custom fields of each kind of record: create, rename, order, delete. */
export function FieldsPage() {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('workspace:write')
  const { address, change } = useAddress()
  const owned = useOwnedKinds()
  const resource = owned.find((one) => one === address.kind) ?? 'contacts'
  const { data: fields, error, refetch } = useQuery(definitionsQuery(resource))
  const [asked, setAsked] = useState<Definition | 'new' | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['custom_fields'] })
  const { said, move } = useMoves(resource, refresh)
  const create = () => setAsked('new')
  useCommands(
    [{ id: 'create-field', label: t.definitions.create, group: 'create', keys: 'c', run: create }],
    writes,
  )
  async function remove(field: Definition) {
    const { id, created_at, updated_at, options, ...rest } = field
    const body = { ...rest, ...(field.type === 'select' && { options }) }
    const again = () =>
      dataOf(api.POST('/api/v1/custom-fields', { params: { query: { force: 'true' } }, body })).then(refresh)
    try {
      await answerOf(api.DELETE('/api/v1/custom-fields/{id}', { params: { path: { id } } }))
      offerUndo(t, t.definitions.deleted({ label: field.label }), again)
    } catch (problem) {
      showProblem(problem, t)
    }
    await refresh()
  }
  return (
    <SettingsFrame
      title={t.settings.pages.fields.label}
      count={fields?.length}
      middle={
        <Select
          size="xs"
          w={170}
          aria-label={t.definitions.kind}
          data={owned.map((value) => ({ value, label: t.kinds[value].many }))}
          value={resource}
          allowDeselect={false}
          onChange={(kind) => change({ kind }, true)}
        />
      }
      actions={writes && <Button onClick={create}>{t.definitions.create}</Button>}
      api={{
        method: 'POST',
        path: '/custom-fields',
        body: { resource, key: 'customer_no', type: 'text', unique: true },
      }}
    >
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {fields?.length === 0 && (
        <Empty
          text={t.definitions.none}
          {...(writes && { action: t.definitions.create, onAction: create })}
        />
      )}
      <ol className="definitions" aria-label={t.settings.pages.fields.label}>
        {fields?.map((field, at) => (
          <li key={field.id} ref={focusBeside} className="settings-row">
            <span>
              {field.label} {field.label !== field.key && <code className="soft">{field.key}</code>}
            </span>
            <About field={field} />
            {writes && (
              <Actions
                label={field.label}
                is_first={at === 0}
                is_last={at === fields.length - 1}
                onMove={(by) => move(fields, at, by)}
                onEdit={() => setAsked(field)}
                onDelete={() => remove(field)}
              />
            )}
          </li>
        ))}
      </ol>
      <span role="status" className="unseen">
        {said}
      </span>
      {asked && (
        <FieldDialog
          resource={resource}
          field={asked === 'new' ? undefined : asked}
          onClose={() => setAsked(null)}
          onSaved={refresh}
        />
      )}
    </SettingsFrame>
  )
}

/** Moves definitions. The list shows the new order at once; `said` tells it. */
function useMoves(resource: OwnedKind, refresh: () => Promise<unknown>) {
  const t = useTexts()
  const client = useQueryClient()
  const [said, setSaid] = useState('')
  async function move(fields: readonly Definition[], from: number, by: number) {
    const moved = fields[from]
    const to = from + by
    if (!moved || to < 0 || to >= fields.length) return
    const order = fields.toSpliced(from, 1).toSpliced(to, 0, moved)
    const { queryKey } = definitionsQuery(resource)
    await client.cancelQueries({ queryKey })
    client.setQueryData(
      queryKey,
      order.map((field, position) => ({ ...field, position })),
    )
    setSaid(t.definitions.moved({ label: moved.label, place: to + 1, count: order.length }))
    try {
      for (const [position, { id, position: before }] of order.entries()) {
        if (position === before) continue
        const params = { path: { id } }
        await dataOf(api.PUT('/api/v1/custom-fields/{id}', { params, body: { position } }))
      }
    } catch (problem) {
      showProblem(problem, t)
    }
    await refresh()
  }
  return { said, move }
}

function About({ field: { type, options, required, unique } }: { field: Definition }) {
  const t = useTexts()
  return (
    <span className="definition-about">
      <span className="soft" title={options.join(', ') || undefined}>
        {t.definitions.types[type]}
      </span>
      {required && <Badge>{t.definitions.required}</Badge>}
      {unique && <Badge>{t.definitions.unique}</Badge>}
    </span>
  )
}

type ActionsProps = {
  label: string
  is_first: boolean
  is_last: boolean
  onMove: (by: 1 | -1) => void
  onEdit: () => void
  onDelete: () => void
}

function Actions({ label, is_first, is_last, onMove, onEdit, onDelete }: ActionsProps) {
  const t = useTexts()
  const actions = [
    [t.definitions.move_up({ label }), ArrowUpIcon, () => onMove(-1), is_first],
    [t.definitions.move_down({ label }), ArrowDownIcon, () => onMove(1), is_last],
    [t.definitions.edit({ label }), PencilIcon, onEdit, false],
    [t.definitions.delete({ label }), TrashIcon, oneClick(onDelete), false],
  ] as const
  return (
    <span className="definition-actions">
      {actions.map(([name, ActionSign, onClick, is_off]) => (
        // It keeps the focus when the field has reached its end.
        <ActionIcon
          key={name}
          aria-label={name}
          title={name}
          aria-disabled={is_off || undefined}
          data-disabled={is_off || undefined}
          onClick={onClick}
        >
          <ActionSign size={14} />
        </ActionIcon>
      ))}
    </span>
  )
}
