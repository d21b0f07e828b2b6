import type { files as english } from '../en/files.ts'

export const files: typeof english = {
  more: 'Weitere Aktionen',
  export: (what) => `${what} exportieren`,
  rows: (n, written) => (n === 1 ? '1 Zeile' : `${written} Zeilen`),
  filtered: 'Die Liste, wie sie gerade zu sehen ist, mit ihren Filtern und ihrer Sortierung.',
  whole: 'Die ganze Liste in ihrer jetzigen Sortierung.',
  format: 'Format',
  formats: { csv: 'CSV, für Tabellen', ndjson: 'NDJSON, ein Datensatz je Zeile' },
  download: 'Herunterladen',
  downloading: 'Das Herunterladen beginnt.',
  busy: 'Es laufen zu viele Exporte. Versuchen Sie es wieder, wenn einer beendet ist.',
  everything: 'Alles exportieren',
  everything_text:
    'Ein Archiv (.tar.gz) mit allen Datensätzen, Notizen, Mitgliedern und Ansichten als Dateien mit JSON-Zeilen. Ohne Papierkorb, Schlüssel und Webhooks.',
}
