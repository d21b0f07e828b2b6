import { runCommand } from './run.ts'

/** Runs the command line of this process, and ends it. */
export async function runProcess(words: string[], env: Record<string, string | undefined>): Promise<void> {
  let lost = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A reader that has ended, such as `head`, wants no more.
    if (lost || code === 'EPIPE') return
    lost = true
    process.exitCode = 1
    console.error(`rapport: The output is lost: ${message}. What the command did is done.`)
  })
  const exit_code = await runCommand(words, {
    out: (line) => console.log(line),
    err: (line) => console.error(line),
    ...(process.stderr.isTTY && { status: (text: string) => void process.stderr.write(`\r\x1b[K${text}`) }),
    terminal: process.stdout.isTTY === true,
    env,
  })
  process.exitCode = lost ? 1 : exit_code
  // Exit explicitly: an open handle must not keep a finished command running.
  setTimeout(() => process.exit(), 1000).unref()
}
