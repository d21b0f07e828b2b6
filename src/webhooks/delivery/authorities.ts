import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SecureContext } from 'node:tls'

// Loaded when it is needed: it takes 4 MiB.
const tls = () => process.getBuiltinModule('node:tls')

const certificates = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * Trusts the authorities of WEBHOOK_CA_FILE beside those of Node. Throws an Error that names the file if it cannot be read or
 * parsed.
 */
export function trustFile(file: string): SecureContext {
  const own = readText(file).match(certificates) ?? []
  if (own.length === 0)
    throw problem(file, 'has no certificate. It must have PEM, -----BEGIN CERTIFICATE-----')
  for (const [index, pem] of own.entries()) {
    try {
      new X509Certificate(pem)
    } catch {
      throw problem(file, `has a certificate that cannot be parsed: number ${index + 1}`)
    }
  }
  return trust([...tls().getCACertificates('default'), ...own])
}

/** The authorities of receivers by the setting WEBHOOK_CA_FILE; undefined for the public ones alone. */
export const trusted = (file: string | null): SecureContext | undefined =>
  file === null ? undefined : trustFile(file)

/** Trusts these authorities only. One context for all connections: parsing all authorities takes some milliseconds. */
export const trust = (ca: string | string[]): SecureContext => tls().createSecureContext({ ca })

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw problem(file, `cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const problem = (file: string, text: string) => new Error(`WEBHOOK_CA_FILE, ${file}, ${text}.`)
