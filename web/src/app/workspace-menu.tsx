import { UnstyledButton } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { Menu } from '../ui/floating.tsx'
import { MenuChoice } from '../ui/menu-choice.tsx'
import { Initials } from '../ui/values.tsx'
import { later } from './contained.tsx'
import { showProblem } from './problems.tsx'
import { useMay, useSession } from './session.ts'

// Rarely used: loaded when it is first opened.
const NewWorkspace = later(async () => (await import('../settings/new-workspace.tsx')).default, true)

/** The workspaces of the person, in a menu. */
export function Workspaces() {
  const t = useTexts()
  const client = useQueryClient()
  const { workspace, workspaces } = useSession()
  async function go(workspace_id: number) {
    try {
      await dataOf(api.PUT('/api/v1/session', { body: { workspace_id } }))
      // No cached data belongs to the other workspace.
      client.clear()
      window.location.assign('/')
    } catch (error) {
      showProblem(error, t)
    }
  }
  return (
    <>
      <Menu.Label>{t.app.workspace}</Menu.Label>
      {workspaces.map(({ id, name }) => (
        <MenuChoice
          key={id}
          value={String(id)}
          chosen={id === workspace.id}
          onChoose={() => id !== workspace.id && go(id)}
        >
          {name}
        </MenuChoice>
      ))}
    </>
  )
}

/** The menu of the workspace: switch to another one, or create one. */
export function WorkspaceMenu({ collapsed }: { collapsed: boolean }) {
  const t = useTexts()
  const { workspace } = useSession()
  const mayMake = useMay()('workspace:write')
  const [making, setMaking] = useState(false)
  return (
    <>
      <Menu position="bottom-start" width={220}>
        <Menu.Target>
          <UnstyledButton className="rail-link" aria-label={`${t.app.workspace}: ${workspace.name}`}>
            <Initials name={workspace.name} square />
            {!collapsed && <span style={{ fontWeight: 600 }}>{workspace.name}</span>}
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Workspaces />
          {mayMake && (
            <>
              <Menu.Divider />
              <Menu.Item onClick={() => setMaking(true)}>{t.app.new_workspace}…</Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {making && <NewWorkspace onClose={() => setMaking(false)} />}
    </>
  )
}
