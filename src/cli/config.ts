import { describeConfig } from '../config.ts'
import type { Command } from './command.ts'

export const config: Command = {
  notes: ['Each line is NAME=value  # meaning. Secrets are hidden.'],
  async run({ config, io }) {
    for (const line of describeConfig(config())) io.out(line)
    return 0
  },
}
