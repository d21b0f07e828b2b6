import { BlockList, isIPv4, isIPv6 } from 'node:net'

// Removes a port and brackets, which a proxy may add. Removes the IPv6 prefix of an IPv4 client on a dual-stack socket.
const plain = (address: string) =>
  address
    .trim()
    .replace(/^\[([^\]]*)\](:\d*)?$/, '$1')
    .replace(/^([\d.]+):\d*$/, '$1')
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')

/** Whether an address is a trusted proxy: in one of the networks (CIDRs). */
export function trustedBy(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    const shown = plain(address)
    return list.check(shown, isIPv6(shown) ? 'ipv6' : 'ipv4')
  }
}

/**
 * The key of a limit by address: an IPv4 address, or the /56 network of an IPv6 address, which one subscriber often
 * has. For an invalid address, it is the peer of the connection.
 */
export function subscriberOf(address: string, peer = ''): string {
  const text = plain(address).replace(/%.*$/, '')
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return peer === '' ? 'unknown' : subscriberOf(peer)
  const [head = '', tail] = text.split('::')
  const parts = (text: string) => text.split(':').filter(Boolean)
  const behind = parts(tail ?? '')
  // An IPv4 address at the end counts as two parts.
  const known = parts(head).length + behind.length + (text.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - known }, () => '0')
  const prefix = [...parts(head), ...zeros, ...behind].slice(0, 4).map((part) => Number.parseInt(part, 16))
  const bits_56 = prefix.map((part, i) => (i === 3 ? part & 0xff00 : part))
  return `${bits_56.map((part) => part.toString(16)).join(':')}::/56`
}
