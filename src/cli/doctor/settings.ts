import { isIP } from 'node:net'
import { type Config, settingNames } from '../../config.ts'
import { trustFile } from '../../http/authorities.ts'
import { nearestName } from '../../http/query-names.ts'
import { counted } from '../text.ts'
import { type Finding, fault, orOk, warning } from './finding.ts'

type Env = Record<string, string | undefined>

// Variables of commands and of npm start, which are not settings of the service.
const of_commands = [
  'RAPPORT_URL',
  'RAPPORT_API_KEY',
  'RAPPORT_WEBHOOK_SECRET',
  'RAPPORT_RUN',
  'RAPPORT_WORKER',
]

/** Doubts about valid settings. */
export function examineSettings(config: Config, env: Env): Finding[] {
  const findings = [
    ...unknownNames(env),
    ...secretKey(config),
    ...publicAddress(config),
    ...networks(config),
    ...limits(config),
    ...authorities(config),
  ]
  return orOk(findings, 'settings', 'The settings of this shell are valid.')
}

/** Variables that look like a setting, but are none: the service ignores them. */
function unknownNames(env: Env): Finding[] {
  const known = settingNames()
  return Object.keys(env).flatMap((name) => {
    if (!/^[A-Z][A-Z0-9_]*$/.test(name) || known.includes(name) || of_commands.includes(name)) return []
    const near = nearestName(name, known)
    if (near && env[near] === undefined)
      return [warning('settings', `${name} is not a setting.`, `Did you mean ${near}? Set that.`)]
    if (name.startsWith('OTEL_'))
      return [
        warning(
          'settings',
          `${name} has no effect: this service does not read it.`,
          'docs/operations.md lists the variables of OpenTelemetry that it reads. Remove this one.',
        ),
      ]
    return name.startsWith('RAPPORT_')
      ? [warning('settings', `${name} is not a setting.`, 'Settings have no prefix. Remove it.')]
      : []
  })
}

const min_key_length = 32
// A random key of 32 hexadecimal digits has fewer different ones in one of a million cases.
const min_different = 8

function secretKey({ secret_key, database_url }: Config): Finding[] {
  const make = 'Make a new installation with: openssl rand -hex 32'
  if (secret_key === null)
    return database_url === null
      ? []
      : [
          warning(
            'settings',
            'SECRET_KEY is not set, so the key is in a file of this machine. Other machines cannot open the secrets of webhooks.',
            'Set SECRET_KEY to the text of secret.key in DATA_DIR, on every machine.',
          ),
        ]
  if (secret_key.length < min_key_length)
    return [
      warning(
        'settings',
        `SECRET_KEY has ${counted(secret_key.length, 'character')}, so it can be guessed.`,
        make,
      ),
    ]
  return new Set(secret_key).size < min_different
    ? [warning('settings', 'SECRET_KEY repeats few characters, so it can be guessed.', make)]
    : []
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

function publicAddress({ public_url, host, trusted_proxies }: Config): Finding[] {
  const findings: Finding[] = []
  if (public_url === null && !isLoopback(host))
    findings.push(
      warning(
        'settings',
        `PUBLIC_URL is not set, but HOST=${host} lets others in. Links in invitations and bookings may have a wrong address.`,
        'Set PUBLIC_URL to the address that people open, such as https://crm.example.com',
      ),
    )
  const name = public_url === null ? '' : new URL(public_url).hostname
  if (public_url?.startsWith('http:') && !isLoopback(name) && name !== '[::1]')
    findings.push(
      warning(
        'settings',
        'PUBLIC_URL is http, so passwords and keys can be read on their way.',
        'Put a proxy with TLS before it (ops/Caddyfile), and set PUBLIC_URL to its https address.',
      ),
    )
  if (public_url !== null && trusted_proxies.length === 0 && isIP(name.replace(/[[\]]/g, '')) === 0)
    findings.push(
      warning(
        'settings',
        'PUBLIC_URL is set, but TRUSTED_PROXIES is not. Behind a proxy, all visitors share one limit of requests.',
        'Set TRUSTED_PROXIES to the network of the proxy, such as 127.0.0.0/8.',
      ),
    )
  return findings
}

const isEverything = (cidr: string) => cidr.endsWith('/0')

function networks({ trusted_proxies, webhook_allowed_networks }: Config): Finding[] {
  const findings: Finding[] = []
  if (trusted_proxies.some(isEverything))
    findings.push(
      warning(
        'settings',
        'TRUSTED_PROXIES has every address, so each client can choose the address that limits and logs see.',
        'Set TRUSTED_PROXIES to the network of the proxy alone.',
      ),
    )
  if (webhook_allowed_networks.some(isEverything))
    findings.push(
      warning(
        'settings',
        'WEBHOOK_ALLOWED_NETWORKS has every address, so a webhook can read from services of this network.',
        'Set WEBHOOK_ALLOWED_NETWORKS to the networks of your receivers alone.',
      ),
    )
  return findings
}

function limits({ host, rate_limit_per_second, open_rate_per_second }: Config): Finding[] {
  if (isLoopback(host)) return []
  const off = [
    ...(rate_limit_per_second === 0 ? ['RATE_LIMIT_PER_SECOND'] : []),
    ...(open_rate_per_second === 0 ? ['OPEN_RATE_PER_SECOND'] : []),
  ]
  return off.map((name) =>
    warning('settings', `${name} is 0, so nothing limits requests.`, `Remove ${name}, or set a limit.`),
  )
}

function authorities({ webhook_ca_file }: Config): Finding[] {
  if (webhook_ca_file === null) return []
  try {
    trustFile('WEBHOOK_CA_FILE', webhook_ca_file)
    return []
  } catch (error) {
    return [
      fault(
        'settings',
        `${(error as Error).message} No process can start.`,
        'Put the certificates of the authorities into this file, as PEM, and let the user of the service read it.',
      ),
    ]
  }
}
