import { Group, Stack } from '@mantine/core'
import { useTexts } from '../texts/with-imports.ts'
import { Select } from '../ui/late-inputs.tsx'
import type { FileFacts, Preview } from './imports.ts'

const encodings = [
  ...['utf-8', 'windows-1252', 'windows-1250', 'windows-1251', 'iso-8859-2', 'iso-8859-15', 'macintosh'],
  ...['utf-16le', 'utf-16be', 'shift_jis', 'gb18030', 'big5', 'euc-kr'],
]
const header_rows = Array.from({ length: 30 }, (_, n) => String(n + 1))

type Props = { preview: Preview; facts: FileFacts; onFacts: (facts: FileFacts) => void }

/** How the file is read, as far as its bytes may not tell it: its encoding, its sheet, and the row of its header. */
export function FileFactsChoice({ preview, facts, onFacts }: Props) {
  const t = useTexts()
  const { encoding, encoding_is_guess, encoding_sample, sheet, sheets, header_row } = preview
  return (
    <Stack gap="xs">
      <Group gap="sm" align="start">
        {sheets.length > 1 && (
          <Select
            label={t.imports.sheet}
            w={220}
            data={[...new Set(sheets)]}
            value={sheet}
            onChange={(to) => onFacts({ ...facts, sheet: to, header_row: null })}
          />
        )}
        {header_row !== null && (
          <Select
            label={t.imports.header_row}
            w={160}
            data={[...new Set([...header_rows, String(header_row)])]}
            value={String(header_row)}
            onChange={(to) => onFacts({ ...facts, header_row: to })}
          />
        )}
        {encoding_sample !== null && (
          <Select
            label={t.imports.encoding}
            w={220}
            searchable
            data={[...new Set([encoding, ...encodings])]}
            value={encoding}
            onChange={(to) => onFacts({ ...facts, encoding: to })}
          />
        )}
      </Group>
      {encoding_is_guess && encoding_sample !== null && (
        <p className="hint" role="status">
          {t.imports.encoding_guess({ sample: encoding_sample })}
        </p>
      )}
    </Stack>
  )
}
