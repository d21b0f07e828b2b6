import type { Column, Encoding } from '../resource.ts'
import { toUnits } from './decimal.ts'

const encoders: Record<Encoding, (value: unknown) => unknown> = {
  json: JSON.stringify,
  flag: (value) => (value ? 1 : 0),
  ten_thousandths: (value) => toUnits(value as number | null),
}

/** A field's value as its column stores it. The selection of a view makes JSON text of it. */
export const encode = ({ encoding }: Column, value: unknown): unknown =>
  encoding ? encoders[encoding](value) : value
