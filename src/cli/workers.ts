import cluster, { type Worker } from 'node:cluster'
import { on, once } from 'node:events'
import type { Config } from '../config.ts'
import { lockFolder } from '../db/engines/sqlite/lock.ts'
import type { Peers } from '../http/metrics.ts'
import type { Running } from '../server.ts'
import type { Io } from './command.ts'

type Started = { started: Pick<Running, 'url' | 'first_key' | 'first_key_file' | 'setup_url'> }
// Messages between workers. The main process forwards them: to one worker, or without `to`, to all others.
type Question = { question: number; from?: number; to?: undefined }
type Answer = { answer: string; question: number; from?: number; to: number }

/** The variable that marks a process as a worker: "first" for the first one, "next" for the others. */
export const worker_variable = 'RAPPORT_WORKER'

const pause_before_next_ms = 1000
// A worker that does not answer within this time is left out.
const patience_ms = 1000

/**
 * Starts `config.web_concurrency` workers on one port. Each runs the whole service, and connections go to them in turn. A
 * worker that ends is replaced. Resolves when all workers answer.
 */
export async function startWorkers(config: Config, io: Io): Promise<Running> {
  // The main process locks the SQLite folder for all its workers.
  const release = config.database_url === null ? lockFolder(config.data_dir) : () => {}
  let stopping = false

  async function fork(which: 'first' | 'next'): Promise<Started['started']> {
    const worker = cluster.fork({ [worker_variable]: which })
    const started = await new Promise<Started['started']>((resolve, reject) => {
      worker.on('message', (message: Started | Question | Answer) => {
        if ('started' in message) resolve(message.started)
        else passOn(worker, message)
      })
      worker.once('exit', () => reject(new Error('A worker could not start. See the messages above.')))
    })
    worker.once('exit', (code, signal) => replace(worker, signal ?? code))
    return started
  }

  function replace(worker: Worker, reason: unknown) {
    if (stopping) return
    io.err(`rapport: process ${worker.process.pid} ended (${reason}): starting another one.`)
    const again = () => {
      if (!stopping) fork('next').catch(() => setTimeout(again, pause_before_next_ms))
    }
    setTimeout(again, pause_before_next_ms)
  }

  async function stop() {
    stopping = true
    const running = workers()
    const ended = running.map((worker) => once(worker, 'exit'))
    for (const worker of running) worker.process.kill('SIGTERM')
    await Promise.all(ended)
    release()
  }

  try {
    // The first worker runs the migrations and the first setup before the others start.
    const first = await fork('first')
    await Promise.all(Array.from({ length: config.web_concurrency - 1 }, () => fork('next')))
    return { ...first, wake() {}, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)

function passOn(from: Worker, message: Question | Answer) {
  for (const worker of workers()) {
    const addressed = message.to === undefined ? worker !== from : worker.id === message.to
    if (addressed && worker.isConnected()) worker.send({ ...message, from: from.id }, () => {})
  }
}

/** Tells the main process that this worker answers requests. */
export const tellStarted = ({ url, first_key, first_key_file, setup_url }: Running) =>
  process.send?.({ started: { url, first_key, first_key_file, setup_url } } satisfies Started)

/** The connection of this worker to the `count` other workers. */
export function joinWorkers(count: number): Peers {
  let questions = 0
  return {
    answerWith(read) {
      process.on('message', ({ question, from = 0, ...rest }: Question | Answer) => {
        if (!('answer' in rest)) process.send?.({ answer: read(), question, to: from } satisfies Answer)
      })
    },
    async ask() {
      const question = ++questions
      const answers: string[] = []
      const signal = AbortSignal.timeout(patience_ms)
      process.send?.({ question } satisfies Question)
      try {
        for await (const [message] of on(process, 'message', { signal }))
          if ('answer' in message && message.question === question && answers.push(message.answer) === count)
            break
      } catch (error) {
        if (!signal.aborted) throw error
      }
      return answers
    },
  }
}
