import { any_session } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import type { App } from '../../http/server.ts'
import { changePassword, createPasswordProof } from './own-password.ts'
import { changeProfile, createEmailProof } from './profile.ts'
import { PasswordBody, Profile, ProfileBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession, profileOf } from './session-view.ts'

/** The own account of a person. */
export function profileRoutes(app: App, service: PeopleService): void {
  const { db, browsers } = service
  const profile = endpoints(app, service, {
    path: '/api/v1/profile',
    reads: any_session,
    noun: 'profile',
  })

  profile.read({ summary: 'Read the own profile', view: Profile }, (request) =>
    profileOf(db, ownSession(request).user_id),
  )

  profile.change(
    {
      summary: 'Change the own profile',
      body: ProfileBody,
      view: Profile,
      prepare: createEmailProof(service),
    },
    (tx, context, sent) => changeProfile(tx, context, browsers, sent),
  )

  profile.verb(
    {
      name: 'password',
      id: 'changePassword',
      summary: 'Change the own password; all other sessions end',
      body: PasswordBody,
      view: Profile,
      // The body holds passwords.
      repeatable: false,
      guarded: false,
      prepare: createPasswordProof(service),
    },
    (tx, context, sent) => changePassword(tx, context, browsers, sent),
  )
}
