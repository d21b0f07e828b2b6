import type { filters as english } from '../en/filters.ts'

export const filters: typeof english = {
  is: 'ist',
  not: 'ist nicht',
  empty: 'ist leer',
  filled: 'ist nicht leer',
  none: (many) => `Keine ${many} gefunden.`,
  remove: 'Entfernen:',
  at_least: (label) => `${label} mindestens`,
  at_most: (label) => `${label} höchstens`,
  from: (label) => `${label} ab`,
  until: (label) => `${label} bis`,
  on: (label) => `${label} ist`,
  equal: (label) => `${label} ist`,
}
