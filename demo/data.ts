import { readFileSync } from 'node:fs'

/**
 * A row of the demo data. `key` identifies the row in the files, and `company` and `contact` are keys of other rows. `body` is
 * the body of a POST, without `company_id` and `contact_id`.
 */
export type DemoCompany = { key: string; body: { name: string } & Record<string, unknown> }

export type DemoContact = {
  key: string
  company?: string
  body: { first_name: string; last_name: string } & Record<string, unknown>
}

export type DemoDeal = {
  key: string
  company?: string
  contact?: string
  body: { name: string; stage?: string } & Record<string, unknown>
  /** Bodies for change-stage, in this order. */
  moves: DemoMove[]
}

export type DemoMove = { stage: string; probability?: number; lost_reason?: string }

export type DemoData = { companies: DemoCompany[]; contacts: DemoContact[]; deals: DemoDeal[] }

export const dataFile = (kind: keyof DemoData) => new URL(`./${kind}.ndjson`, import.meta.url)

/** The rows of the files, one JSON object a line. Post companies, then contacts, then deals. */
export function readDemoData(): DemoData {
  return {
    companies: readRows<DemoCompany>('companies'),
    contacts: readRows<DemoContact>('contacts'),
    deals: readRows<DemoDeal>('deals'),
  }
}

function readRows<Row>(kind: keyof DemoData): Row[] {
  const lines = readFileSync(dataFile(kind), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}
