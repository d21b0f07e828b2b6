import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Resolve, resolveHost, resolveInTime } from '../delivery/resolve.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = [Address, number]

export type TargetPolicy = {
  /** The networks of WEBHOOK_ALLOWED_NETWORKS, allowed beside the public internet. */
  allowed_networks: readonly Network[]
  /** True when the server listens on loopback only and no setting names the networks. */
  allow_private: boolean
}

const setting = 'WEBHOOK_ALLOWED_NETWORKS'
const url_limit = 2048

const metadata = parseNetworks('169.254.0.0/16, fd00:ec2::254')
const global_ipv6 = parseNetworks('2000::/3, 64:ff9b::/96')
const local_nat64 = parseNetworks('64:ff9b:1::/48')
// A public address, but Azure's host agent answers it inside a virtual machine.
const not_public = parseNetworks('168.63.129.16')

/** Parses a comma-separated list of networks (CIDRs or single addresses). Throws an Error that quotes an invalid one. */
export function parseNetworks(list: string): Network[] {
  const entries = list.split(',').map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '').map(parseNetwork)
}

function parseNetwork(entry: string): Network {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const version = isIP(address)
  const bits = version === 4 ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  if (version === 0 || address.includes('%') || length > bits) {
    throw new Error(`${setting}: "${entry}" is not a network. Write CIDRs, such as 10.0.0.0/8 or fd00::/8.`)
  }
  const parsed = ipaddr.parse(address)
  // Addresses are compared in their IPv4 form, so convert a mapped network too.
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && length >= 96) {
    return [parsed.toIPv4Address(), length - 96]
  }
  return [parsed, length]
}

/**
 * Whether deliveries may go to an IPv4 or IPv6 address in text form (contract: webhooks, `url`). Cloud metadata addresses
 * are always refused, also when an IPv6 address contains one.
 */
export function addressAllowed(address: string, policy: TargetPolicy): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  const embedded = parsed instanceof ipaddr.IPv6 ? embeddedIPv4(parsed) : []
  const all = [parsed, ...embedded]
  if (all.some((candidate) => inside(candidate, metadata))) return false
  if (all.every(isPublic)) return true
  if (policy.allow_private && ['loopback', 'private', 'uniqueLocal'].includes(parsed.range())) return true
  return inside(parsed, policy.allowed_networks)
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !inside(address, not_public)
  // ipaddr.js calls every unknown range unicast, also outside of the global range. Allow NAT64, which IPv6-only hosts
  // need; its embedded IPv4 address is checked too.
  return ['unicast', 'rfc6052'].includes(address.range()) && inside(address, global_ipv6)
}

/** The IPv4 addresses to which a network may translate or tunnel an IPv6 address. */
function embeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray()
  const at = (...indexes: number[]) => new ipaddr.IPv4(indexes.map((index) => bytes[index]!))
  const last = at(12, 13, 14, 15)
  if (inside(address, local_nat64)) {
    // RFC 8215 leaves the prefix length, and so the position of the IPv4 address (RFC 6052), to the operator.
    return [last, at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12)]
  }
  switch (address.range()) {
    case 'rfc6052':
    case 'rfc6145':
      return [last]
    case '6to4':
      return [at(2, 3, 4, 5)]
    case 'teredo':
      return [at(4, 5, 6, 7), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 255))]
  }
  const compatible = bytes.slice(0, 12).every((byte) => byte === 0)
  const isatap = (bytes[8]! & ~2) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return compatible || isatap ? [last] : []
}

function inside(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([base, length]) => base.kind() === address.kind() && address.match(base, length))
}

/** A URL without spaces at its ends. Without the look behind, each space in a long run would be tried as its begin. */
export const trimSpaces = (url: string): string => url.replace(/^ +|(?<! ) +$/g, '')

/**
 * Checks a URL at registration. Returns the URL, or the code and message for the field. A name is refused if any of its
 * addresses is refused. A name without an address is accepted: every connection checks again.
 */
export async function checkUrl(
  raw: string,
  policy: TargetPolicy,
  resolve: Resolve = resolveHost,
): Promise<{ url: string } | { code: 'invalid_url' | 'url_not_allowed'; message: string }> {
  const problem = urlProblem(raw)
  if (problem !== null) return { code: 'invalid_url', message: `url ${problem}` }
  const host = hostOf(new URL(raw))
  const literal = isIP(host) !== 0
  const addresses = literal ? [host] : await resolveInTime(resolve, host).catch(() => [])
  if (addresses.every((address) => addressAllowed(address, policy))) return { url: raw }
  return { code: 'url_not_allowed', message: `url is not allowed: ${refusal(host, addresses)}` }
}

/** Why a host may not be contacted. Does not reveal the addresses of a name: that would map an internal network. */
export function refusal(host: string, addresses: readonly string[]): string {
  const always = addresses.some((address) => addressAllowed(address, everything) === false)
  const subject = isIP(host) === 0 ? `${host} leads to` : `${host} is`
  if (always) return `${subject} a cloud metadata address, which is always refused, whatever ${setting} says.`
  return `${subject} an address in a private or otherwise not public network. The setting ${setting} can allow it.`
}

const everything: TargetPolicy = { allowed_networks: parseNetworks('0.0.0.0/0, ::/0'), allow_private: true }

/** The host of a URL for node:net and node:dns: an IPv6 address has no brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

// Check the text itself: the URL parser silently drops, moves or rewrites much of what this function refuses.
function urlProblem(raw: string): string | null {
  if (raw.length > url_limit) return `must have at most ${url_limit} characters.`
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u
  if (hidden.test(raw)) return 'must not contain spaces, control characters or backslashes.'
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(raw) ?? []
  if (authority === undefined) return 'must begin with http:// or https:// and a host.'
  if (authority.includes('@')) return 'must not contain a user name or password.'
  if (raw.includes('#')) return 'must not contain a fragment (#).'
  const url = URL.parse(raw)
  if (url === null || url.hostname === '') return 'is not a valid URL.'
  return url.port === '0' ? 'must not have port 0.' : null
}
