import { useNavigate } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import { SettingsList } from '../settings/settings-list.tsx'
import { useTexts } from '../texts/with-imports.ts'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { ImportStatus, titleOf } from './import-parts.tsx'
import { type Import, listImports } from './imports.ts'

/** The imports of the workspace, newest first. */
export function ImportsPage() {
  const t = useTexts()
  const navigate = useNavigate()
  const writes = useMay()('imports:write')
  const columns: Column<Import>[] = [
    { id: 'file', label: t.imports.file, cell: (one) => titleOf(one, t) },
    {
      id: 'resource',
      label: t.imports.kind,
      cell: ({ resource }) => (resource === 'workspace' ? t.imports.workspace : t.kinds[resource].many),
    },
    { id: 'status', label: t.imports.result, phone: true, cell: (one) => <ImportStatus {...one} /> },
    { id: 'rows', label: t.imports.rows_read, number: true, cell: ({ rows_read }) => rows_read },
    { id: 'errors', label: t.imports.failed, number: true, cell: ({ failed }) => failed || null },
    { id: 'by', label: t.imports.by, cell: ({ created_by }) => created_by.name },
    { id: 'at', label: t.imports.started, cell: ({ created_at }) => <Ago at={created_at} /> },
  ]
  return (
    <SettingsList
      name="imports"
      title={t.imports.title}
      read={listImports}
      columns={columns}
      nameOf={(one) => titleOf(one, t)}
      hrefOf={({ id }) => `/settings/imports/${id}`}
      empty={t.imports.none}
      create_label={t.imports.new_title}
      onCreate={writes ? () => navigate({ to: '/settings/imports/new' }) : undefined}
      api={{ path: '/imports' }}
    >
      {null}
    </SettingsList>
  )
}
