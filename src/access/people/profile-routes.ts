import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import { any_session } from '../../http/auth.ts'
import { Single, single } from '../../http/envelope.ts'
import { type FieldProblem, invalid } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { changesOf } from '../../http/patch.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { placed, placeProblems } from './fields.ts'
import { isInvited } from './invitations.ts'
import { memberByEmail } from './members.ts'
import { recordOfPerson, workspacesOf } from './memberships.ts'
import { createOwnPassword, wrongPassword } from './own-password.ts'
import { passwordProblems } from './passwords.ts'
import { PasswordBody, Profile, ProfileBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { placeOf, profileOf } from './session-view.ts'
import { endSessions } from './sessions.ts'
import { emailKey, findUser, setPassword } from './users.ts'

const path = '/api/v1/profile'
const fields = ['name', 'email', 'time_zone', 'language'] as const
const taken: FieldProblem = {
  field: 'email',
  code: 'taken',
  message: 'email is that of another member of one of your workspaces, or of an open invitation there.',
}
const needed: FieldProblem = {
  field: 'current_password',
  code: 'required',
  message: 'current_password is needed to change the e-mail.',
}

/** Whether an e-mail is that of another member, or of an open invitation, in a workspace of this person. */
async function isTaken(tx: Db, now: string, user_id: string, email: string): Promise<boolean> {
  for (const { id } of await workspacesOf(tx, user_id)) {
    const member = await memberByEmail(tx, id, email)
    if ((member && member.id !== user_id) || (await isInvited(tx, id, now, email))) return true
  }
  return false
}

type ProfileRequest = { body: Static<typeof ProfileBody> }
/** What a person may change of the own account. */
export function profileRoutes(app: App, service: PeopleService): void {
  const { db, write, stillIn, throttle, browsers, accounts } = service

  app.get(
    path,
    {
      config: { scope: any_session },
      schema: { 'x-extension': true, summary: 'Read the own profile', response: { 200: Single(Profile) } },
    },
    async (request, reply) => sendRecord(request, reply, await profileOf(db, placeOf(request).user_id)),
  )

  const proven = createOwnPassword(db, throttle)

  /** The proof for another e-mail, and the hash of the password beside that e-mail; null where none is asked or given. */
  async function provenMove({ body }: ProfileRequest, request: FastifyRequest) {
    const { user_id } = placeOf(request)
    const { email, current_password } = body
    if (email === undefined || typeof current_password !== 'string') return null
    if (email === (await profileOf(db, user_id)).email) return null
    const proof = await proven(request, current_password)
    if (!proof) return null
    await throttle.countMove(user_id)
    const password_hash = await accounts.hash(email, current_password, { shown: true, key: user_id })
    return { proof, password_hash }
  }

  app.route({
    method: ['PUT', 'PATCH'],
    url: path,
    config: { scope: any_session },
    schema: {
      'x-extension': true,
      summary: 'Change the own profile',
      body: ProfileBody,
      response: { 200: Single(Profile) },
    },
    handler: async (request, reply) => {
      const { user_id } = placeOf(request)
      const move = await provenMove(request, request)
      return write(request, reply, async (tx, context, problems) => {
        // Whoever joins one of them with this e-mail waits for this, or is seen.
        if (move) for (const { id } of await workspacesOf(tx, user_id)) await lockEntry(tx, 'workspaces', id)
        await lockEntry(tx, 'users', user_id)
        await stillIn(tx, request)
        const before = await profileOf(tx, user_id)
        checkMatch(request, before)
        const changes = changesOf(placed(request.body), before, fields)
        const all = [...problems, ...placeProblems(changes)]
        const proof = move && move.proof === (await findUser(tx, user_id))?.password_hash
        if (changes.email !== undefined && !proof)
          all.push(request.body.current_password === undefined ? needed : wrongPassword)
        if (all.length) throw invalid(all)
        if (!Object.keys(changes).length) return { record: before }
        const { name, email, time_zone, language } = { ...before, ...changes }
        const moves = emailKey(email) !== emailKey(before.email)
        if (moves && (await isTaken(tx, context.now, user_id, email))) throw invalid([taken])
        const values = {
          name,
          email,
          time_zone,
          language,
          email_key: emailKey(email),
          updated_at: context.now,
          ...(changes.email !== undefined && move && { password_hash: move.password_hash }),
          // Whoever got it by the old address sets no password of the new one.
          ...(moves && { reset_hash: null, reset_expires_at: null }),
        }
        await tx.updateTable('users').set(values).where('id', '=', user_id).execute()
        const after = await profileOf(tx, user_id)
        const told = changesBetween(before, after, fields)
        if (told) await recordOfPerson(tx, context, user_id, { action: 'updated', ...sidesOf(told, after) })
        if (!values.password_hash) return { record: after }
        const { password_hash } = values
        return { record: after, set_cookie: browsers.cookieFor(request, { id: user_id, password_hash }) }
      })
    },
  })

  app.post(
    `${path}/password`,
    {
      config: { scope: any_session, unrepeatable: true },
      schema: {
        'x-extension': true,
        summary: 'Change the own password; all other sessions end',
        body: PasswordBody,
        response: { 200: Single(Profile) },
      },
    },
    async (request, reply) => {
      const { session_id, user_id } = placeOf(request)
      const { current_password, new_password } = request.body
      const profile = await profileOf(db, user_id)
      const bad = passwordProblems('new_password', new_password, profile.email)
      const sound = !bodyProblems(request.body).length && !bad.length
      const proof = sound ? await proven(request, String(current_password)) : null
      const password_hash = proof
        ? await accounts.hash(profile.email, String(new_password), { shown: true, key: user_id })
        : ''
      return write(request, reply, async (tx, context, problems) => {
        const all = [...problems, ...bad]
        await lockEntry(tx, 'users', user_id)
        await stillIn(tx, request)
        // Changed while it was checked, by itself or with the e-mail: then it is not the current one any more.
        const current = (await findUser(tx, user_id))?.password_hash
        if (!all.length && (!proof || proof !== current)) all.push(wrongPassword)
        if (all.length) throw invalid(all)
        await setPassword(tx, context.now, user_id, password_hash)
        await endSessions(tx, user_id, { but: session_id })
        await recordOfPerson(tx, context, user_id, { action: 'password_changed' })
        // Other browsers were known by the old password; this one is by the new one.
        const set_cookie = browsers.cookieFor(request, { id: user_id, password_hash })
        return { body: single(await profileOf(tx, user_id)), set_cookie }
      })
    },
  )
}
