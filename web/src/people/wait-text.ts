import type { OpenTexts } from '../texts/parts.ts'

/** When the next try is possible: in seconds, from 90 on in minutes. */
export const waitText = (s: number, { open }: OpenTexts): string =>
  s < 90 ? open.wait_seconds({ n: s }) : open.wait_minutes({ n: Math.ceil(s / 60) })
