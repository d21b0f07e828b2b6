import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** All addresses of a name; rejects when there is none. */
export type Resolve = (hostname: string) => Promise<string[]>

const dns_limit_ms = 3000
// Some before the limit, so that the reason is told instead of the limit.
const cancel_ms = dns_limit_ms - 100
// As the C library has it; more are ignored.
const most_search_domains = 6

type Sources = {
  /** In place of those in the configuration, as `127.0.0.1:5353`. */
  servers?: readonly string[]
  hosts?: string
  configuration?: string
}

/**
 * Makes a look-up of host names: the hosts file, then the name servers with the machine's search domains. It never asks
 * the C library: its look-up holds one of four threads while it waits, which passwords and files need too.
 */
export function createResolve({
  servers,
  hosts = '/etc/hosts',
  configuration = '/etc/resolv.conf',
}: Sources = {}): Resolve {
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const local = fromHostsFile(readLines(hosts), name)
    if (local.length > 0) return local

    const resolver = new Resolver({ timeout: 1000, tries: 2 })
    if (servers) resolver.setServers(servers)
    let over = false
    const limit = setTimeout(() => {
      over = true
      resolver.cancel()
    }, cancel_ms)
    const troubles: unknown[] = []
    try {
      const absolute = hostname.endsWith('.')
      const names = absolute ? [name] : candidates(readLines(configuration), name)
      // A search domain in trouble says nothing of the other names.
      for (const one of names) {
        const found = await askServers(resolver, one).catch((trouble) => void troubles.push(trouble))
        if (found?.length) return found
        if (over) break
      }
    } finally {
      clearTimeout(limit)
    }
    throw troubles[0] ?? new Error(`No name server knows ${name}.`)
  }
}

export const resolveHost: Resolve = createResolve()

/** Empty when the name does not exist; rejects when no server says so. */
async function askServers(resolver: Resolver, name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  const failed = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason)
  const trouble = failed.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  if (trouble !== undefined) throw trouble
  return []
}

/** The names to ask for, in the order of resolv.conf(5): a name of few dots first inside the search domains. */
function candidates(lines: string[][], name: string): string[] {
  // The last line counts.
  const [, ...domains] = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? []
  const options = lines.filter(([word]) => word === 'options').flat()
  const [, ndots = '1'] = options.map((word) => /^ndots:(\d+)$/.exec(word)).findLast(Boolean) ?? []
  const searched = domains
    .map((domain) => domain.replace(/\.$/, ''))
    .filter(Boolean)
    .slice(0, most_search_domains)
    .map((domain) => `${name}.${domain}`)
  const dots = name.split('.').length - 1
  return dots >= Number(ndots) ? [name, ...searched] : [...searched, name]
}

function fromHostsFile(lines: string[][], name: string): string[] {
  return lines.flatMap(([address = '', ...names]) => (isIP(address) && names.includes(name) ? [address] : []))
}

/** The words of each line, without comments. Read synchronously: small files, and the threads may be busy. */
function readLines(file: string): string[][] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.map((line) =>
      line
        .replace(/[#;].*/, '')
        .trim()
        .toLowerCase()
        .split(/\s+/),
    )
  } catch {
    return []
  }
}

/** Resolves within 3 seconds, or rejects. */
export async function resolveInTime(resolve: Resolve, hostname: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no DNS answer within ${dns_limit_ms} ms`)),
      dns_limit_ms,
    ).unref()
  })
  try {
    return await Promise.race([resolve(hostname), late])
  } finally {
    clearTimeout(timer)
  }
}
