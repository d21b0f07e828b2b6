import module from 'node:module'
import type { Config } from '../config.ts'
import { type Running, startServer } from '../server.ts'
import type { Command, Io } from './command.ts'

export const serve: Command = {
  notes: ['The settings are environment variables: rapport config'],
  async run({ config, io }) {
    const settings = config()
    const running = await startServer(settings).catch((error) => {
      throw listenError(error, settings) ?? error
    })
    greet(running, io)
    // Written now, and not only at the end, which kill -9 would skip.
    setTimeout(() => module.flushCompileCache(), 1000).unref()
    return stopped(running, io)
  },
}

function greet({ url, first_key }: Running, io: Io) {
  // Everything on this machine: an address that can be opened must be a certain one.
  const address = url.replace('//[::]:', '//[::1]:')
  const lines = [`Rapport serves ${address}`]
  if (first_key) lines.push(firstSteps(address, first_key))
  io.out(lines.join('\n'))
}

const firstSteps = (address: string, key: string) => `
Your first API key (shown this once, keep it):
  ${key}

Create a contact:
  curl ${address}/api/v1/contacts -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"first_name":"Ada","last_name":"Lovelace"}'

Everything else, to read and to try: ${address}/docs`

const same_signal_ms = 500

// The first signal lets what is in flight finish; the next one does not wait for that. Ctrl-C reaches this process from
// the terminal and once more from npm, so two at nearly the same time are one.
function stopped(running: Running, io: Io): Promise<number> {
  return new Promise((resolve) => {
    let first: number | undefined
    const onSignal = () => {
      const now = performance.now()
      if (first !== undefined && now - first > same_signal_ms) process.exit(1)
      if (first !== undefined) return
      first = now
      running.stop().then(
        () => resolve(0),
        (error: Error) => {
          io.err(`rapport: stopping failed: ${error.message}`)
          resolve(1)
        },
      )
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

function listenError(error: { code?: string; syscall?: string }, { port, host }: Config): Error | null {
  const { code, syscall } = error
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} on ${host} is in use. Set PORT to another one (0: any free one).`)
  if (code === 'EACCES' && syscall === 'listen')
    return new Error(`This user may not listen on port ${port}. Set PORT to one above 1023.`)
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return new Error(`${host} is no address of this machine. Set HOST to one, such as 127.0.0.1.`)
  return null
}
