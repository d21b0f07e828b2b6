import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { mailProblems, mailSettings } from './mails/settings.ts'
import { delays, integer, oneOf, orEmpty, type Setting, text } from './setting.ts'
import { telemetrySettings } from './telemetry/settings.ts'
import { system_folder } from './zones/folder.ts'

const folder = (path: string) => {
  if (statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Error(`must be a folder, but ${path} is a file`)
  return path
}
const urlOf =
  (example: string, ...protocols: string[]) =>
  (value: string) => {
    if (!value) return null
    const url = URL.parse(value)
    if (!url || !protocols.includes(url.protocol)) throw new Error(`must be a URL such as ${example}`)
    return value
  }
// Links append their path to it, so it must not have a path.
const origin = (value: string) => {
  if (!value) return null
  const url = URL.parse(value)
  const bare = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!bare || /[?#]/.test(value))
    throw new Error('must be an http or https origin without a path, such as https://crm.example.com')
  return url.origin
}
/** Exact origins, or `*` alone for all of them. */
const origins = (value: string) => {
  const list = value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  if (list.length === 1 && list[0] === '*') return list
  return list.map((one) => {
    const url = URL.parse(one)
    const bare = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
    if (!bare || /[?#*]/.test(one))
      throw new Error(
        'must be http or https origins without a path, separated by commas, such as https://app.example.com, or * alone',
      )
    return url.origin
  })
}
const proxy = (value: string) => {
  if (!value) return null
  const url = URL.parse(value)
  const bare = url?.protocol === 'http:' && url.pathname === '/' && !/[?#]/.test(value)
  if (!bare || !isDecodable(url.username + url.password))
    throw new Error('must be a URL such as http://proxy:3128 or http://user:password@proxy:3128')
  return url.href
}
const isDecodable = (text: string) => {
  try {
    return !/[\0-\x1f\x7f]/.test(decodeURIComponent(text))
  } catch {
    return false
  }
}
const databaseUrl = urlOf('postgres://user:password@host:5432/database', 'postgres:', 'postgresql:')
const networks = (value: string) => {
  const list = value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  for (const cidr of list) {
    const [address = '', bits = '', rest] = cidr.split('/')
    const version = isIP(address)
    if (
      !version ||
      address.includes('%') ||
      rest !== undefined ||
      !/^\d{1,3}$/.test(bits) ||
      Number(bits) > (version === 4 ? 32 : 128)
    )
      throw new Error(`has "${cidr}", which is not a network. Write CIDRs such as 10.0.0.0/8,fd12::/16`)
  }
  return list
}

const settings = {
  port: { fallback: '3000', about: 'port to listen on (0: any free one)', parse: integer(0, 65535) },
  host: { fallback: '127.0.0.1', about: 'address to listen on', parse: (value: string) => value },
  public_url: { about: 'address in links, such as https://crm.example.com', parse: origin },
  data_dir: { fallback: './data', about: 'folder of the database and the key file', parse: folder },
  database_url: {
    secret: true,
    about: 'PostgreSQL, as postgres://…; empty: SQLite in DATA_DIR',
    parse: databaseUrl,
  },
  database_replica_url: {
    secret: true,
    about: 'a read replica of it, for lists and searches',
    parse: databaseUrl,
  },
  database_pool_size: {
    fallback: '10',
    about: 'connections to PostgreSQL of each process, at most',
    parse: integer(2, 1000),
  },
  redis_url: {
    secret: true,
    about: 'Redis or Valkey that shares rate limits among processes; empty: each limits by itself',
    parse: urlOf('redis://host:6379', 'redis:', 'rediss:'),
  },
  web_concurrency: { fallback: '1', about: 'processes that serve one port', parse: integer(1, 256) },
  secret_key: {
    secret: true,
    about:
      'encrypts webhook secrets, makes salts, browser marks and address hashes; 32 characters or more; empty: a file in DATA_DIR',
    parse: text,
  },
  secret_key_old: {
    secret: true,
    about: 'the key before SECRET_KEY, until rapport rekey has ended',
    parse: text,
  },
  webhook_retry_delays: {
    fallback: '60,300,1800',
    about: 'seconds before each retry, or none',
    parse: delays,
  },
  webhook_timeout_ms: { fallback: '10000', about: 'limit of a whole attempt', parse: integer(1, 600_000) },
  webhook_allowed_networks: { about: 'private networks that webhooks may reach (CIDRs)', parse: networks },
  webhook_proxy_url: {
    secret: true,
    about: 'HTTP proxy of deliveries, as http://user:password@host:3128; empty: none',
    parse: proxy,
  },
  webhook_ca_file: {
    about: 'file of certificate authorities (PEM) that receivers may have beside the public ones',
    parse: text,
  },
  ...mailSettings,
  max_webhooks: { fallback: '100', about: 'webhooks that a workspace can have', parse: integer(1, 10_000) },
  max_import_mb: {
    fallback: '1024',
    about: 'MiB of a file that can be imported',
    parse: integer(1, 1_000_000),
  },
  delivery_log_days: {
    fallback: '30',
    about: 'days that finished deliveries stay in the log',
    parse: integer(1, 36_500),
  },
  audit_log_days: {
    about: 'days that entries of the audit log are kept; empty: no limit',
    parse: orEmpty(integer(1, 36_500)),
  },
  sign_in_address_days: {
    fallback: '30',
    about: 'days that the audit log keeps the address and the browser of a sign-in',
    parse: integer(0, 36_500),
  },
  trash_days: {
    fallback: '30',
    about: 'days after which deleted records are removed for good',
    parse: integer(1, 36_500),
  },
  rate_limit_per_second: {
    fallback: '100',
    about: 'requests a second for each key (0: no limit)',
    parse: integer(0, 1e6),
  },
  booking_rate_per_second: {
    fallback: '5',
    about: 'requests a second for each address that visits booking pages (0: no limit)',
    parse: integer(0, 1e6),
  },
  open_rate_per_second: {
    fallback: '10',
    about: 'requests a second for each address without a key, such as sign-ins (0: no limit)',
    parse: integer(0, 1e6),
  },
  trusted_proxies: {
    about: 'networks of proxies that may set the address of a visitor (CIDRs)',
    parse: networks,
  },
  cors_origins: {
    about: 'origins whose pages may call the API with a key, separated by commas, or *',
    parse: origins,
  },
  tzdir: {
    fallback: system_folder,
    about:
      'folder of compiled zone files, which count where they are newer than those of Node and of Rapport',
    parse: (value: string) => value,
  },
  log_level: {
    fallback: 'warn',
    about: 'trace, debug, info, warn, error, fatal or silent',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  ...telemetrySettings,
} satisfies Record<string, Setting<unknown>>

export type Config = {
  readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']>
}

/** The names of all variables that readConfig reads. */
export const settingNames = (): string[] =>
  Object.entries(settings).flatMap(([name, setting]) => {
    const variable = name.toUpperCase()
    return 'secret' in setting ? [variable, `${variable}_FILE`] : [variable]
  })

/** All problems of the settings, one on each line. */
export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>

/** The text of a setting. A secret may be in a file, which the variable with _FILE names. */
function textOf(env: Environment, variable: string, secret: boolean): string | undefined {
  const value = env[variable]?.trim()
  const file = secret ? env[`${variable}_FILE`]?.trim() : undefined
  if (!file) return value
  if (value) throw new Error(`is set twice: remove it or ${variable}_FILE`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`has a file that cannot be read: ${file}, ${(error as { code?: string }).code}`)
  }
}

/**
 * Reads all settings from environment variables (the names above in upper case), secrets also from files. Throws
 * ConfigError with all problems.
 */
export function readConfig(env: Environment = process.env): Config {
  const problems: string[] = []
  const values = Object.entries<Setting<unknown>>(settings).map(
    ([name, { fallback = '', secret = false, parse }]) => {
      const variable = name.toUpperCase()
      try {
        return [name, parse(textOf(env, variable, secret) || fallback)]
      } catch (error) {
        problems.push(`${variable} ${(error as Error).message}.`)
        return [name, null]
      }
    },
  )
  const config = Object.fromEntries(values)
  if (!problems.length) problems.push(...mailProblems(config))
  if (problems.length) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** The settings as lines `NAME=value  # meaning`; secrets are hidden. */
export function describeConfig(config: Config): string[] {
  return Object.entries(settings).map(([name, setting]) => {
    const value = config[name as keyof Config]
    const shown =
      'secret' in setting && value ? '(hidden)' : Array.isArray(value) ? value.join(',') : (value ?? '')
    return `${`${name.toUpperCase()}=${shown}`.padEnd(40)} # ${setting.about}`
  })
}
