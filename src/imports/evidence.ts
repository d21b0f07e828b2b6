import { type DayOrder, orderOf } from '../cells/days.ts'
import { type DecimalSign, decimalOf } from '../cells/numbers.ts'
import type { Program } from './programs/program.ts'

// How a file writes numbers and days. A text such as 1.250 or 05/06/2026 has two readings. Other cells of its column decide,
// then other columns, then the program, and last the delimiter with the language of the headers.

/** How the cells of a column are read; null: a text with two readings is an error of its row. */
export type Reading = { decimal: DecimalSign | null; order: DayOrder | null }
/** The readings of columns, by their headers. */
export type Readings = Readonly<Record<string, Reading>>

export const no_reading: Reading = { decimal: null, order: null }

// Lines of JSON may have any names.
const max_columns = 1000

type Seen = { decimals: Set<DecimalSign>; orders: Set<DayOrder>; round: Set<string> }

/** The surroundings of cells: the program, the delimiter and the headers. */
export type Surroundings = { program: Program | null; delimiter: string | null; headers: readonly string[] }

/** Collects what the cells of a file show. */
export function createEvidence() {
  const seen = new Map<string, Seen>()
  return {
    add(header: string, text: string, kind: 'decimal' | 'order'): void {
      if (seen.size >= max_columns && !seen.has(header)) return
      const of = seen.get(header) ?? { decimals: new Set(), orders: new Set(), round: new Set() }
      seen.set(header, of)
      if (kind === 'order') {
        const order = of.orders.size < 2 && orderOf(text)
        if (order) of.orders.add(order)
        return
      }
      const decimal = of.decimals.size < 2 && decimalOf(text)
      if (decimal) of.decimals.add(decimal)
      // Nobody writes three decimals that end in zero, unless all have three.
      const [, sign] = /^[^\d.,]*\d{1,3}([.,])\d\d0[^\d.,]*$/.exec(text.slice(0, 64)) ?? []
      if (sign) of.round.add(sign)
    },
    /** The readings of all columns. */
    readings(around: Surroundings): Readings {
      const decimals = agreed([...seen.values()].map((of) => of.decimals))
      const orders = agreed([...seen.values()].map((of) => of.orders))
      const weak = weakly(around)
      return Object.fromEntries(
        [...seen].map(([header, of]) => {
          const decimal = of.decimals.size
            ? only(of.decimals)
            : (decimals ?? around.program?.decimal ?? unlessRound(weak.decimal, of))
          const order = of.orders.size ? only(of.orders) : (orders ?? around.program?.day_order ?? weak.order)
          return [header, { decimal, order }]
        }),
      )
    },
  }
}

const only = <T>(values: ReadonlySet<T>): T | null => (values.size === 1 ? ([...values][0] as T) : null)

/** The value that all columns show which show one; undefined if they differ or none shows one. */
function agreed<T>(columns: readonly ReadonlySet<T>[]): T | undefined {
  const all = new Set(columns.flatMap((values) => [...values]))
  return all.size === 1 ? [...all][0] : undefined
}

const unlessRound = (decimal: DecimalSign | null, { round }: Seen) =>
  decimal && round.has(decimal) ? null : decimal

// Words of headers in languages with a decimal comma and the day first.
const comma_words =
  /^(betrag|wert|umsatz|preis|menge|firma|vorname|nachname|telefon.*|datum|.*datum|geburtstag|phase|abschluss|montant|valeur|prix|prénom|société|entreprise|importe|valor|precio|nombre|apellidos?|empresa|fecha.*|valore|prezzo|cognome|azienda|bedrag|voornaam|achternaam|bedrijf)$|[äöüßéèàçñ]/u

function weakly({ delimiter, headers }: Surroundings): Reading {
  const has_comma_words = headers.some((header) => comma_words.test(header.toLowerCase().trim()))
  if (delimiter === ';') return { decimal: ',', order: 'day_first' }
  if (has_comma_words) return { decimal: delimiter === ',' ? null : ',', order: 'day_first' }
  return { decimal: delimiter === ',' ? '.' : null, order: null }
}
