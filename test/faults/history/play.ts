import { setTimeout as pause } from 'node:timers/promises'
import { settableClock } from '../../set-clock.ts'
import { total, until } from '../../webhooks.ts'
import { type Service, startService } from '../service.ts'
import { all_events, createAdministrator } from './administrator.ts'
import { runClient } from './clients.ts'
import { followEvents } from './follower.ts'
import type { Deed, History, Resource } from './history.ts'
import { type Chance, createChance } from './random.ts'
import { readAll } from './read.ts'
import { startReceivers } from './receivers.ts'
import { createRecorder, isDone, isUnknown, now_ms, type Recorder } from './recorder.ts'

export type Play = {
  seed: number
  kills: number
  /** The most requests: to find a shorter history with the same fault. */
  operations?: number
  /** After the last kill, the clients continue to this number of requests, and until a delivery succeeded at its second try. */
  least?: number
  data_dir: string
  /** The roles of each process; SQLite has one. */
  processes: string[]
  env?: Record<string, string>
  clients?: number
  /** How long a client waits between two requests, on average. */
  pause_ms?: number
  /** How long a process lives before the next kill, on average. */
  life_ms?: number
  /** Other faults, each now and then in place of a kill. */
  others?: Record<string, () => Promise<void>>
}

const retry_delays_ms = [300, 600, 1200]
// On PostgreSQL, a lease must expire: no process knows that its owner has ended.
const patience_ms = 90_000

/** Plays a history: clients at work, faults meanwhile, then rest; and reads at the end what came of it. */
export async function play(wishes: Play): Promise<History> {
  const { seed, kills, clients = 8, pause_ms = 40, operations, least = 0 } = wishes
  const deeds: Deed[] = []
  const chance = createChance(seed ^ 0xfa)
  const clock = await settableClock(wishes.data_dir, wishes.env?.DATABASE_URL)
  const env = { ...wishes.env, ...clock.env }
  const hour_ms = 3_600_000
  const turn = () => clock.set(chance.oneOf([0, hour_ms, -hour_ms, hour_ms / 6, -hour_ms / 6]))
  const others = { 'turn the clock': turn, ...wishes.others }
  const services = await startServices({ ...wishes, env })
  const receivers = await startReceivers(seed)
  const recorder = createRecorder(services.urls, () => services.key, operations)
  const follower = followEvents(services.urls, services.key)
  try {
    let over = false
    const stop = () => over
    const administrator = createAdministrator({ seed, recorder, url: receivers.url, stop, pause_ms: 200 })
    await administrator.register('all', all_events)
    const shared = await makeShared(recorder, seed)
    const working = Promise.all([
      administrator.run(),
      ...Array.from({ length: clients }, (_, at) =>
        runClient({ number: at + 1, seed, recorder, shared, stop, pause_ms }),
      ),
    ])
    // Report failures after the faults.
    working.catch(() => {})
    await disturb({ ...wishes, env, others }, { services, chance, deeds, kills, isFull: recorder.isFull })
    const since_ms = now_ms()
    await until(
      async () => recorder.operations.length,
      (length) => recorder.isFull() || !least || (length >= least && receivers.hasRetried(since_ms)),
    )
    over = true
    await working
    receivers.heal()
    const { call } = services.any()
    await untilDelivered(call)
    const reading = await readAll(call, recorder.operations)
    await until(
      async () => follower.followed.length,
      (length) => length >= reading.events.length,
      10_000,
    ).catch(() => {})
    if (services.crashes.length) throw new Error('a process ended by itself')
    return {
      seed,
      retry_delays_ms,
      operations: recorder.operations,
      receipts: receivers.receipts,
      deeds,
      followed: [...follower.followed],
      shared,
      reading,
    }
  } catch (error) {
    throw services.crashes.length ? new Error(services.crashes.join('\n'), { cause: error }) : error
  } finally {
    await follower.stop()
    await services.end()
    receivers.close()
  }
}

/** Waits until no delivery is pending. Throws with the first pending ones when none has ended for so long. */
async function untilDelivered(call: Service['call']): Promise<void> {
  let [least, since_ms] = [Infinity, 0]
  for (;;) {
    const left = await total(call, 'status=pending')
    if (left === 0) return
    if (left < least) [least, since_ms] = [left, now_ms()]
    if (now_ms() - since_ms > patience_ms) {
      const { body } = await call('GET', '/api/v1/deliveries?status=pending&per_page=5')
      throw new Error(`${left} deliveries stay pending, such as ${JSON.stringify(body.data)}`)
    }
    await pause(200)
  }
}

async function startServices({ data_dir, processes, env = {} }: Play) {
  const settings = {
    WEBHOOK_TIMEOUT_MS: '1000',
    WEBHOOK_RETRY_DELAYS: retry_delays_ms.map((ms) => ms / 1000).join(),
    LOG_LEVEL: 'fatal',
    ...env,
  }
  const running: (Service | null)[] = []
  const crashes: string[] = []
  let key = ''
  const start = async (at: number) => {
    const service = await startService(data_dir, {
      env: settings,
      key,
      words: ['--roles', processes[at] as string],
    })
    running[at] = service
    key = service.key
    void service.exited.then(([code, signal]) => {
      // replace() and end() take a process off the list before they end it.
      if (running[at] === service)
        crashes.push(`process ${at} ended with ${code ?? signal}: ${service.complaints()}`)
    })
  }
  for (const at of processes.keys()) await start(at)
  const alive = () => running.filter((one, at) => one && processes[at]?.includes('api')) as Service[]
  return {
    key,
    urls: () => alive().map(({ url }) => url),
    any: () => alive()[0] as Service,
    /** The processes that ended without a kill or a stop. */
    crashes,
    /** Ends a process, and starts another one in its place. */
    async replace(at: number, signal: 'SIGKILL' | 'SIGTERM') {
      const victim = running[at]
      running[at] = null
      await victim?.end(signal)
      await start(at)
    },
    end: () => Promise.all(running.splice(0).map((one) => one?.end('SIGKILL'))),
  }
}
type Services = Awaited<ReturnType<typeof startServices>>

type Disturbance = { services: Services; chance: Chance; deeds: Deed[]; kills: number; isFull: () => boolean }

async function disturb(
  { processes, life_ms = 800, others = {} }: Play,
  { services, chance, deeds, kills, isFull }: Disturbance,
) {
  // Each other fault at least once, however few kills there are.
  const due = Object.keys(others)
  for (let killed = 0; killed < kills || due.length; ) {
    if (isFull()) return
    await pause(chance.below(2 * life_ms))
    const what = chance.weighted({ kill: 8, stop: 1, other: killed < kills ? 2 * due.length + 1 : 100 })
    if (what === 'other') {
      const name = due.shift() ?? chance.oneOf(Object.keys(others))
      deeds.push({ at_ms: now_ms(), what: name })
      await others[name]?.()
      continue
    }
    const at = chance.below(processes.length)
    deeds.push({ at_ms: now_ms(), what: `${what} ${at}` })
    await services.replace(at, what === 'kill' ? 'SIGKILL' : 'SIGTERM')
    if (what === 'kill') killed++
  }
}

/** Records that all clients change. */
async function makeShared(recorder: Recorder, seed: number) {
  const shared: History['shared'] = []
  for (const [resource, fields] of [
    ['contacts', { first_name: 'Ana', last_name: `mark-${seed}-shared-contact` }],
    ['companies', { name: `mark-${seed}-shared-company` }],
    ['deals', { name: `mark-${seed}-shared-deal` }],
  ] as [Resource, object][]) {
    const mark = String(Object.values(fields).at(-1))
    const request = {
      client: 0,
      what: 'create',
      resource,
      method: 'POST',
      path: `/${resource}`,
      body: fields,
      mark,
      idempotency_key: mark,
    }
    let made = await recorder.send(request)
    while (isUnknown(made)) made = await recorder.send(request)
    if (!isDone(made)) throw new Error(`A shared record was refused: ${made.status}`)
    shared.push({ resource, id: made.data.id })
  }
  return shared
}
