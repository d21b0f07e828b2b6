import type { DuplicateReason } from '../../resources/resource.ts'

/** A record with the values by which it may be like others. */
export type Member = { id: number } & Record<DuplicateReason, string | null>

/** Whether an equal value says something: not the extension of a telephone, and not a name without letters. */
export const isTelling = (reason: DuplicateReason, key: string): boolean =>
  reason === 'phone' ? key.replaceAll(/\D/g, '').length >= 6 : key.trim() !== ''
