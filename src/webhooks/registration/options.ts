import { type Static, Type } from 'typebox'
import { OptionalInteger } from '../../http/fields.ts'

const max_delay_seconds = 7 * 24 * 3600

/** How deliveries of a webhook are sent. Null: as the installation says. */
export const policy = {
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

const fields = Type.Object(policy)
export const option_names = Object.keys(policy) as (keyof Options)[]
/** What a webhook has besides its name, address and events. */
export type Options = Static<typeof fields>

type Row = { retry_delays: string | null; timeout_ms: number | null; max_per_second: number | null }

/** The options of a row, as answers show them. */
export const shownOptions = ({ retry_delays, timeout_ms, max_per_second }: Row): Options => ({
  retry_delays: retry_delays === null ? null : JSON.parse(retry_delays),
  timeout_ms,
  max_per_second,
})

/** The options of a body, without its other fields. */
export const optionsOf = (body: Partial<Options>): Partial<Options> =>
  Object.fromEntries(option_names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))

/** The columns of the options that are given. */
export function storedOptions({ retry_delays, ...others }: Partial<Options>): Partial<Row> {
  const delays = retry_delays && JSON.stringify(retry_delays)
  // The next claim counts again.
  const again = others.max_per_second === undefined ? {} : { paced_until_ms: null }
  return { ...others, ...again, ...(delays !== undefined && { retry_delays: delays }) }
}
