import { runCommand } from '../src/cli/run.ts'
import { settingsOf } from './engine.ts'

/** Runs a command as a process of its own would, on connections of its own, but without its start. */
export async function runRapport(words: string[], env: Record<string, string>) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCommand(words, {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env: { ...(env.DATA_DIR && (await settingsOf(env.DATA_DIR))), ...env },
  })
  return { code, out, stdout: out.join('\n'), stderr: err.join('\n'), last: out.at(-1) ?? '' }
}
