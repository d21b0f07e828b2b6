// biome-ignore lint/suspicious/noExplicitAny: the checker looks itself into what was answered
export type Json = any

export const resources = ['contacts', 'companies', 'deals', 'activities', 'appointments'] as const
export type Resource = (typeof resources)[number]

/** One request of a client and its answer. Times are milliseconds of the player's own steady clock. */
export type Operation = {
  number: number
  client: number
  what: string
  resource: Resource | 'notes' | 'webhooks' | 'deliveries'
  /** Of the record that it is done to; null for a creation. */
  id: number | string | null
  body: Json | null
  /** A text in the body that no other operation has. */
  mark: string | null
  idempotency_key: string | null
  sent_ms: number
  answered_ms: number | null
  /** Null: the answer was lost, so it may have been done or not. */
  status: number | null
  retry_after: boolean
  data: Json | null
}

/** One request that a receiver got; `status` is its answer, null when it gave none. */
export type Receipt = {
  at_ms: number
  ended_ms: number
  path: string
  headers: Record<string, string>
  body: string
  status: number | null
}

export type Deed = { at_ms: number; what: string }

export type Delivery = {
  id: string
  webhook_id: string
  event_id: string
  event: string
  status: string
  attempt_count: number
  attempts: { number: number; started_at: string; duration_ms: number; code: string | null }[]
}

export type StoredEvent = {
  id: string
  event: string
  timestamp: string
  data: Json
  changed_fields?: string[]
  previous?: Json
}

/** A list that was read to its end, and what its meta said. */
export type Total = { query: string; total: number; counted: number }

/** The state that the API shows when everything is over. */
export type Reading = {
  /** The feed, oldest first. */
  events: StoredEvent[]
  /** By path, such as /contacts/7, the detail view; null: 404. */
  records: Record<string, Json | null>
  /** The ids in each list of records. */
  listed: Record<Resource, number[]>
  /** By contact, the notes. */
  notes: Record<number, Json[]>
  deliveries: Delivery[]
  webhooks: Json[]
  totals: Total[]
}

export type History = {
  seed: number
  retry_delays_ms: number[]
  operations: Operation[]
  receipts: Receipt[]
  deeds: Deed[]
  /** The ids of the events that a follower of the stream received, over all its connections. */
  followed: string[]
  /** Records that several clients change at once. */
  shared: { resource: Resource; id: number }[]
  reading: Reading
}

/** A promise that the history breaks. */
export type Violation = { rule: Rule; told: string }

export type Rule =
  | 'lost'
  | 'phantom'
  | 'twice'
  | 'record'
  | 'events'
  | 'chain'
  | 'order'
  | 'feed'
  | 'body'
  | 'signature'
  | 'early'
  | 'overlap'
  | 'delivery'
  | 'total'
  | 'answer'
