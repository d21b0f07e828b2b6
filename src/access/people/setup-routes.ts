import { isoTime } from '../../clock.ts'
import { lockInstallation } from '../../db/locks.ts'
import { factsOf, recordChange } from '../../events/audit.ts'
import { service } from '../../events/context.ts'
import { Single, single } from '../../http/envelope.ts'
import { conflict, invalid } from '../../http/errors.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { changeWorkspace, firstWorkspace, listWorkspaces } from '../workspaces.ts'
import { addressOf, atOpenDoor } from './cookie.ts'
import { placed, placeProblems } from './fields.ts'
import { insertMember } from './memberships.ts'
import { passwordProblems } from './passwords.ts'
import { SetupBody, SetupState, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { isSetupHash, removeSetupToken } from './setup.ts'
import { personContext } from './sign-in.ts'
import { badToken, hashOf } from './tokens.ts'
import { anyUser, insertUser } from './users.ts'

const path = '/api/v1/setup'
const done = () => conflict('Somebody has an account already. Sign in, or ask for an invitation.')

/** The first account: by the link that a start shows while there is none. */
export function setupRoutes(app: App, { db, clock, throttle, accounts, signIn }: PeopleService): void {
  app.get(
    path,
    {
      onRequest: atOpenDoor,
      schema: {
        'x-extension': true,
        summary: 'Ask whether the first account is still to be made',
        response: { 200: Single(SetupState) },
      },
    },
    async () => single({ needed: !(await anyUser(db)) }),
  )

  app.post(
    path,
    {
      onRequest: atOpenDoor,
      schema: {
        ...{ 'x-extension': true, 'x-conflict': true },
        summary: 'Make the first account, with the link that the start of the service shows',
        body: SetupBody,
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const {
        token,
        name = '',
        email = '',
        password = '',
        workspace_name = '',
        ...rest
      } = placed(request.body)
      if (await anyUser(db)) throw done()
      const hash = hashOf(token)
      const valid = await throttle.openLink(addressOf(request), (tx) => isSetupHash(tx, hash))
      const problems = [
        ...bodyProblems(request.body),
        ...passwordProblems('password', request.body.password, email),
        ...placeProblems(rest),
      ]
      // Only who has the link is told what else is wrong.
      if (!valid) throw badToken()
      if (problems.length) throw invalid(problems)
      const password_hash = await accounts.hash(email, password, { shown: true, key: hash })
      return signIn(request, reply, async (tx) => {
        // Of two at once the second one waits here.
        await lockInstallation(tx)
        if (await anyUser(tx)) throw done()
        if (!(await isSetupHash(tx, hash))) throw badToken()
        await removeSetupToken(tx)
        // The start has made one together with the first key.
        const made = await firstWorkspace(tx, clock, service)
        const workspace_id = made ?? (await listWorkspaces(tx))[0]?.id ?? 0
        const { time_zone = null, language = null, currency } = rest
        const user = { name, email, time_zone, language }
        const user_id = await insertUser(tx, isoTime(clock.now()), { ...user, password_hash })
        const entering = { workspace_id, user_id }
        const context = personContext(clock, entering, request.id)
        await recordChange(tx, context, {
          ...{ action: 'created', kind: 'users', record_id: user_id },
          after: factsOf(user),
        })
        await changeWorkspace(tx, context, { name: workspace_name, currency })
        await insertMember(tx, context, user_id, 'owner')
        return entering
      })
    },
  )
}
