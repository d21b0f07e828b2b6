import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Seal } from '../../db/seal.ts'
import type { Tables } from '../../db/tables.ts'
import type { Condition } from '../../events/conditions.ts'
import { OptionalInteger } from '../../http/fields.ts'
import { type Format, formats } from '../delivery/bodies.ts'
import { conditions_schema, conditionsText } from './conditions.ts'
import { type Headers, sealHeaders, shownHeaders } from './headers.ts'

const max_delay_seconds = 7 * 24 * 3600

/** How deliveries of a webhook are sent. Null: as the installation says. */
const policy = {
  retry_delays: Type.Unsafe<number[] | null>({
    type: ['array', 'null'],
    maxItems: 20,
    items: { type: 'integer', minimum: 1, maximum: max_delay_seconds },
    // Equal delays stay.
    verbatim: true,
    description:
      'Seconds before each retry, after the end of the previous attempt. An empty list: no retries. Null: those of `WEBHOOK_RETRY_DELAYS`.',
    examples: [[60, 3600]],
    'x-extension': true,
  }),
  timeout_ms: OptionalInteger(1000, 30_000, {
    description: 'The timeout of a whole attempt. Null: that of `WEBHOOK_TIMEOUT_MS`.',
    examples: [5000],
    'x-extension': true,
  }),
  max_per_second: OptionalInteger(1, 1000, {
    description: 'At most this many attempts begin in any second. Null: no limit.',
    examples: [10],
    'x-extension': true,
  }),
}

/** The options of a webhook: its fields besides name, address and events. */
export const options = {
  ...policy,
  headers: Type.Unsafe<Headers | null>({
    type: ['object', 'null'],
    maxProperties: 20,
    additionalProperties: { type: 'string', maxLength: 4096 },
    description:
      'Headers that every request has. Answers and the delivery log show `***` as their values; `***` in a body keeps the stored value.',
    examples: [{ Authorization: 'Bearer 4f9c1e' }],
    'x-extension': true,
  }),
  conditions: Type.Unsafe<Condition[] | null>(conditions_schema),
  format: Type.Unsafe<Format | null>({
    type: ['string', 'null'],
    enum: [...formats, null],
    description:
      'The body: the event (`envelope`, the default), or a message for Slack or for a workflow of Microsoft Teams.',
    examples: ['envelope'],
    'x-extension': true,
  }),
  ordered: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description:
      'True: deliveries of a record are sent one after the other, in the order of `sequence`. A failing one holds back only its record.',
    examples: [false],
    'x-extension': true,
  }),
}

const fields = Type.Object(options)
export type Options = Static<typeof fields>
export const option_names = Object.keys(options) as (keyof Options)[]

type Row = Pick<Selectable<Tables['webhooks']>, keyof Options>

/** The options of a row, as answers show them. */
export const shownOptions = (row: Row): Options => ({
  retry_delays: row.retry_delays === null ? null : JSON.parse(row.retry_delays),
  timeout_ms: row.timeout_ms,
  max_per_second: row.max_per_second,
  headers: shownHeaders(row.headers),
  conditions: JSON.parse(row.conditions ?? '[]'),
  format: row.format ?? 'envelope',
  ordered: row.ordered === 1,
})

/** A form of bodies as it is stored: null for the envelope. */
export const storedFormat = (format: Format | null) => (format === 'envelope' ? null : format)

/**
 * The columns of the options that a body has. `stored_headers` are the webhook's, as stored: `***` keeps their values.
 */
export function storedOptions(
  { retry_delays, timeout_ms, max_per_second, headers, conditions, format, ordered }: Partial<Options>,
  seal: Seal,
  stored_headers: string | null = null,
): Partial<Row> & { paced_until_ms?: null } {
  return {
    ...(retry_delays !== undefined && { retry_delays: retry_delays && JSON.stringify(retry_delays) }),
    ...(timeout_ms !== undefined && { timeout_ms }),
    // The next claim counts the recent attempts against the new limit.
    ...(max_per_second !== undefined && { max_per_second, paced_until_ms: null }),
    ...(conditions !== undefined && { conditions: conditionsText(conditions) }),
    ...(ordered !== undefined && { ordered: ordered ? 1 : 0 }),
    ...(format !== undefined && { format: storedFormat(format) }),
    ...(headers !== undefined && { headers: sealHeaders(headers, stored_headers, seal) }),
  }
}

export type StoredOptions = ReturnType<typeof storedOptions>
