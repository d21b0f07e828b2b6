import { lockEntry } from '../../db/locks.ts'
import { invalid } from '../../errors.ts'
import { any_session } from '../../http/auth.ts'
import { Single, single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { operation } from '../../http/operation.ts'
import { changesOf } from '../../http/patch.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { localeProblems, withCanonicalTimeZone } from './fields.ts'
import { auditPerson, workspacesOf } from './memberships.ts'
import { createOwnPassword, wrongPassword } from './own-password.ts'
import { passwordProblems } from './passwords.ts'
import { changeProfile, createEmailProof, passwordNeeded, profile_fields } from './profile.ts'
import { PasswordBody, Profile, ProfileBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession, profileOf } from './session-view.ts'
import { endSessions } from './sessions.ts'
import { findUser, setPassword } from './users.ts'

const path = '/api/v1/profile'

/** The own account of a person. */
export function profileRoutes(app: App, service: PeopleService): void {
  const { db, write, recheckAccess, throttle, browsers, accounts } = service
  const provenEmail = createEmailProof(service)
  const proven = createOwnPassword(db, throttle)

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: any_session,
      summary: 'Read the own profile',
      answers: { 200: Single(Profile) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => sendRecord(request, reply, await profileOf(db, ownSession(request).user_id)),
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path,
      scope: any_session,
      summary: 'Change the own profile',
      body: ProfileBody,
      answers: { 200: Single(Profile) },
      extension: true,
      guarded: true,
    },
    async (request, reply) => {
      const { user_id } = ownSession(request)
      const proof = await provenEmail(request, request.body)
      return write(request, reply, async (tx, context, problems) => {
        // A person who concurrently joins one of the workspaces with the new e-mail either waits, or is found.
        if (proof) for (const { id } of await workspacesOf(tx, user_id)) await lockEntry(tx, 'workspaces', id)
        await lockEntry(tx, 'users', user_id)
        await recheckAccess(tx, request)
        const before = await profileOf(tx, user_id)
        checkMatch(request, before)
        const changes = changesOf(withCanonicalTimeZone(request.body), before, profile_fields)
        const all = [...problems, ...localeProblems(changes)]
        // The password may have changed while it was checked.
        const valid = proof && proof.current_hash === (await findUser(tx, user_id))?.password_hash
        if (changes.email !== undefined && !valid)
          all.push(request.body.current_password === undefined ? passwordNeeded : wrongPassword)
        if (all.length) throw invalid(all)
        if (!Object.keys(changes).length) return { record: before }
        const password_hash = changes.email === undefined ? undefined : proof?.password_hash
        const record = await changeProfile(tx, context, before, { ...changes, password_hash })
        if (!password_hash) return { record }
        return { record, set_cookie: browsers.cookieFor(request, { id: user_id, password_hash }) }
      })
    },
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${path}/password`,
      scope: any_session,
      summary: 'Change the own password; all other sessions end',
      body: PasswordBody,
      answers: { 200: Single(Profile) },
      extension: true,
      // The body holds passwords.
      repeatable: false,
    },
    async (request, reply) => {
      const { session_id, user_id } = ownSession(request)
      const { current_password, new_password } = request.body
      const { email } = await profileOf(db, user_id)
      const bad = passwordProblems('new_password', new_password, email)
      const sound = !bodyProblems(request.body).length && !bad.length
      const proof = sound ? await proven(request, String(current_password)) : null
      const asker = { identified: true, key: user_id }
      const password_hash = proof ? await accounts.hash(email, String(new_password), asker) : ''
      return write(request, reply, async (tx, context, problems) => {
        const all = [...problems, ...bad]
        await lockEntry(tx, 'users', user_id)
        await recheckAccess(tx, request)
        // The password may have changed while it was checked, by itself or with the e-mail.
        const current = (await findUser(tx, user_id))?.password_hash
        if (!all.length && (!proof || proof !== current)) all.push(wrongPassword)
        if (all.length) throw invalid(all)
        await setPassword(tx, context.now, user_id, password_hash)
        await endSessions(tx, user_id, { but: session_id })
        await auditPerson(tx, context, user_id, { action: 'password_changed' })
        // This browser becomes known by the new password. All others are unknown now.
        const set_cookie = browsers.cookieFor(request, { id: user_id, password_hash })
        return { body: single(await profileOf(tx, user_id)), set_cookie }
      })
    },
  )
}
