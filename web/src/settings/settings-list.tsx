import { Button } from '@mantine/core'
import type { ComponentProps, ReactNode } from 'react'
import { useCommands } from '../app/commands.ts'
import { Empty } from '../ui/empty.tsx'
import { type ListQuery, ListTable, useListPage } from '../ui/list-page.tsx'
import { useListView } from '../ui/list-view.ts'
import type { TableProps } from '../ui/table.tsx'
import type { Identified } from '../ui/table-parts.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type Props<Row extends Identified> = Pick<TableProps<Row>, 'columns' | 'nameOf' | 'hrefOf'> & {
  /** The name in the keys of queries. */
  name: string
  title: string
  read: (
    query: { page: number; per_page: number },
    signal: AbortSignal,
  ) => ReturnType<ListQuery<Row>['queryFn']>
  /** The text of the empty list. */
  empty: string
  /** The label of the button that creates a row. */
  create_label: string
  /** Left out: the person may not create rows. */
  onCreate: (() => void) | undefined
  api: ComponentProps<typeof SettingsFrame>['api']
  /** The dialogs. */
  children: ReactNode
}

/** A page of the settings with a list, and a button that creates a row. */
export function SettingsList<Row extends Identified>(props: Props<Row>) {
  const { name, title, read, empty, create_label, onCreate, api, children, ...table } = props
  const view = useListView()
  const query = { page: view.page, per_page: 50 }
  const page = useListPage(
    { queryKey: [name, 'list', query], queryFn: ({ signal }) => read(query, signal) },
    view,
  )
  useCommands(
    [{ id: `create-${name}`, label: create_label, group: 'create', keys: 'c', run: () => onCreate?.() }],
    onCreate !== undefined,
  )
  return (
    <SettingsFrame
      title={title}
      count={page.meta?.total}
      whole
      actions={onCreate && <Button onClick={onCreate}>{create_label}</Button>}
      api={api}
    >
      <div className="settings-table">
        <ListTable
          label={title}
          {...table}
          page={page}
          empty={<Empty text={empty} {...(onCreate && { action: create_label, onAction: onCreate })} />}
        />
      </div>
      {children}
    </SettingsFrame>
  )
}
