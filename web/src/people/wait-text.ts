import type { Texts } from '../texts/texts.ts'

/** When the next try is possible: in seconds, from 90 on in minutes. */
export const waitText = (s: number, { people }: Texts): string =>
  s < 90 ? people.wait_seconds({ n: s }) : people.wait_minutes({ n: Math.ceil(s / 60) })
