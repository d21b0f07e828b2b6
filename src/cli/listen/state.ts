import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../db/folder.ts'
import { generateSecret, secretProblem } from '../../webhooks/delivery/signature.ts'

/** The state of a listener: its position in the feed, and the secret that signs. */
export type State = {
  file: string
  secret: string
  /** The position after the last event that is done; null before the first start has read one. */
  cursor: string | null
  /** Keeps a position. `now` is false for events that are left out: at most one write a second. */
  reach(cursor: string, now: boolean): void
  /** Writes the last position. */
  close(): void
}

/** The file of a listener: one for each service, key, target and webhook, in the user's folder for such files. */
export function stateFile(env: Record<string, string | undefined>, parts: readonly string[]): string {
  const home = env.HOME ?? env.USERPROFILE
  const folder = env.XDG_STATE_HOME || env.LOCALAPPDATA || (home && join(home, '.local/state'))
  if (!folder) throw new Error('The folder of this user is unknown. Name a file: --state FILE')
  const name = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)
  return join(folder, 'rapport', `listen-${name}.json`)
}

const between_writes_ms = 1000

/** Opens the state of a listener, or makes it with a new secret. */
export function openState(file: string): State {
  const stored = read(file)
  const secret = stored?.secret ?? generateSecret()
  let written = stored?.cursor ?? null
  let written_ms = -Infinity
  const state: State = {
    file,
    secret,
    cursor: written,
    reach(cursor, now) {
      state.cursor = cursor
      if (now || performance.now() - written_ms > between_writes_ms) state.close()
    },
    close() {
      if (state.cursor === null || state.cursor === written) return
      write(file, { cursor: state.cursor, secret })
      written = state.cursor
      written_ms = performance.now()
    },
  }
  return state
}

type Stored = { cursor: string; secret: string }

function read(file: string): Stored | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  try {
    const { cursor, secret } = JSON.parse(text)
    // The position is sent as a header, and a receiver verifies with the secret.
    if (isText(cursor) && isText(secret) && secretProblem(secret) === null) return { cursor, secret }
  } catch {}
  throw new Error(`${file} is damaged. Delete it to start at the present end of the feed.`)
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)

// Flushed and renamed, so that a power cut leaves the old position or the new one.
function write(file: string, stored: Stored): void {
  const partial = `${file}.${process.pid}`
  try {
    makeFolder(dirname(file), 0o700)
    const handle = openSync(partial, 'w', 0o600)
    writeSync(handle, `${JSON.stringify(stored)}\n`)
    fsyncSync(handle)
    closeSync(handle)
    renameSync(partial, file)
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}
