import { UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { KebabHorizontalIcon, PlusIcon } from '@primer/octicons-react'
import { all_kinds } from '../kinds.ts'
import { UnreadMark } from '../notifications/bell.tsx'
import { useUnreadCount } from '../notifications/unread.ts'
import { useTexts } from '../texts/texts.ts'
import { Menu } from '../ui/floating.tsx'
import { MenuChoice } from '../ui/menu-choice.tsx'
import { Initials } from '../ui/values.tsx'
import type { Path } from './addresses.ts'
import { Link } from './link.ts'
import { useMay, useSession, useSignOut } from './session.ts'
import { Workspaces } from './workspace-menu.tsx'

/** The menu of the person, at the foot of the rail. */
export function PersonMenu({ collapsed, onSheet }: { collapsed: boolean; onSheet: () => void }) {
  const t = useTexts()
  const { user } = useSession()
  const signOut = useSignOut()
  return (
    <Menu position="right-end" width={200}>
      <Menu.Target>
        <UnstyledButton className="rail-link" aria-label={`${t.app.profile}: ${user.name}`}>
          <Initials name={user.name} />
          {!collapsed && <span>{user.name}</span>}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/settings/profile">
          {t.app.profile}
        </Menu.Item>
        <Menu.Item onClick={onSheet}>{t.app.shortcuts}</Menu.Item>
        <Appearance />
        <Menu.Divider />
        <Menu.Item onClick={signOut}>{t.app.sign_out}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Appearance() {
  const t = useTexts()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const schemes = { light: t.app.light, dark: t.app.dark, auto: t.app.system }
  return (
    <>
      <Menu.Divider />
      <Menu.Label>{t.app.appearance}</Menu.Label>
      {Object.entries(schemes).map(([scheme, label]) => (
        <MenuChoice
          key={scheme}
          value={scheme}
          chosen={colorScheme === scheme}
          onChoose={() => setColorScheme(scheme as 'light' | 'dark' | 'auto')}
        >
          {label}
        </MenuChoice>
      ))}
    </>
  )
}

/** On a phone: the records that can be created. Each list opens its dialog. */
export function CreateMenu() {
  const t = useTexts()
  const may = useMay()
  const made = all_kinds.filter(({ kind, creates }) => creates && may(`${kind}:write`))
  if (!made.length) return null
  return (
    <Menu position="top" width={220}>
      <Menu.Target>
        <UnstyledButton className="rail-link">
          <PlusIcon />
          <span>{t.app.create}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {made.map(({ kind, path }) => (
          <Menu.Item key={kind} component={Link} to={path} search={{ create: '1' }}>
            {t.kinds[kind].create}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** On a phone: everything that does not fit into the bottom bar. */
export function MoreMenu({ pages }: { pages: { to: Path; label: string }[] }) {
  const t = useTexts()
  const signOut = useSignOut()
  const unread = useUnreadCount()
  return (
    <Menu position="top-end" width={220}>
      <Menu.Target>
        <UnstyledButton className="rail-link">
          <KebabHorizontalIcon />
          <span>{t.app.more}</span>
          <UnreadMark />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {(
          [
            ['/notifications', t.notifications.title_with({ unread })],
            ...pages.map(({ to, label }) => [to, label] as const),
            ['/trash', t.app.trash],
            ['/audit-log', t.app.audit_log],
            ['/settings', t.app.settings],
            ['/settings/profile', t.app.profile],
          ] as const
        ).map(([to, label]) => (
          <Menu.Item key={to} component={Link} to={to}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Workspaces />
        <Appearance />
        <Menu.Divider />
        <Menu.Item onClick={signOut}>{t.app.sign_out}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
