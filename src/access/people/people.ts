import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import type { Seal } from '../../db/seal.ts'
import type { StillIn } from '../../http/auth.ts'
import type { App } from '../../http/server.ts'
import type { Writer } from '../../http/write.ts'
import { createAccounts } from './accounts.ts'
import { createAuthentication } from './authentication.ts'
import { deletionRoutes } from './deletion-routes.ts'
import { invitationAnswerRoutes } from './invitation-answer-routes.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { memberRoutes, type TakeBackKeysBy } from './member-routes.ts'
import { createSignIn } from './open.ts'
import { profileRoutes } from './profile-routes.ts'
import { resetRoutes } from './reset-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { sessionsRoutes } from './sessions-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { createThrottle } from './throttle.ts'
import { workspaceRoutes } from './workspace-routes.ts'

type Deps = {
  db: Db
  clock: Clock
  write: Writer
  seal: Seal
  stillIn: StillIn
  scopes: readonly string[]
  takeBackKeysBy: TakeBackKeysBy
}

/** Everything about people: the first account, signing in, profiles, members and invitations, workspaces. */
export function peopleRoutes(app: App, given: Deps): void {
  const { db, clock, scopes, seal } = given
  const throttle = createThrottle(db, clock)
  const browsers = createKnownBrowsers(db, clock, seal)
  const accounts = createAccounts(db, seal)
  const authenticate = createAuthentication({ accounts, throttle, browsers })
  const signIn = createSignIn({ db, clock, scopes, browsers })
  const deps = { ...given, throttle, browsers, accounts, authenticate, signIn }
  setupRoutes(app, deps)
  sessionRoutes(app, deps)
  sessionsRoutes(app, deps)
  profileRoutes(app, deps)
  deletionRoutes(app, deps)
  resetRoutes(app, deps)
  memberRoutes(app, deps)
  invitationRoutes(app, deps)
  invitationAnswerRoutes(app, deps)
  workspaceRoutes(app, deps)
}
