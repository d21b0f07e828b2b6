import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { client, type Rapport, startRapport } from './harness.ts'
import { mailSettings } from './mails.ts'

// The service in a process of its own, with a limited heap, that measures how long its event loop computes without a turn.

export type Measured = Pick<Rapport, 'url' | 'key' | 'data_dir' | 'setup_url'>
type Question = 'begin' | 'end' | 'stop'

const used_ms = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest time of the processor between two turns of this thread, from `begin` to `end`, in ms. */
function startMeter() {
  let before_ms = used_ms()
  let longest_ms = 0
  const look = () => {
    const now_ms = used_ms()
    longest_ms = Math.max(longest_ms, now_ms - before_ms)
    before_ms = now_ms
  }
  let timer: NodeJS.Timeout | undefined
  return {
    begin() {
      before_ms = used_ms()
      longest_ms = 0
      timer = setInterval(look, 1)
    },
    async end() {
      await pause(2)
      clearInterval(timer)
      look()
      return longest_ms
    },
  }
}

/** Starts it with a heap of so many MiB. */
export async function startMeasured(heap_mib: number) {
  const child = fork(import.meta.filename, { execArgv: [`--max-old-space-size=${heap_mib}`] })
  const exited = once(child, 'exit')
  const ask = async (question: Question) => {
    child.send(question)
    const [answer] = await Promise.race([once(child, 'message'), exited.then(() => [null])])
    if (answer === null) throw new Error('The process of the service has ended.')
    return answer as number
  }
  const [service] = (await once(child, 'message')) as [Measured]
  return {
    ...service,
    call: client(service.url, service.key),
    begin: () => ask('begin'),
    end: () => ask('end'),
    async close() {
      child.send('stop' satisfies Question)
      await exited
    },
  }
}

async function serve(): Promise<void> {
  const rapport = await startRapport({ env: { ...mailSettings('smtp://127.0.0.1:9'), MAX_WEBHOOKS: '200' } })
  const meter = startMeter()
  process.on('message', async (question: Question) => {
    if (question === 'stop') return rapport.close().then(() => process.disconnect())
    if (question === 'begin') meter.begin()
    process.send?.(question === 'end' ? await meter.end() : 0)
  })
  const { url, key, data_dir, setup_url } = rapport
  process.send?.({ url, key, data_dir, setup_url })
}
if (process.argv[1] === import.meta.filename && process.send) void serve()
