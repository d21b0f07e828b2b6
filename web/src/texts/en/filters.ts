/** What filters say, in the words of a sentence. */
export const filters = {
  is: 'is',
  not: 'is not',
  empty: 'is empty',
  filled: 'is not empty',
  none: (many: string) => `No ${many.toLowerCase()} match.`,
  remove: 'Remove',
  at_least: (label: string) => `${label} at least`,
  at_most: (label: string) => `${label} at most`,
  from: (label: string) => `${label} from`,
  until: (label: string) => `${label} until`,
  on: (label: string) => `${label} is`,
  equal: (label: string) => `${label} is`,
}
