import type { merges as english } from '../en/merges.ts'

type Names = { one: string; many: string }
const some = (n: number, written: string, { one, many }: Names) =>
  `${n === 1 ? 1 : written} ${n === 1 ? one : many}`

export const merges: typeof english = {
  find: (many) => `Doppelte ${many} finden`,
  duplicates: (many) => `Doppelte ${many}`,
  none: (many) => `Keine doppelten ${many} gefunden.`,
  searching: 'Die Suche läuft weiter',
  reasons: { email: 'Gleiche E-Mail', phone: 'Gleiche Telefonnummer', name: 'Gleicher Name' },
  more: (n) => `und ${n} weitere`,
  compare: 'Vergleichen und zusammenführen',
  compare_with: (names) => `Vergleichen und zusammenführen: ${names}`,
  merge: 'Zusammenführen',
  merge_with: 'Zusammenführen mit …',
  merge_with_hint: () => 'Den anderen Datensatz suchen',
  title: (many) => `${many} zusammenführen`,
  survivor: 'Bleibt',
  survivor_hint: 'Die anderen kommen in den Papierkorb. Ihre Schlagwörter und eigenen Felder kommen hinzu.',
  select: (field, value, name) => `${field}: ${value}, von ${name}`,
  keep: (name) => `${name} bleibt`,
  added_together: (field) => `${field}, zusammen`,
  linked: 'Gehört dazu',
  moves: (n, name) => `Was zu den anderen gehört, geht an ${name}: ${n}.`,
  nothing_moves: 'Zu den anderen gehört nichts, also geht nichts über.',
  counted: (n, written, names) => some(n, written, names),
  notes: { one: 'Notiz', many: 'Notizen' },
  action: (n, written, names) => `${some(n, written, names)} zusammenführen`,
  done: (n, written, names) => `${some(n, written, names)} zusammengeführt`,
  undone: 'Die Zusammenführung ist rückgängig gemacht.',
  undone_partly: (n) =>
    `Die Zusammenführung ist rückgängig gemacht. ${n} Datensätze wurden seither geändert und bleiben, wie sie sind.`,
  too_few: 'Wählen Sie zum Zusammenführen zwei Datensätze, die es noch gibt.',
  choose_other: 'Zurück zur Liste',
  merged: 'Zusammengeführt',
  merged_into: (n, written, names) => `${some(n, written, names)} hierhin zusammengeführt`,
  merging: 'Die Zusammenführung läuft.',
  undo_merge: 'Zusammenführung rückgängig machen',
  moved_on: () => 'Dieser Datensatz wurde zusammengeführt. Hier ist der, der geblieben ist.',
}
