import { BlockList, isIPv4, isIPv6 } from 'node:net'

// As a proxy may write it: with a port, in brackets; and an IPv4 client of a socket that takes both kinds.
const plain = (address: string) =>
  address
    .trim()
    .replace(/^\[([^\]]*)\](:\d*)?$/, '$1')
    .replace(/^([\d.]+):\d*$/, '$1')
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')

/** Whether an address is in one of the networks (CIDRs): a proxy that is believed. */
export function trustedBy(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    const one = plain(address)
    return list.check(one, isIPv6(one) ? 'ipv6' : 'ipv4')
  }
}

/**
 * Whom a limit by address counts as one: an IPv4 address, or the /56 network of an IPv6 one, which is what a subscriber
 * commonly has to choose addresses from. What is no address, whoever sent it, counts as the peer that the connection is of.
 */
export function subscriberOf(address: string, peer = ''): string {
  const one = plain(address).replace(/%.*$/, '')
  if (isIPv4(one)) return one
  if (!isIPv6(one)) return peer === '' ? 'unknown' : subscriberOf(peer)
  const [head = '', tail] = one.split('::')
  const parts = (text: string) => text.split(':').filter(Boolean)
  const behind = parts(tail ?? '')
  // An address that ends as an IPv4 one has two parts in its last.
  const known = parts(head).length + behind.length + (one.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - known }, () => '0')
  const prefix = [...parts(head), ...zeros, ...behind].slice(0, 4).map((part) => Number.parseInt(part, 16))
  const bits_56 = prefix.map((part, i) => (i === 3 ? part & 0xff00 : part))
  return `${bits_56.map((part) => part.toString(16)).join(':')}::/56`
}
