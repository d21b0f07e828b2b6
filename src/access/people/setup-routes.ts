import { refuse } from '../../errors.ts'
import { Single, single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { mailingOf } from '../../mails/mailing.ts'
import { addressOf, guardOpenRoute, open_post } from './cookie.ts'
import { localeProblems, withCanonicalTimeZone } from './fields.ts'
import { createFirstAccount, setUpAlready } from './first-account.ts'
import { passwordProblems } from './passwords.ts'
import { SetupBody, SetupState, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { isSetupHash } from './setup.ts'
import { badToken, hashOf } from './tokens.ts'
import { anyUser } from './users.ts'

const path = '/api/v1/setup'

/** The first account: by the link that a start shows while there is none. */
export function setupRoutes(app: App, { db, clock, throttle, accounts, signIn }: PeopleService): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'open',
      summary: 'Read whether the first account is missing',
      answers: { 200: Single(SetupState) },
      onRequest: guardOpenRoute,
    },
    async () => single({ needed: !(await anyUser(db)), ...(mailingOf(db)?.configured && { mail: true }) }),
  )

  operation(
    app,
    {
      ...open_post,
      path,
      id: 'setUp',
      summary: 'Create the first account with the link that the start of the service shows',
      body: SetupBody,
      answers: { 200: Single(SignedIn) },
      conflict: true,
    },
    async (request, reply) => {
      const { token, password = '', ...sent } = withCanonicalTimeZone(request.body)
      if (await anyUser(db)) throw setUpAlready()
      const hash = hashOf(token)
      const valid = await throttle.checkLink(addressOf(request), (tx) => isSetupHash(tx, hash))
      const { name = '', email = '', workspace_name = '', time_zone = null, language = null, currency } = sent
      const problems = [
        ...bodyProblems(request.body),
        ...passwordProblems('password', request.body.password, email),
        ...localeProblems(sent),
      ]
      // Only a request with the right link learns what else is wrong.
      if (!valid) throw badToken()
      refuse(problems)
      const password_hash = await accounts.hash(email, password, { identified: true, key: hash })
      const person = { name, email, time_zone, language }
      const workspace = { name: workspace_name, currency }
      const by = { clock, request_id: request.id, hash }
      return signIn(request, reply, (tx) => createFirstAccount(tx, by, { person, password_hash, workspace }))
    },
  )
}
