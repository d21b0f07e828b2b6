import { setTimeout as pause } from 'node:timers/promises'
import type { Operation } from './history.ts'
import { createChance } from './random.ts'
import { isDone, isUnknown, type Recorder } from './recorder.ts'

export const all_events = [
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'company.created',
  'company.updated',
  'company.deleted',
  'deal.created',
  'deal.updated',
  'deal.stage_changed',
  'deal.won',
  'deal.lost',
  'deal.deleted',
  'activity.created',
  'activity.completed',
  'appointment.created',
  'appointment.updated',
  'appointment.cancelled',
]

type Setting = { seed: number; recorder: Recorder; url: string; stop: () => boolean; pause_ms: number }

/** Registers, pauses, resumes, rotates and deletes webhooks, one thing after the other. Client 0 of a history. */
export function createAdministrator({ seed, recorder, url, stop, pause_ms }: Setting) {
  const chance = createChance(seed)
  const hooks: { id: string; paused: boolean }[] = []
  let made = 0
  const newSecret = () => `whsec_${Buffer.from(chance.text(32)).toString('base64')}`
  const path = '/webhooks'

  // Repeat each request until it is answered, so that its outcome is known. The requests are idempotent.
  async function ask(
    request: Omit<Parameters<Recorder['send']>[0], 'client' | 'resource' | 'method'>,
    method = 'POST',
  ): Promise<Operation> {
    for (;;) {
      const operation = await recorder.send({ client: 0, resource: 'webhooks', method, ...request })
      if (!isUnknown(operation) && operation.status !== 409) return operation
      await pause(50)
    }
  }

  /**
   * Registers a webhook at a path of the receiver. It chooses the secret, so the secret is known even if the answer is
   * lost.
   */
  async function register(name: string, events: readonly string[]): Promise<string> {
    const mark = `hook-${name}-${seed}`
    const body = { name: mark, url: `${url}/${name}`, events, secret: newSecret() }
    const operation = await ask({ what: 'register', path, body, mark, idempotency_key: mark })
    if (!isDone(operation)) throw new Error(`A webhook was refused: ${operation.status}`)
    return operation.data.id
  }

  async function doOne() {
    const one = hooks.length ? chance.oneOf(hooks) : null
    const what = chance.weighted({
      register: hooks.length < 4 ? 5 : 0,
      pause: 3,
      resume: 3,
      rotate: 3,
      delete: 2,
    })
    if (what === 'register') {
      const events = all_events.filter(() => chance.below(2))
      const id = await register(`some-${++made}`, events.length ? events : all_events)
      hooks.push({ id, paused: false })
    } else if (one) await change(what, one)
  }

  async function change(what: 'pause' | 'resume' | 'rotate' | 'delete', one: (typeof hooks)[number]) {
    const { id } = one
    if (what === 'delete') {
      hooks.splice(hooks.indexOf(one), 1)
      // A second DELETE is 404: the first was done.
      await ask({ what, path: `${path}/${id}`, id }, 'DELETE')
    } else if (what === 'rotate') {
      const body = { secret: newSecret(), overlap_hours: chance.oneOf([0, 48]) }
      const idempotency_key = `rotate-${body.secret}`
      await ask({ what, path: `${path}/${id}/rotate-secret`, id, body, idempotency_key })
    } else {
      await ask({ what, path: `${path}/${id}/${what}`, id })
      one.paused = what === 'pause'
    }
  }

  return {
    register,
    async run() {
      while (!stop() && !recorder.isFull()) {
        await doOne()
        await pause(chance.below(2 * pause_ms))
      }
      // Deliveries that waited during a pause must be sent.
      for (const one of hooks.filter(({ paused }) => paused)) await change('resume', one)
    },
  }
}
