import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { write_mend, writeProblem } from '../db/folder.ts'
import { command as commandLine } from '../installed.ts'
import { visible } from '../visible.ts'
import {
  type Command,
  type CommandEntry,
  commandHelp,
  ErrorAt,
  type Given,
  groupHelp,
  type Io,
  UsageError,
} from './command.ts'
import { commands } from './commands.ts'

const isHelp = (word: string | undefined) => word === '--help' || word === '-h' || word === 'help'

/** Where the process writes texts, each with its line breaks. */
export type Output = Pick<Io, 'status' | 'terminal' | 'env'> & Record<'out' | 'err', (text: string) => void>

// Names and messages come from servers, files and the database.
const shownOn = ({ out, err, status, ...rest }: Output): Io => ({
  ...rest,
  out: (...lines) => out(lines.map(visible).join('\n')),
  err: (...lines) => err(lines.map(visible).join('\n')),
  ...(status && { status: (text: string) => status(visible(text)) }),
})

/** Runs one command line and returns its exit code: 0, 1 when it failed, 2 when the command line itself is wrong. */
export async function runCommand(words: string[], output: Output): Promise<number> {
  const io = shownOn(output)
  const path: string[] = []
  let entries = commands
  for (;;) {
    const word = words[path.length]
    if (word === undefined || isHelp(word)) {
      const write = word ? io.out : io.err
      for (const line of groupHelp(path, entries)) write(line)
      return word ? 0 : 2
    }
    if (word === '--version' && !path.length) {
      io.out((await import('../version.ts')).version)
      return 0
    }
    const entry = Object.hasOwn(entries, word) ? entries[word] : undefined
    if (!entry) {
      const known = Object.keys(entries).join(', ')
      const what = word.startsWith('-') ? 'option' : 'command'
      io.err(`rapport: there is no ${what} "${[...path, word].join(' ')}". The commands are: ${known}.`)
      return 2
    }
    path.push(word)
    if ('load' in entry) return runEntry(path, entry, words.slice(path.length), io)
    entries = entry.commands
  }
}

async function runEntry(
  path: string[],
  { about, load }: Extract<CommandEntry, { load: unknown }>,
  words: string[],
  io: Io,
): Promise<number> {
  let command: Command | undefined
  try {
    command = await load()
    const given = parse(command, words, io)
    if (given) return await command.run(given)
    for (const line of commandHelp(path, about, command)) io.out(line)
    return 0
  } catch (error) {
    if (error instanceof UsageError && command) {
      io.err(`rapport: ${error.message}`)
      for (const line of commandHelp(path, about, command)) io.err(line)
      return 2
    }
    for (const line of explain(error, { database: 'The database in DATA_DIR', io }))
      io.err(`rapport: ${line}`)
    return 1
  }
}

/** Parses the words of a command; null for --help. */
function parse(command: Command, words: string[], io: Io): Given | null {
  const { options = {}, flags = {}, operands = [] } = command
  const { values, positionals } = parseWords(command, words)
  if (values.help) return null
  const given = values as Record<string, string | undefined>
  for (const [name, { required }] of Object.entries(options))
    if (required && !given[name]?.trim()) throw new UsageError(`--${name} is required.`)
  // An unset shell variable leaves an empty argument.
  const missing = operands.find((name, at) => {
    const given = positionals[at]
    return given === undefined ? !name.startsWith('[') : !given.trim()
  })
  if (missing) throw new UsageError(`${missing.replace(/\W/g, '')} is missing.`)
  if (positionals.length > operands.length)
    throw new UsageError(`"${positionals[operands.length]}" is one word too many.`)
  return {
    options: given,
    flags: new Set(Object.keys(flags).filter((name) => given[name])),
    operands: positionals,
    config: () => readConfig(io.env),
    io,
  }
}

function parseWords({ options = {}, flags = {} }: Command, words: string[]) {
  const typed = (names: object, type: 'string' | 'boolean') =>
    Object.fromEntries(Object.keys(names).map((name) => [name, { type }]))
  try {
    return parseArgs({
      args: words,
      options: {
        ...typed(options, 'string'),
        ...typed(flags, 'boolean'),
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    // Keep the first sentence. The usage, which follows, replaces the suggestions.
    throw new UsageError((error as Error).message.split('. ')[0]?.replace(/\.?$/, '.'))
  }
}

/** The database of an error. `io` has its settings; null for one at another place, which no command of this process restores. */
type Place = { database: string; io: Io | null }

/** One line without a stack trace; for settings, one line for each problem. */
function explain(error: unknown, { database, io }: Place): string[] {
  if (error instanceof ErrorAt) {
    const lines = explain(error.cause, { database: 'The database', io: null })
    return lines.map((line) => `${error.place}: ${line}`)
  }
  if (error instanceof ConfigError) return error.message.split('\n')
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR') {
    const look = io ? ` To see the free space, run: ${commandLine('doctor')}` : ''
    const restore = io ? `Restore a backup: ${commandLine('restore FILE')}` : 'Use a backup of it.'
    // SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_CANTOPEN and SQLITE_NOTADB.
    const reasons: Record<number, string> = {
      5: 'Another process is writing to the database. Try again.',
      8: `${database} cannot be written by this user. ${write_mend}`,
      10: `The disk of the database is full or damaged.${look}`,
      11: `${database} is damaged. ${restore}`,
      13: 'The disk of the database is full. Make room.',
      14: `${database} cannot be opened by this user. ${write_mend}`,
      26: `${database} is damaged: rapport.db is not a database. ${restore}`,
    }
    const reason = (errcode ?? 0) & 0xff
    const problem = (reason === 8 || reason === 14) && io && folderProblem(io)
    return [problem || (reasons[reason] ?? `The database says: ${message}.`)]
  }
  const [line] = String(message ?? error).split('\n') as [string]
  const mend = mendOf(code, line)
  return [mend ? `${line}. ${mend}` : line]
}

/** Says why the data folder cannot be written; null without a problem. */
function folderProblem({ env }: Io): string | null {
  try {
    const problem = writeProblem(readConfig(env).data_dir)
    return problem && `${problem.message} ${problem.mend}`
  } catch {
    return null
  }
}

/** Returns advice for an error of PostgreSQL, by its SQLSTATE. The text of the server has none. */
function mendOf(code: string | undefined, line: string): string | undefined {
  if (code === '25006')
    return 'Give the URL of a server that takes writes: this one is a standby, or read-only.'
  if (code === '42P07') return 'The database has tables of another program. Create an empty one for Rapport.'
  if (code !== '42501') return undefined
  if (/ (for|of) (schema|database) /.test(line))
    return 'Make the role of Rapport the owner of the database: ALTER DATABASE name OWNER TO role'
  if (/ (for|of) (table|relation|sequence|view|index|function) /.test(line))
    return 'Another role owns the tables. Restore them with pg_restore --no-owner --role=role, or run: REASSIGN OWNED BY other TO role'
  return undefined
}
