import { type RawBuilder, sql } from 'kysely'
import type { Column, Encoding } from '../resource.ts'
import { fromUnits, toUnits, unitsAsText } from './decimal.ts'

type Codec = {
  encode(value: unknown): unknown
  decode(stored: unknown): unknown
  /** The JSON text of a column's value, as SQL. */
  json(stored: RawBuilder<unknown>): RawBuilder<unknown>
}

const codecs: Record<Encoding, Codec> = {
  json: {
    encode: JSON.stringify,
    decode: (stored) => JSON.parse(stored as string),
    json: (stored) => stored,
  },
  flag: {
    encode: (value) => (value ? 1 : 0),
    decode: (stored) => stored === 1,
    json: (stored) => sql`CASE ${stored} WHEN 1 THEN 'true' ELSE 'false' END`,
  },
  ten_thousandths: {
    encode: (value) => toUnits(value as number | null),
    decode: (stored) => fromUnits(stored as number | null),
    json: unitsAsText,
  },
}

/** A field's value as its column stores it. */
export const encode = ({ encoding }: Column, value: unknown): unknown =>
  encoding ? codecs[encoding].encode(value) : value

/** The function that turns what a column stores into the field's value; undefined when both are the same. */
export const decoderOf = ({ encoding }: Column): ((stored: unknown) => unknown) | undefined =>
  encoding && codecs[encoding].decode

/** The SQL that makes JSON text of what a column stores; undefined where the value needs none. */
export const jsonOfStored = (
  { encoding }: Column,
  stored: RawBuilder<unknown>,
): RawBuilder<unknown> | undefined => encoding && codecs[encoding].json(stored)
