import type { Config } from '../config.ts'
import { command as commandLine } from '../installed.ts'

/** Where a command writes its lines and finds the environment. */
export type Io = {
  /** Writes lines together. Control characters in them become escapes. */
  out(...lines: string[]): void
  err(...lines: string[]): void
  /** Shows a status line that the next text replaces and '' clears. Only present on a terminal. */
  status?(text: string): void
  /** Whether a person reads the lines now. Otherwise they may stay in a log, so no secret belongs into them. */
  terminal?: boolean
  env: Record<string, string | undefined>
}

/** The input of a command: its options by name, its flags, its operands in order, and the settings, which config() reads. */
export type Given = {
  options: Record<string, string | undefined>
  flags: ReadonlySet<string>
  operands: string[]
  config(): Config
  io: Io
}

/** An option takes a value, whose name in the help is `value`. */
export type Option = { value: string; about: string; required?: true }

/** A command. `run` resolves with the exit code. An error is printed as one line, with exit code 1. */
export type Command = {
  options?: Record<string, Option>
  /** Options without a value: the name and what it does. */
  flags?: Record<string, string>
  /** `[NAME]` is optional. */
  operands?: string[]
  /** Lines that the help shows at the end. */
  notes?: string[]
  run(given: Given): Promise<number>
}

/** The description of a command or a group, available without loading the command. */
export type CommandEntry =
  | { about: string; load: () => Promise<Command> }
  | { about: string; commands: Record<string, CommandEntry> }

/** The command line is wrong: prints the usage, with exit code 2. */
export class UsageError extends Error {}

/** An error of one of several databases. Its message begins with `place`; `cause` is the error itself. */
export class ErrorAt extends Error {
  readonly place: string
  constructor(place: string, cause: unknown) {
    super(`${place}: ${(cause as Error).message}`, { cause })
    this.place = place
  }
}

/** The options and operands for the help, such as `--name N [--scopes LIST]`. */
function synopsis({ options = {}, flags = {}, operands = [] }: Command): string {
  const parts = Object.entries(options).map(([name, { value, required }]) =>
    required ? `--${name} ${value}` : `[--${name} ${value}]`,
  )
  return [...parts, ...Object.keys(flags).map((name) => `[--${name}]`), ...operands].join(' ')
}

const table = (rows: [string, string][]) => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

/** The usage of one command. */
export function commandHelp(path: string[], about: string, command: Command): string[] {
  const options = Object.entries(command.options ?? {}).map(([name, option]): [string, string] => [
    `--${name} ${option.value}`,
    option.about,
  ])
  const flags = Object.entries(command.flags ?? {}).map(([name, about]): [string, string] => [
    `--${name}`,
    about,
  ])
  return [
    `Usage: ${commandLine([...path, synopsis(command)].join(' ')).trim()}`,
    '',
    `${about}.`,
    '',
    ...table([...options, ...flags, ['--help', 'Show this']]),
    ...(command.notes ? ['', ...command.notes] : []),
  ]
}

/** The commands of a group, or all of them. */
export function groupHelp(path: string[], entries: Record<string, CommandEntry>): string[] {
  const rows = Object.entries(entries).map(([name, entry]): [string, string] => [
    [...path, name].join(' '),
    'commands' in entry ? `${entry.about}: ${Object.keys(entry.commands).join(', ')}` : entry.about,
  ])
  return [
    `Usage: ${commandLine([...path, 'COMMAND'].join(' '))}`,
    '',
    ...table(rows),
    '',
    'Run a command with --help for its options.',
  ]
}
