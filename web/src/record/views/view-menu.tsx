import { ActionIcon } from '@mantine/core'
import {
  ArrowLeftIcon,
  ArrowRightIcon,
  HomeIcon,
  KebabHorizontalIcon,
  LockIcon,
  PencilIcon,
  PeopleIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { useTexts } from '../../texts/texts.ts'
import { Menu } from '../../ui/floating.tsx'
import { oneClick } from '../../ui/one-press.ts'

/** The actions of the person on a tab. An action that is left out is not shown. */
export type TabActions = {
  rename?: (() => void) | undefined
  share?: (() => void) | undefined
  make_private?: (() => void) | undefined
  move_left?: (() => void) | undefined
  move_right?: (() => void) | undefined
  make_default?: (() => void) | undefined
  remove?: (() => void) | undefined
}

const icons = {
  rename: PencilIcon,
  share: PeopleIcon,
  make_private: LockIcon,
  move_left: ArrowLeftIcon,
  move_right: ArrowRightIcon,
  make_default: HomeIcon,
  remove: TrashIcon,
} as const

/** The menu of the current tab. Without an action, there is none. */
export function ViewMenu({ name, actions }: { name: string; actions: TabActions }) {
  const t = useTexts()
  const names = Object.keys(icons) as (keyof TabActions)[]
  const offered = names.flatMap((one) => (actions[one] ? [{ one, run: actions[one] }] : []))
  if (offered.length === 0) return null
  const label = t.app.view_menu({ name })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={label} title={label}>
          <KebabHorizontalIcon size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {offered.map(({ one, run }) => {
          const Icon = icons[one]
          return (
            <Menu.Item key={one} leftSection={<Icon size={14} />} onClick={oneClick(run)}>
              {t.app.view_actions[one]}
            </Menu.Item>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
