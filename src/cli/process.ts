import { runCommand } from './run.ts'

/** Runs the command line of this process, and ends it. */
export async function runProcess(words: string[], env: Record<string, string | undefined>): Promise<void> {
  const serves = words[0] === 'serve'
  let lost = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A reader that has ended, such as `head`, wants no more.
    if (lost || code === 'EPIPE') return
    lost = true
    if (!serves) process.exitCode = 1
    const state = serves ? 'The service goes on.' : 'The command has run. If it made a key, revoke it.'
    console.error(`rapport: The output could not be written: ${message}. ${state}`)
  })
  const exit_code = await runCommand(words, {
    out: (line) => console.log(line),
    err: (line) => console.error(line),
    ...(process.stderr.isTTY && { status: (text: string) => void process.stderr.write(`\r\x1b[K${text}`) }),
    terminal: process.stdout.isTTY === true,
    env,
  })
  process.exitCode = lost && !serves ? 1 : exit_code
  // Exit explicitly: an open handle must not keep a finished command running.
  setTimeout(() => process.exit(), 1000).unref()
}
