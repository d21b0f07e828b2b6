import type { Column, Encoding } from '../resource.ts'
import { fromUnits, toUnits } from './decimal.ts'

type Codec = { encode(value: unknown): unknown; decode(stored: unknown): unknown }

const codecs: Record<Encoding, Codec> = {
  json: { encode: JSON.stringify, decode: (stored) => JSON.parse(stored as string) },
  flag: { encode: (value) => (value ? 1 : 0), decode: (stored) => stored === 1 },
  ten_thousandths: {
    encode: (value) => toUnits(value as number | null),
    decode: (stored) => fromUnits(stored as number | null),
  },
}

/** A field's value as its column stores it. */
export const encode = ({ encoding }: Column, value: unknown): unknown =>
  encoding ? codecs[encoding].encode(value) : value

/** The function that turns what a column stores into the field's value; undefined when both are the same. */
export const decoderOf = ({ encoding }: Column): ((stored: unknown) => unknown) | undefined =>
  encoding && codecs[encoding].decode
