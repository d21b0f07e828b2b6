import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContext } from 'node:tls'

// Loaded when it is needed: it takes 4 MiB.
const tls = () => process.getBuiltinModule('node:tls')

const certificates = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * Trusts the authorities of a file beside those of Node. Throws an Error that names the setting and the file if it cannot be
 * read or parsed.
 */
export function trustFile(setting: string, file: string): SecureContext {
  const own = readText(setting, file).match(certificates) ?? []
  if (own.length === 0)
    throw problem(setting, file, 'has no certificate. It must have PEM, -----BEGIN CERTIFICATE-----')
  for (const [index, pem] of own.entries()) {
    try {
      new X509Certificate(pem)
    } catch {
      throw problem(setting, file, `has a certificate that cannot be parsed: number ${index + 1}`)
    }
  }
  return trust([...tls().getCACertificates('default'), ...own])
}

/** The authorities of a setting; undefined for the public ones alone. */
export const trusted = (setting: string, file: string | null): SecureContext | undefined =>
  file === null ? undefined : trustFile(setting, file)

/** Trusts these authorities only. One context for all connections: parsing all authorities takes some milliseconds. */
export const trust = (ca: string | string[]): SecureContext => tls().createSecureContext({ ca })

function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw problem(setting, file, `cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const problem = (setting: string, file: string, text: string) => new Error(`${setting}, ${file}, ${text}.`)
