import { isoTime } from '../clock.ts'
import type { Config } from '../config.ts'
import { keepServiceClock, type ServiceClock } from '../db/service-clock.ts'
import { command } from '../installed.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

export const show: Command = {
  notes: ['On PostgreSQL the clock is that of its server, else that of this machine.'],
  async run({ config, io }) {
    const { now, waiting } = await withClock(config(), async (clock) => ({
      now: isoTime(clock.now()),
      waiting: clock.waiting(),
    }))
    io.out(`The clock says ${now}.`)
    if (!waiting) {
      io.out('Removal runs normally.')
      return 0
    }
    io.out(`Nothing is removed for good before ${waiting.until}. ${waiting.reason}`)
    io.out(`Set the clock right. If it is right: ${command('clock confirm')}`)
    return 0
  },
}

export const confirm: Command = {
  notes: [
    `Look at the time that it prints first: ${command('clock show')}`,
    'A running service goes on with removal within 10 seconds: deleted records after TRASH_DAYS, logs after DELIVERY_LOG_DAYS.',
  ],
  async run({ config, io }) {
    const now = await withClock(config(), async (clock) => {
      await clock.confirm()
      return isoTime(clock.now())
    })
    io.out(`Clock confirmed: ${now}. Old records are removed again.`)
    return 0
  },
}

const withClock = <T>(config: Config, work: (clock: ServiceClock) => Promise<T>): Promise<T> =>
  withDatabase(config, async (database) => work(await keepServiceClock(database)))
