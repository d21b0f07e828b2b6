import { refuse } from '../../errors.ts'
import { Single, single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { open_post } from './cookie.ts'
import { acceptInvitation, createAcceptingPerson, createLinkReader } from './invitation-acceptance.ts'
import { AcceptBody, Invited, LookUpBody, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { hasAccount } from './users.ts'

const path = '/api/v1/invitations'

/** Reading and accepting an invitation, for everybody who has the token of its link. */
export function invitationAcceptanceRoutes(app: App, service: PeopleService): void {
  const { db, clock, signIn } = service
  const openInvitation = createLinkReader(service)
  const acceptingPerson = createAcceptingPerson(service)

  operation(
    app,
    {
      ...open_post,
      path: `${path}/look-up`,
      id: 'lookUpInvitation',
      summary: 'Read an invitation by the token of its link',
      body: LookUpBody,
      answers: { 200: Single(Invited) },
    },
    async (request) => {
      const { workspace_name, email, role } = await openInvitation(request, request.body.token)
      refuse(bodyProblems(request.body))
      return single({ workspace_name, email, role, has_account: await hasAccount(db, email) })
    },
  )

  operation(
    app,
    {
      ...open_post,
      path: `${path}/accept`,
      id: 'acceptInvitation',
      summary: 'Accept an invitation with an account of the e-mail, or with a new account',
      body: AcceptBody,
      answers: { 200: Single(SignedIn) },
      conflict: true,
    },
    async (request, reply) => {
      const invitation = await openInvitation(request, request.body.token)
      const person = await acceptingPerson(request, invitation)
      const by = { clock, request_id: request.id }
      return signIn(request, reply, (tx) => acceptInvitation(tx, by, invitation, person))
    },
  )
}
