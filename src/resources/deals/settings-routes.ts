import { lockEntry } from '../../db/locks.ts'
import { refuse } from '../../errors.ts'
import { endpoints } from '../../http/endpoints.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { changeSettings, settingProblems, stageSettings } from './settings.ts'
import { StageSettings, StageSettingsBody } from './settings-schema.ts'

/** The stages of a workspace, and the reasons and stages that it offers. */
export function stageSettingsRoutes(app: App, service: Service): void {
  const settings = endpoints(app, service, {
    path: '/api/v1/workspace/stages',
    reads: 'workspace:read',
    writes: 'workspace:write',
    noun: 'settings',
  })

  settings.read({ summary: 'Read the stages of the workspace', view: StageSettings }, ({ access }) =>
    stageSettings(service.db, access.workspace_id),
  )

  settings.change(
    {
      summary: 'Change the stages of the workspace',
      description: 'Labels, order, colours and defaults of the stages. The codes stay.',
      body: StageSettingsBody,
      view: StageSettings,
    },
    async (tx, context, { body, problems, expect, recheck }) => {
      const { workspace_id } = context
      await lockEntry(tx, 'workspaces', workspace_id)
      await recheck()
      expect(await stageSettings(tx, workspace_id))
      refuse([...problems, ...(problems.length ? [] : settingProblems(body))])
      await changeSettings(tx, context, body)
      return { record: await stageSettings(tx, workspace_id) }
    },
  )
}
