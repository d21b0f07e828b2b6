import { ActionIcon } from '@mantine/core'
import {
  DownloadIcon,
  DuplicateIcon,
  type Icon,
  KebabHorizontalIcon,
  UploadIcon,
} from '@primer/octicons-react'
import { useState } from 'react'
import { type Command, useCommands } from '../../app/commands.ts'
import { laterDialog } from '../../app/contained.tsx'
import { useNavigate } from '../../app/link.ts'
import { useTexts } from '../../texts/texts.ts'
import { Menu } from '../../ui/floating.tsx'
import { MenuChoice } from '../../ui/menu-choice.tsx'
import { isMerged, type ListedKind, type MergedKind, useKinds, useNames } from '../kinds.ts'
import { useMayMerge } from '../page/may-merge.ts'
import type { Grouped } from './groupings.tsx'
import { useMayImport } from './import-offer.tsx'

const ExportDialog = laterDialog(async () => (await import('./export.tsx')).ExportDialog)

type Props = {
  kind: ListedKind
  /** The query of the list, for its export. */
  query: Record<string, unknown>
  /** How the table can be grouped. */
  grouped?: Grouped
}

type Item = Pick<Command, 'id' | 'label' | 'run'> & { icon: Icon }

/** The rarer actions on a list, in a menu and in the palette. */
export function ListMenu({ kind, query, grouped }: Props) {
  const t = useTexts()
  const names = useNames(kind)
  const [exporting, setExporting] = useState(false)
  const may_merge = useMayMerge(kind)
  const navigate = useNavigate()
  const kinds = useKinds()
  const may_import = useMayImport(kind)
  const import_file: Item = {
    id: `import-${kind}`,
    label: t.record.import(names.in_sentence),
    icon: UploadIcon,
    run: () => navigate({ to: '/settings/imports/new', search: { resource: kind } }),
  }
  const duplicates = (merged: MergedKind): Item => ({
    id: `duplicates-${kind}`,
    label: t.merges.find(names.in_sentence),
    icon: DuplicateIcon,
    run: () => navigate({ to: `${kinds[merged].path}/duplicates` }),
  })
  const items: Item[] = [
    {
      id: `export-${kind}`,
      label: t.files.export(names.in_sentence),
      icon: DownloadIcon,
      run: () => setExporting(true),
    },
    ...(may_import ? [import_file] : []),
    ...(may_merge && isMerged(kind) ? [duplicates(kind)] : []),
  ]
  const groupings = grouped?.all.length
    ? [{ by: null, label: t.record.no_groups }, ...grouped.all].map(({ by, label }) => ({
        id: `group-${by}`,
        label,
        is_current: (grouped.current?.by ?? null) === by,
        run: () => grouped.choose(by),
      }))
    : []
  useCommands(
    groupings.map(({ id, label, run }) => ({
      id,
      run,
      group: 'lists' as const,
      label: `${t.record.group_by}: ${label}`,
    })),
  )
  useCommands(items.map(({ icon: _, ...item }) => ({ ...item, group: 'lists' })))
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t.files.more} title={t.files.more}>
            <KebabHorizontalIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {groupings.length > 0 && (
            <>
              <Menu.Label>{t.record.group_by}</Menu.Label>
              {groupings.map(({ id, label, is_current, run }) => (
                <MenuChoice key={id} value={id} chosen={is_current} onChoose={run}>
                  {label}
                </MenuChoice>
              ))}
              <Menu.Divider />
            </>
          )}
          {items.map(({ id, label, icon: Sign, run }) => (
            <Menu.Item key={id} leftSection={<Sign size={14} />} onClick={run}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ExportDialog kind={kind} query={query} opened={exporting} onClose={() => setExporting(false)} />
    </>
  )
}
