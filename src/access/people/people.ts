import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { deletionRoutes } from './deletion-routes.ts'
import { invitationAnswerRoutes } from './invitation-answer-routes.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { memberRoutes } from './member-routes.ts'
import { profileRoutes } from './profile-routes.ts'
import { resetRoutes } from './reset-routes.ts'
import { createPeopleService } from './service.ts'
import { sessionRoutes } from './session-routes.ts'
import { sessionsRoutes } from './sessions-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { workspaceRoutes } from './workspace-routes.ts'

/** Everything about people: the first account, signing in, profiles, members and invitations, workspaces. */
export function peopleRoutes(app: App, given: Service): void {
  const service = createPeopleService(given)
  setupRoutes(app, service)
  sessionRoutes(app, service)
  sessionsRoutes(app, service)
  profileRoutes(app, service)
  deletionRoutes(app, service)
  resetRoutes(app, service)
  memberRoutes(app, service)
  invitationRoutes(app, service)
  invitationAnswerRoutes(app, service)
  workspaceRoutes(app, service)
}
