import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import { lockEntry } from '../db/locks.ts'
import { sidesOf } from '../events/audit.ts'
import { changesBetween } from '../events/changes.ts'
import { any_session, type StillIn } from '../http/auth.ts'
import { Single, single } from '../http/envelope.ts'
import { blaming, type FieldProblem, invalid } from '../http/errors.ts'
import { checkMatch, sendRecord } from '../http/etag.ts'
import { changesOf } from '../http/patch.ts'
import type { App } from '../http/server.ts'
import { bodyProblems } from '../http/validation.ts'
import type { Writer } from '../http/write.ts'
import { placed, placeProblems } from './fields.ts'
import { isInvited } from './invitations.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { recordOfPerson } from './memberships.ts'
import { checkPassword, hashPassword, passwordProblems } from './passwords.ts'
import { PasswordBody, Profile, ProfileBody } from './schema.ts'
import { endSessions } from './sessions.ts'
import { placeOf, profileOf } from './signed-in.ts'
import type { Throttle } from './throttle.ts'
import { emailKey, findUser, setPassword } from './users.ts'

const path = '/api/v1/profile'
const fields = ['name', 'email', 'time_zone', 'language'] as const
const taken: FieldProblem = {
  field: 'email',
  code: 'taken',
  message: 'email is that of somebody else, or of an open invitation.',
}
const wrong: FieldProblem = {
  ...{ field: 'current_password', code: 'wrong' },
  message: 'current_password is not your password.',
}

type Deps = { db: Db; write: Writer; stillIn: StillIn; throttle: Throttle; browsers: KnownBrowsers }

/** What a person may change of the own account. */
export function profileRoutes(app: App, { db, write, stillIn, throttle, browsers }: Deps): void {
  app.get(
    path,
    {
      config: { scope: any_session },
      schema: { 'x-extension': true, summary: 'Read the own profile', response: { 200: Single(Profile) } },
    },
    async (request, reply) => sendRecord(request, reply, await profileOf(db, placeOf(request).user_id)),
  )

  /** Checks the own password; the session's tries are counted. Returns its hash, or null for a wrong one. */
  async function proven(request: FastifyRequest, password: string) {
    const { session_id, user_id } = placeOf(request)
    const user = await findUser(db, user_id)
    if (!user) return null
    const asker = { shown: true, key: user_id }
    const check = () => checkPassword(password, user.password_hash, asker)
    const right = await throttle.proveOwn(`session ${session_id}`, check)
    return right ? user.password_hash : null
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
      const { current_password } = request.body
      const { email } = await profileOf(db, user_id)
      const moves = request.body.email !== undefined && request.body.email !== email
      const proof =
        moves && typeof current_password === 'string' ? await proven(request, current_password) : null
      if (proof) await throttle.countMove(user_id)
      return write(request, reply, async (tx, context, problems) => {
        await lockEntry(tx, 'users', user_id)
        await stillIn(tx, request)
        const before = await profileOf(tx, user_id)
        checkMatch(request, before)
        const changes = changesOf(placed(request.body), before, fields)
        const all = [...problems, ...placeProblems(changes)]
        if (changes.email !== undefined && !proof) {
          const field = 'current_password'
          all.push(
            current_password === undefined
              ? { field, code: 'required', message: 'current_password is needed to change the e-mail.' }
              : wrong,
          )
        }
        if (all.length) throw invalid(all)
        if (!Object.keys(changes).length) return { record: before }
        const { name, email, time_zone, language } = { ...before, ...changes }
        // Nobody proves that an e-mail is his: who is invited by it must be able to come.
        const moves = emailKey(email) !== emailKey(before.email)
        if (moves && (await isInvited(tx, context.now, email))) throw invalid([taken])
        const values = {
          name,
          email,
          time_zone,
          language,
          email_key: emailKey(email),
          updated_at: context.now,
          // Whoever got it by the old address sets no password of the new one.
          ...(moves && { reset_hash: null, reset_expires_at: null }),
        }
        await blaming('users_email_key', taken, () =>
          tx.updateTable('users').set(values).where('id', '=', user_id).execute(),
        )
        const after = await profileOf(tx, user_id)
        const told = changesBetween(before, after, fields)
        if (told) await recordOfPerson(tx, context, user_id, { action: 'updated', ...sidesOf(told, after) })
        return { record: after }
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
        ? await hashPassword(String(new_password), { shown: true, key: user_id })
        : ''
      return write(request, reply, async (tx, context, problems) => {
        const all = [...problems, ...bad]
        await lockEntry(tx, 'users', user_id)
        await stillIn(tx, request)
        // Changed while it was checked: then it is not the current one any more.
        const current = (await findUser(tx, user_id))?.password_hash
        if (!all.length && (!proof || proof !== current)) all.push(wrong)
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
