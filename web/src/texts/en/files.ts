/** The texts of exports. */
export const files = {
  more: 'More actions',
  export: (what: string) => `Export ${what.toLowerCase()}`,
  rows: (n: number, written: string) => (n === 1 ? '1 row' : `${written} rows`),
  filtered: 'The list as it is shown now, with its filters and its order.',
  whole: 'The whole list, in its present order.',
  format: 'Format',
  formats: { csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, a record a line' },
  download: 'Download',
  downloading: 'The download begins.',
  busy: 'Too many exports are running. Try again when one has ended.',
  everything: 'Export everything',
  everything_text:
    'One archive (.tar.gz) with all records, notes, members and views as files of JSON lines. Records in the trash, keys and webhooks are not in it.',
}
