import { Progress, Stack } from '@mantine/core'
import { UploadIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { useTexts } from '../texts/with-imports.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useAddress } from '../ui/list-view.ts'
import { Mapping } from './import-mapping.tsx'
import { useArchiveKinds } from './import-parts.tsx'
import { Start } from './import-start.tsx'
import { type Choices, countArchive, type Imported, imported_kinds, isImported } from './imports.ts'
import './imports.css'

/** Chooses a file, maps its columns, checks it, and starts the import. */
export function NewImportPage() {
  const t = useTexts()
  const may = useMay()
  const { address, change } = useAddress()
  const [file, setFile] = useState<File | null>(null)
  const offered = imported_kinds.filter((kind) => may(`${kind}:write`))
  const { resource: asked = '' } = address
  const archives = archive_scopes.every((scope) => may(scope)) && offered.length === imported_kinds.length
  const isOffered = (kind: string): kind is Imported =>
    kind === 'workspace' ? archives : isImported(kind) && offered.includes(kind)
  const resource = isOffered(asked) ? asked : (offered[0] ?? 'contacts')
  return (
    <SettingsFrame
      title={t.imports.new_title}
      api={{ method: 'POST', path: `/imports?resource=${resource}&dry_run=true` }}
    >
      <Stack gap="lg">
        <Select
          label={t.imports.kind}
          maw={420}
          data={[
            ...offered.map((kind) => ({ value: kind as string, label: t.kinds[kind].many })),
            ...(archives ? [{ value: 'workspace', label: t.imports.workspace }] : []),
          ]}
          value={resource}
          onChange={(to) => change({ resource: to }, true)}
        />
        <FileChoice file={file} onFile={setFile} resource={resource} />
        {file && resource === 'workspace' && (
          <Archive key={`${file.name} ${file.size} ${file.lastModified}`} file={file} />
        )}
        {file && resource !== 'workspace' && (
          <Mapping
            key={`${resource} ${file.name} ${file.size} ${file.lastModified}`}
            file={file}
            resource={resource}
          />
        )}
      </Stack>
    </SettingsFrame>
  )
}

const archive_scopes = ['workspace:write', 'appointments:write', 'booking_pages:write']
const archive: Choices = { resource: 'workspace' }

const archive_types = '.gz,.tgz,application/gzip'
const row_types = '.csv,.tsv,.txt,.xlsx,.xlsm,.vcf,.ndjson,.jsonl,text/csv,text/vcard,application/x-ndjson'

type FileChoiceProps = { file: File | null; onFile: (file: File) => void; resource: Imported }

/** The place where a file is dropped, which is also a button. */
function FileChoice({ file, onFile, resource }: FileChoiceProps) {
  const t = useTexts()
  const [over, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const is_archive = resource === 'workspace'
  const text = is_archive ? t.imports.drop_archive : t.imports.drop_text
  const take = (files: FileList | null) => files?.[0] && onFile(files[0])
  return (
    <>
      <button
        type="button"
        className="import-drop"
        data-over={over || undefined}
        onClick={() => input.current?.click()}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          take(event.dataTransfer.files)
        }}
      >
        <UploadIcon />
        <strong>{file ? file.name : t.imports.drop}</strong>
        <span className="hint">{file ? t.imports.other_file : text}</span>
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t.imports.file}
        accept={is_archive ? archive_types : row_types}
        onChange={(event) => {
          take(event.currentTarget.files)
          // So that the same file can be chosen again after a change.
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

/** The rows of an archive, by kind. */
function Archive({ file }: { file: File }) {
  const t = useTexts()
  const formats = useFormats()
  const names = useArchiveKinds()
  const [share, setShare] = useState(0)
  const { data, error, refetch } = useQuery({
    queryKey: ['import-preview', file.name, file.size, file.lastModified, 'workspace'],
    queryFn: ({ signal }) => countArchive(file, setShare, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Progress value={share * 100} aria-label={t.imports.progress} />
  return (
    <>
      <table className="import-kinds" aria-label={t.imports.archive_content}>
        <tbody>
          {data.kinds.map(({ kind, rows }) => (
            <tr key={kind}>
              <th scope="row">{names[kind] ?? kind}</th>
              <td className="numbers">{formats.number(rows)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!data.kinds.length && <p>{t.imports.empty_archive}</p>}
      {!data.complete && <p className="hint">{t.imports.counted_part}</p>}
      <p className="hint">{t.imports.no_members}</p>
      <Start file={file} choices={archive} />
    </>
  )
}
