import type { App } from '../../http/server.ts'
import { deletionRoutes } from './deletion-routes.ts'
import { invitationAcceptanceRoutes } from './invitation-acceptance-routes.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { memberRoutes } from './member-routes.ts'
import { profileRoutes } from './profile-routes.ts'
import { resetRoutes } from './reset-routes.ts'
import { createPeopleService, type RoleService } from './service.ts'
import { sessionsRoutes } from './sessions-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { workspaceRoutes } from './workspace-routes.ts'

/** Everything about people: the first account, signing in, profiles, members and invitations, workspaces. */
export function peopleRoutes(app: App, given: RoleService): void {
  const service = createPeopleService(given)
  setupRoutes(app, service)
  signInRoutes(app, service)
  sessionsRoutes(app, service)
  profileRoutes(app, service)
  deletionRoutes(app, service)
  resetRoutes(app, service)
  memberRoutes(app, service)
  invitationRoutes(app, service)
  invitationAcceptanceRoutes(app, service)
  workspaceRoutes(app, service)
}
