import module from 'node:module'
import type { Config } from '../config.ts'
import { command, printFile } from '../installed.ts'
import { type ProcessRole, type Running, roles, startServer } from '../server.ts'
import { openWebApp } from '../web/open.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { freeStartMemory, limitOldGeneration, limitYoungGeneration } from './memory.ts'
import { onStopSignal } from './signals.ts'
import { joinWorkers, startWorkers, tellStarted, worker_variable } from './workers.ts'

export const serve: Command = {
  options: {
    roles: { value: 'LIST', about: 'api, dispatcher, or both, which is the default: api,dispatcher' },
  },
  notes: [
    `The settings are environment variables: ${command('config')}`,
    'With DATABASE_URL any number of processes may serve, on any number of machines; WEB_CONCURRENCY=N starts N here.',
  ],
  async run({ options, config, io }) {
    limitYoungGeneration()
    limitOldGeneration()
    const mine = rolesOf(options.roles)
    const settings = config()
    const worker = io.env[worker_variable]
    const many = settings.web_concurrency > 1
    const signals = followSignals(io)
    // The main process has built the web app for its workers. A process that only delivers does not need it.
    const web_files = mine.includes('api') ? await openWebApp(io.err) : null
    const start = async () => {
      if (many && !worker) return startWorkers(settings, io)
      if (!worker) return startServer(settings, { roles: mine, web_files })
      const peers = joinWorkers(settings.web_concurrency - 1)
      const folder = worker === 'first' ? 'given' : 'shared'
      return startServer(settings, { roles: mine, peers, folder, web_files })
    }
    const running = await start().catch((error) => {
      throw listenError(error, settings) ?? error
    })
    if (worker) tellStarted(running)
    else greet(running, io, web_files !== null)
    // Flush the compile cache now: kill -9 would skip the flush at exit.
    setTimeout(() => {
      module.flushCompileCache()
      freeStartMemory()
    }, 1000).unref()
    return signals.stopped(running)
  },
}

function rolesOf(list: string = roles.join()): ProcessRole[] {
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(roles as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new UsageError(`--roles: "${unknown}" is not a role. The roles are ${roles.join(' and ')}.`)
  return names as ProcessRole[]
}

function greet(running: Running, io: Io, has_web_app: boolean) {
  const { url, first_key, first_key_file, setup_url } = running
  // A wildcard address cannot be opened in a browser, so print the loopback address.
  const openable = (url: string) => url.replace('//[::]:', '//[::1]:')
  const address = openable(url)
  const lines = [`Rapport serves ${address}`]
  if (first_key) lines.push(...firstSteps(address, first_key, first_key_file, io))
  if (setup_url && has_web_app) lines.push('', `Open ${openable(setup_url)} to create your account`)
  if (setup_url && !has_web_app) lines.push('', without_web_app)
  io.out(...lines)
}

// Without the web app, the link would lead to a page that is not served.
const without_web_app =
  'This start serves the API without the web app. To have both, run npm ci without --omit=dev and start again.'

// A journal or a log would store the key, so it gets the path. Without a file, this is the only place.
function firstSteps(address: string, key: string, file: string | null, { terminal }: Io): string[] {
  const shown = terminal || !file
  const about = shown
    ? [`Your first API key${file ? `, which ${file} keeps` : ' (shown this once, keep it)'}:`, `  ${key}`]
    : [`Your first API key is in ${file}. To read it:`, `  ${printFile(file)}`]
  return [
    '',
    ...about,
    '',
    'Create a contact:',
    `  curl ${address}/api/v1/contacts -H "Authorization: Bearer ${shown ? key : `$(${printFile(file)})`}" -H 'Content-Type: application/json' -d '{"first_name":"Ada","last_name":"Lovelace"}'`,
    '',
    `Everything else, to read and to try: ${address}/docs`,
  ]
}

// The first signal stops after the requests in flight; a second one stops at once. A signal during the start ends the
// process: nothing is in flight, and the start is atomic. Listen before the start: process 1 of a container gets no signal
// without a listener.
function followSignals(io: Io) {
  let stop: () => void = () => process.exit(0)
  onStopSignal(() => stop())
  return {
    /** Resolves with the exit code after a signal, when the service has stopped. */
    stopped: (running: Running): Promise<number> =>
      new Promise((resolve) => {
        stop = () => {
          running.stop().then(
            () => resolve(0),
            (error: Error) => {
              io.err(`rapport: stopping failed: ${error.message}`)
              resolve(1)
            },
          )
        }
      }),
  }
}

function listenError(error: { code?: string; syscall?: string }, { port, host }: Config): Error | null {
  const { code, syscall } = error
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} on ${host} is in use. Set PORT to another one (0: any free one).`)
  if (code === 'EACCES' && syscall === 'listen')
    return new Error(`This user may not listen on port ${port}. Set PORT to one above 1023.`)
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return new Error(`${host} is not an address of this machine. Set HOST to one, such as 127.0.0.1.`)
  return null
}
