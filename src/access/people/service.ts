import type { Service } from '../../http/service.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type Authenticate, createAuthentication } from './authentication.ts'
import { createKnownBrowsers, type KnownBrowsers } from './known-browsers.ts'
import type { Cost } from './passwords.ts'
import type { RoleScopes } from './roles.ts'
import { createSignIn, type SignIn } from './sign-in.ts'
import { createThrottle, type Throttle } from './throttle.ts'

/** The needs of the routes of people, beside the service. */
export type RoleService = Service & { role_scopes: RoleScopes; password_cost?: Cost | undefined }

/** The service as the routes of people use it. */
export type PeopleService = RoleService & {
  throttle: Throttle
  browsers: KnownBrowsers
  accounts: Accounts
  authenticate: Authenticate
  signIn: SignIn
}

export function createPeopleService(service: RoleService): PeopleService {
  const { db, clock, role_scopes, seal, password_cost } = service
  const throttle = createThrottle(db, clock)
  const browsers = createKnownBrowsers(db, clock, seal)
  const accounts = createAccounts(db, seal, password_cost)
  const authenticate = createAuthentication({ accounts, throttle, browsers })
  const signIn = createSignIn({ db, clock, role_scopes, browsers })
  return { ...service, throttle, browsers, accounts, authenticate, signIn }
}
