/** A sender or a recipient. */
export type Mailbox = { name: string; address: string }

/** An address that a mail can have in its envelope. */
export type MailAddress = {
  /** As it is sent: composed, and the domain in ASCII. */
  text: string
  /** Whether the server must support SMTPUTF8. */
  needs_utf8: boolean
}

const max_characters = 254
// Characters that could end the address in a header or a command of SMTP, or add a second one.
const forbidden =
  /[\0-\x20\x7f,;:<>()[\]\\"\u0080-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufdd0-\ufdef]/
const quoted_local = /^"(?:[\x21\x23-\x5b\x5d-\x7e ]|\\[\x20-\x7e])*"$/

/** An address for an envelope; null for one that could be read as something else. Such an address gets no mail. */
export function addressOf(value: string): MailAddress | null {
  const text = value.normalize('NFC')
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || text.length > max_characters || local.length > 64) return null
  const is_quoted = quoted_local.test(local)
  if (!is_quoted && (forbidden.test(local) || local.includes('@'))) return null
  if (!domain || forbidden.test(domain)) return null
  // Every server knows the domain in ASCII.
  const ascii = URL.parse(`http://${domain}/`)?.hostname ?? ''
  if (!/^[a-z\d]([a-z\d.-]*[a-z\d])?$/.test(ascii) || ascii.includes('..')) return null
  const is_plain = /^[\x21-\x7e ]*$/.test(local)
  return { text: `${local}@${/^[\x21-\x7e]*$/.test(domain) ? domain : ascii}`, needs_utf8: !is_plain }
}

/** The key by which addresses are compared, without case. */
export const addressKey = (address: string): string =>
  address.trim().normalize('NFC').toUpperCase().toLowerCase()

/** The domain of an address. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
