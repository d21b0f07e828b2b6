import type { Random } from './random.ts'

type Region = 'us' | 'gb' | 'ie' | 'de' | 'fr' | 'se' | 'au'

/**
 * Numbers that regulators reserve for films and examples, so that no row has the phone number of a real person. Each `#` is
 * any digit. Rows of a culture without such numbers have no phone.
 */
const landlines: Record<Region, readonly string[]> = {
  us: ['+1 212 555 01##', '+1 312 555 01##', '+1 503 555 01##'],
  gb: ['+44 20 7946 0###', '+44 117 496 0###', '+44 161 496 0###'],
  ie: ['+353 20 91# ####'],
  de: ['+49 30 23125 ###', '+49 40 66969 ###', '+49 69 90009 ###', '+49 89 99998 ###'],
  fr: ['+33 1 99 00 ## ##', '+33 4 65 71 ## ##', '+33 5 36 49 ## ##'],
  se: ['+46 8 465 004 ##'],
  au: ['+61 2 5550 ####', '+61 3 5550 ####'],
}

const mobiles: Partial<Record<Region, readonly string[]>> = {
  us: ['+1 206 555 01##'],
  gb: ['+44 7700 900 ###'],
  fr: ['+33 6 39 98 ## ##'],
  se: ['+46 70 174 06 1#', '+46 70 174 06 5#'],
  au: ['+61 491 570 156', '+61 491 570 157'],
}

const fill = (pattern: string, random: Random) => pattern.replace(/#/g, () => String(random.below(10)))

export function landline(region: Region, random: Random): string {
  return fill(random.pick(landlines[region]), random)
}

/** A mobile number, or undefined if the regulator reserves none. */
export function mobile(region: Region, random: Random): string | undefined {
  const patterns = mobiles[region]
  return patterns && fill(random.pick(patterns), random)
}
