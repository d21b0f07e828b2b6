import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from './random.ts'

const hour_ms = 3_600_000

/** A wall clock for all processes of a history, which can be set: their environment, and the fault that sets it. */
export function createTurnedClock(data_dir: string, chance: Chance) {
  const file = join(data_dir, 'turned-clock')
  writeFileSync(file, '0')
  const preload = new URL('turned-clock.ts', import.meta.url)
  return {
    env: { TURNED_CLOCK: file, NODE_OPTIONS: `--import ${preload}` },
    async turn() {
      writeFileSync(file, String(chance.oneOf([0, hour_ms, -hour_ms, hour_ms / 6, -hour_ms / 6])))
    },
  }
}
