import { runCommand } from './run.ts'

/** Runs the command line of this process, and ends it. */
export async function runProcess(words: string[], env: Record<string, string | undefined>): Promise<void> {
  process.exitCode = await runCommand(words, {
    out: (line) => console.log(line),
    err: (line) => console.error(line),
    ...(process.stderr.isTTY && { status: (text: string) => void process.stderr.write(`\r\x1b[K${text}`) }),
    terminal: process.stdout.isTTY === true,
    env,
  })
  // Exit explicitly: an open handle must not keep a finished command running.
  setTimeout(() => process.exit(), 1000).unref()
}
