import type { Service } from '../../http/service.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type Authenticate, createAuthentication } from './authentication.ts'
import { createKnownBrowsers, type KnownBrowsers } from './known-browsers.ts'
import type { RoleScopes } from './roles.ts'
import { createSignIn, type SignIn } from './sign-in.ts'
import { createThrottle, type Throttle } from './throttle.ts'

/** What the routes of people need beside the service. */
export type RoleService = Service & { role_scopes: RoleScopes }

/** The service as the routes of people use it. */
export type PeopleService = RoleService & {
  throttle: Throttle
  browsers: KnownBrowsers
  accounts: Accounts
  authenticate: Authenticate
  signIn: SignIn
}

export function createPeopleService(service: RoleService): PeopleService {
  const { db, clock, role_scopes, seal } = service
  const throttle = createThrottle(db, clock)
  const browsers = createKnownBrowsers(db, clock, seal)
  const accounts = createAccounts(db, seal)
  const authenticate = createAuthentication({ accounts, throttle, browsers })
  const signIn = createSignIn({ db, clock, role_scopes, browsers })
  return { ...service, throttle, browsers, accounts, authenticate, signIn }
}
