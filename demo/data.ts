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

// The build replaces these reads by their texts, so each names its file.
/** The rows of the files, one JSON object a line. Post companies, then contacts, then deals. */
export function readDemoData(): DemoData {
  return {
    companies: rowsOf<DemoCompany>(readFileSync(new URL('companies.ndjson', import.meta.url), 'utf8')),
    contacts: rowsOf<DemoContact>(readFileSync(new URL('contacts.ndjson', import.meta.url), 'utf8')),
    deals: rowsOf<DemoDeal>(readFileSync(new URL('deals.ndjson', import.meta.url), 'utf8')),
  }
}

const rowsOf = <Row>(text: string): Row[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
