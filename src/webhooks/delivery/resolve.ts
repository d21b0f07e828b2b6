import { Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** Resolves with all addresses of a name; rejects when it has none. */
export type Resolve = (hostname: string) => Promise<string[]>

const dns_timeout_ms = 3000
// Cancel before the timeout, so that the error names the cause instead of the timeout.
const cancel_ms = dns_timeout_ms - 100
// The C library's limit. Further search domains are ignored.
const max_search_domains = 6
const max_file_bytes = 1024 * 1024

type Sources = {
  /** Used in place of the configured servers, such as `127.0.0.1:5353`. */
  servers?: readonly string[]
  hosts?: string
  configuration?: string
}

/**
 * Creates a resolver that reads the hosts file, then asks the name servers, with the machine's search domains. It avoids
 * the C library, whose look-up blocks one of four threads. Password hashing and file access need these threads too.
 */
export function createResolve({
  servers,
  hosts = '/etc/hosts',
  configuration = '/etc/resolv.conf',
}: Sources = {}): Resolve {
  const readHosts = createReader(hosts, addressesOf)
  const readConfiguration = createReader(configuration, (lines) => lines)
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const local = readHosts().get(name)
    if (local) return local

    const resolver = new Resolver({ timeout: 1000, tries: 2 })
    if (servers) resolver.setServers(servers)
    let over = false
    const limit = setTimeout(() => {
      over = true
      resolver.cancel()
    }, cancel_ms)
    const errors: unknown[] = []
    try {
      const absolute = hostname.endsWith('.')
      const names = absolute ? [name] : candidates(readConfiguration(), name)
      // An error in one search domain does not rule out the other names.
      for (const candidate of names) {
        const found = await queryServers(resolver, candidate).catch((error) => void errors.push(error))
        if (found?.length) return found
        if (over) break
      }
    } finally {
      clearTimeout(limit)
    }
    throw errors[0] ?? new Error(`No name server knows ${name}. Check the name in the webhook's URL.`)
  }
}

export const resolveHost: Resolve = createResolve()

/** Resolves with an empty list when a server says that the name does not exist; rejects when no server answers. */
async function queryServers(resolver: Resolver, name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  const failed = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason)
  const server_error = failed.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  if (server_error !== undefined) throw server_error
  return []
}

/** The names to query, in the order of resolv.conf(5). With fewer dots than `ndots`, search domains come first. */
function candidates(lines: string[][], name: string): string[] {
  // resolv.conf(5): the last search or domain line applies.
  const [, ...domains] = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? []
  const options = lines.filter(([word]) => word === 'options').flat()
  const [, ndots = '1'] = options.map((word) => /^ndots:(\d+)$/.exec(word)).findLast(Boolean) ?? []
  const searched = domains
    .map((domain) => domain.replace(/\.$/, ''))
    .filter(Boolean)
    .slice(0, max_search_domains)
    .map((domain) => `${name}.${domain}`)
  const dots = name.split('.').length - 1
  return dots >= Number(ndots) ? [name, ...searched] : [...searched, name]
}

/** The addresses of each name of a hosts file. */
function addressesOf(lines: string[][]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [address = '', ...names] of lines) {
    if (!isIP(address)) continue
    for (const name of new Set(names)) {
      const addresses = found.get(name)
      if (addresses) addresses.push(address)
      else found.set(name, [address])
    }
  }
  return found
}

/**
 * Reads a file again only after it has changed: each attempt asks. Reads synchronously, because all threads may be busy.
 * A file above 1 MiB counts as empty, because parsing it would block the event loop.
 */
function createReader<T>(file: string, parse: (lines: string[][]) => T): () => T {
  const empty = parse([])
  let known = { version: '', parsed: empty }
  return () => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
      const version = [ino, size, mtimeNs, ctimeNs].join(' ')
      if (version !== known.version) {
        const parsed = size > max_file_bytes ? empty : parse(linesOf(readFileSync(file, 'utf8')))
        known = { version, parsed }
      }
      return known.parsed
    } catch {
      return empty
    }
  }
}

/** The words of each line, without comments. */
const linesOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .toLowerCase()
      .split(/\s+/),
  )

/** Resolves within 3 seconds, or rejects. */
export async function resolveInTime(resolve: Resolve, hostname: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no DNS answer within ${dns_timeout_ms} ms`)),
      dns_timeout_ms,
    ).unref()
  })
  try {
    return await Promise.race([resolve(hostname), late])
  } finally {
    clearTimeout(timer)
  }
}
