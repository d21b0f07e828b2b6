import { ActionIcon } from '@mantine/core'
import { type Icon, KebabHorizontalIcon } from '@primer/octicons-react'
import { useTexts } from '../../texts/texts.ts'
import { Menu } from '../../ui/floating.tsx'
import { oneClick } from '../../ui/one-press.ts'
import { PageAction } from '../../ui/page-action.tsx'

/** An action on a record that its menu offers. */
export type RecordAction = { id: string; label: string; icon: Icon; run: () => void }

/** The rarer actions on a record, in a menu; a single one without it. */
export function MoreActions({ actions }: { actions: readonly RecordAction[] }) {
  const t = useTexts()
  const [only, more] = actions
  if (!only) return null
  if (!more) return <PageAction label={only.label} icon={only.icon} onClick={only.run} />
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t.files.more} title={t.files.more}>
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ id, label, icon: Sign, run }) => (
          <Menu.Item key={id} leftSection={<Sign size={14} />} onClick={oneClick(run)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
