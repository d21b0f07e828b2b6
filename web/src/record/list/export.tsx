import { Radio, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ExportFormat, export_formats, recordApi } from '../../api/record-api.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { startDownload } from '../../ui/download.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showMessage } from '../../ui/undo.tsx'
import { type ListedKind, useNames } from '../kinds.ts'
import { exportQuery } from './export-query.ts'
import { notBusy } from './not-busy.ts'

type Props = {
  kind: ListedKind
  /** The query of the list. */
  query: Record<string, unknown>
  opened: boolean
  onClose: () => void
}

/** Asks for the format of a list as a file, shows the number of its rows, and downloads it. */
export function ExportDialog({ kind, query, opened, onClose }: Props) {
  const t = useTexts()
  const names = useNames(kind)
  const list = exportQuery(query)
  const api = recordApi(kind)
  return (
    <FormDialog
      title={t.files.export(names.in_sentence)}
      action={t.files.download}
      opened={opened}
      onClose={onClose}
      start={{ format: 'csv' as ExportFormat }}
      // The browser cannot tell why a download was refused, so the service is asked before.
      send={async ({ format }) => {
        await notBusy(api.countExported(list), t.files.busy)
        startDownload(api.exportHref(list, format))
      }}
      onSent={() => showMessage(t.files.downloading)}
    >
      {({ getInputProps }) => (
        <>
          <Rows kind={kind} list={list} />
          <Radio.Group label={t.files.format} {...getInputProps('format')}>
            <Stack gap="sm" mt="xs">
              {export_formats.map((format, index) => (
                <Radio
                  key={format}
                  value={format}
                  label={t.files.formats[format]}
                  data-autofocus={index === 0 || undefined}
                />
              ))}
            </Stack>
          </Radio.Group>
        </>
      )}
    </FormDialog>
  )
}

function Rows({ kind, list }: { kind: ListedKind; list: Record<string, unknown> }) {
  const t = useTexts()
  const { data, error, refetch } = useQuery({
    queryKey: [kind, 'export', list],
    queryFn: ({ signal }) => notBusy(recordApi(kind).countExported(list, signal), t.files.busy),
  })
  const filtered = Object.keys(list).some((name) => name !== 'sort')
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  return (
    <div>
      {data === undefined ? (
        <Skeleton height={20} width={90} />
      ) : (
        <Text fw={600} className="numbers" role="status">
          {t.files.rows({ n: data })}
        </Text>
      )}
      <p className="hint">{filtered ? t.files.filtered : t.files.whole}</p>
    </div>
  )
}
