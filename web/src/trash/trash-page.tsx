import { ActionIcon, Button } from '@mantine/core'
import { HistoryIcon, PersonIcon, ReplyIcon, TrashIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api } from '../api/client.ts'
import { note_kinds, notedOf, recordOfNote } from '../api/note-kinds.ts'
import { Link } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import { useAllKinds } from '../record/kinds.ts'
import { useCounted, useShowFailed } from '../record/list/bulk.tsx'
import { useTexts } from '../texts/with-trash.ts'
import { BulkBar } from '../ui/bulk-bar.tsx'
import { Empty } from '../ui/empty.tsx'
import type { FilterField } from '../ui/filter-value.ts'
import { type Filter, useListFilters } from '../ui/filters.tsx'
import { keepFocus } from '../ui/focus.ts'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { useListView } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import type { Column } from '../ui/table.tsx'
import { showMessage } from '../ui/undo.tsx'
import { Ago } from '../ui/values.tsx'
import { EraseDialog } from './erase-dialog.tsx'
import { useKindNames } from './kind-names.ts'
import { type Row, restoreRecord, rowOf, type Trashed } from './trashed.ts'
import './trash.css'

const by_kind: FilterField = { name: 'kind', kind: 'choice', single: true }
const fields = [by_kind]
const day_ms = 24 * 3600 * 1000

/** The deleted records, to restore or erase. */
export function TrashPage() {
  const t = useTexts()
  const names = useKindNames()
  const client = useQueryClient()
  const may = useMay()
  const view = useListView(fields)
  const [erasing, setErasing] = useState<Row | null>(null)
  const counted = useCounted()
  const showFailed = useShowFailed()
  const [restoring, setRestoring] = useState(false)
  const query = {
    ...(view.filters.kind && { kind: view.filters.kind as Trashed['kind'] }),
    page: view.page,
    per_page: 50,
  }
  const page = useListPage(
    {
      queryKey: ['trash', query],
      queryFn: async ({ signal }) => {
        const { data, meta } = await answerOf(api.GET('/api/v1/trash', { params: { query }, signal }))
        return { data: data.map(rowOf), meta }
      },
    },
    view,
  )
  // A restored record can be in any list or link.
  const readAgain = () => client.invalidateQueries()

  async function restore(chosen: Row[]): Promise<Row[]> {
    setRestoring(true)
    const { done, failed, stopped } = await counted(chosen, restoreRecord)
    setRestoring(false)
    if (done.length)
      showMessage(
        done.length === 1
          ? t.app.restored({ what: done[0]?.name ?? '' })
          : t.trash.restored_many({ n: done.length }),
      )
    showFailed(failed, ({ name }) => name, chosen.length)
    await readAgain()
    // The buttons unmounted with the row.
    keepFocus(0)
    return [...failed.map(({ item }) => item), ...stopped]
  }

  const columns: Column<Row>[] = [
    {
      id: 'name',
      label: t.fields.name,
      cell: ({ name }) => <span className="trash-name one-line">{name}</span>,
    },
    { id: 'kind', label: t.trash.kind, cell: ({ kind }) => names[kind], width: 130, phone: false },
    {
      id: 'deleted',
      label: t.fields.deleted_at,
      width: 130,
      cell: ({ deleted_at }) => <Ago at={deleted_at} />,
    },
    {
      id: 'gone',
      label: t.trash.gone_in,
      width: 120,
      cell: ({ removed_at }) => (
        <time dateTime={removed_at}>
          {t.trash.days_left({ n: Math.max(0, Math.ceil((Date.parse(removed_at) - Date.now()) / day_ms)) })}
        </time>
      ),
    },
    {
      id: 'actions',
      label: t.app.actions,
      phone: true,
      number: true,
      cell: (row) => (
        <Actions
          row={row}
          onRestore={() => restore([row])}
          onErase={() => setErasing(row)}
          busy={restoring}
        />
      ),
    },
  ]
  const filter: Filter = {
    ...by_kind,
    label: t.trash.kind,
    options: [...useAllKinds().map(({ kind }) => kind), ...Object.values(note_kinds)].map((value) => ({
      value,
      label: names[value] ?? value,
    })),
  }
  const filtering = useListFilters({ view, filters: [filter], search: false })
  return (
    <Page title={t.app.trash} count={page.meta?.total} middle={filtering.line} below={filtering.chips}>
      <div className="trash">
        <ListTable
          label={t.app.trash}
          columns={columns}
          page={page}
          selectable={may('trash:write')}
          nameOf={({ name }) => name}
          empty={
            <Empty
              text={view.filtered ? t.trash.none_of_kind : t.trash.empty}
              {...(view.filtered && { action: t.app.clear_filters, onAction: view.clearFilters })}
            />
          }
        />
        <BulkBar page={page}>
          <Button loading={restoring} onClick={() => page.act(restore)}>
            {t.trash.restore}
          </Button>
        </BulkBar>
      </div>
      {erasing && (
        <EraseDialog
          row={erasing}
          onClose={() => setErasing(null)}
          onErased={async () => {
            setErasing(null)
            await readAgain()
            keepFocus(0)
          }}
        />
      )}
    </Page>
  )
}

type ActionsProps = { row: Row; onRestore: () => void; onErase: () => void; busy: boolean }

function Actions({ row, onRestore, onErase, busy }: ActionsProps) {
  const t = useTexts()
  const may = useMay()
  const { kind, record_id, name } = row
  const owner = recordOfNote(kind, row)
  // Restoring needs the scope of the record's kind, erasing that of the trash.
  const restores = may(`${notedOf(kind) ?? kind}:write`)
  return (
    <div className="trash-actions">
      {owner && (
        <ActionIcon
          component={Link}
          to={`/${owner.kind}/${owner.id}`}
          className="trash-link"
          aria-label={t.trash.record_of_note[owner.kind]}
          title={t.trash.record_of_note[owner.kind]}
        >
          <PersonIcon />
        </ActionIcon>
      )}
      {may('audit_log:read') && (
        <ActionIcon
          component={Link}
          to="/audit-log"
          search={{ kind, record_id: String(record_id) }}
          className="trash-link"
          aria-label={t.trash.history_of({ name })}
          title={t.trash.history_of({ name })}
        >
          <HistoryIcon />
        </ActionIcon>
      )}
      {restores && (
        <Button
          variant="default"
          disabled={busy}
          leftSection={<ReplyIcon size={14} />}
          className="trash-restore"
          aria-label={t.trash.restore_one({ name })}
          onClick={onRestore}
        >
          <span className="trash-word">{t.trash.restore}</span>
        </Button>
      )}
      {may('trash:write') && (
        <ActionIcon
          color="red"
          aria-label={t.trash.erase_one({ name })}
          title={t.trash.erase}
          onClick={onErase}
        >
          <TrashIcon />
        </ActionIcon>
      )}
    </div>
  )
}
