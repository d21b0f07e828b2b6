import { crashes } from './table/crashes.ts'
import { receivers } from './table/receivers.ts'
import { requests } from './table/requests.ts'

export type Fault = {
  number: number
  fault: string
  /** The promise of the contract, in plain terms. */
  promise: string
  /** By file, the names of the tests that hold it; … stands for any text. */
  tests: Record<string, string[]>
}

/** The faults, by number. */
export const faults: Fault[] = [...crashes, ...receivers, ...requests].sort((a, b) => a.number - b.number)

/** A name of the table as a pattern of test names. The full name of a test in a group starts with the group's name. */
export function patternOf(name: string): string {
  const parts = name.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return `${parts.join('.*')}$`
}
