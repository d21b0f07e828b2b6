import { Button, Checkbox, Group, Progress, Radio, Skeleton, Stack } from '@mantine/core'
import { UploadIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { type Kind, useKind, useLabels } from '../record/kinds.ts'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { useTexts } from '../texts/texts.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useAddress } from '../ui/list-view.ts'
import { customKey } from './custom-key.ts'
import { ImportProgress, useArchiveKinds } from './import-parts.tsx'
import {
  type Choices,
  countArchive,
  type Imported,
  type ImportedKind,
  imported_kinds,
  importQuery,
  isImported,
  type Preview,
  type RowChoices,
  readPreview,
  startImport,
} from './imports.ts'
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
const row_types = '.csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson'

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

type MappingProps = { file: File; resource: ImportedKind }

function Mapping({ file, resource }: MappingProps) {
  const t = useTexts()
  const labelOf = useLabels(resource)
  const { matches: fields = [] }: Kind = useKind(resource)
  const [rest, setRest] = useState<RowChoices['rest']>('ignore')
  const [columns, setColumns] = useState<RowChoices['columns']>({})
  const [on_match, setOnMatch] = useState<RowChoices['on_match']>('create')
  const [match, setMatch] = useState(fields[0] ?? '')
  const { data, error, refetch } = useQuery({
    queryKey: ['import-preview', file.name, file.size, file.lastModified, resource, rest],
    queryFn: ({ signal }) => readPreview(file, { resource, rest }, signal),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton height={180} />
  return (
    <>
      <Columns
        resource={resource}
        preview={data}
        columns={columns}
        onColumn={(header, field) => setColumns({ ...columns, [header]: field })}
      />
      <Checkbox
        label={t.imports.rest}
        checked={rest === 'custom_fields'}
        onChange={(event) => setRest(event.currentTarget.checked ? 'custom_fields' : 'ignore')}
      />
      {fields.length > 0 && (
        <Radio.Group
          label={t.imports.on_match}
          value={on_match}
          onChange={(to) => setOnMatch(to as RowChoices['on_match'])}
        >
          <Stack gap="sm" mt="xs">
            {Object.entries(t.imports.on_matches).map(([value, label]) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Stack>
        </Radio.Group>
      )}
      {on_match !== 'create' && (
        <Select
          label={t.imports.match}
          maw={420}
          data={fields.map((field) => ({ value: field, label: labelOf(field) }))}
          value={match}
          onChange={(to) => setMatch(to ?? '')}
        />
      )}
      <Start file={file} choices={{ resource, on_match, match, rest, columns }} />
    </>
  )
}

const shown_values = 3

type ColumnsProps = {
  resource: ImportedKind
  preview: Preview
  columns: RowChoices['columns']
  onColumn: (header: string, field: string | null) => void
}

/** Each column of the file with its first values, and the field that it becomes. */
function Columns({ resource, preview, columns, onColumn }: ColumnsProps) {
  const t = useTexts()
  const labelOf = useLabels(resource)
  const { fields, rows } = preview
  const nameOf = (field: string) => {
    if (field === 'company') return t.imports.company_by_name
    if (field === 'name' && fields.includes('first_name')) return t.imports.full_name
    return labelOf(field)
  }
  const optionsOf = (header: string, field: string | null) => {
    const custom = field?.startsWith('custom_fields.') ? field : `custom_fields.${customKey(header)}`
    return [
      { value: '', label: t.imports.leave_out },
      ...fields
        .filter((name) => name !== 'custom_fields')
        .map((name) => ({ value: name, label: nameOf(name) })),
      { value: custom, label: t.imports.as_custom({ header: custom.slice('custom_fields.'.length) }) },
      ...(field === 'custom_fields' ? [{ value: field, label: labelOf(field) }] : []),
    ]
  }
  return (
    <table className="import-columns" aria-label={t.imports.columns}>
      <thead>
        <tr>
          <th scope="col">{t.imports.column}</th>
          <th scope="col" className="import-examples">
            {t.imports.examples}
          </th>
          <th scope="col">{t.imports.becomes}</th>
        </tr>
      </thead>
      <tbody>
        {preview.columns.map(({ header, field }, index) => {
          const now = header in columns ? (columns[header] ?? null) : field
          const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== '')
          return (
            <tr key={header}>
              <th scope="row">{header}</th>
              <td className="import-examples">
                {values.slice(0, shown_values).map((value, nth) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: values have nothing but their position
                  <span key={nth} className="one-line">
                    {typeof value === 'string' ? value : JSON.stringify(value)}
                  </span>
                ))}
              </td>
              <td>
                <Select
                  size="xs"
                  searchable
                  aria-label={t.imports.becomes_of({ header })}
                  data={optionsOf(header, now)}
                  value={now ?? ''}
                  onChange={(to) => onColumn(header, to || null)}
                />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

type StartProps = { file: File; choices: Choices }

/** Checks the file without writing, and starts its import. */
function Start({ file, choices }: StartProps) {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [sending, setSending] = useState<'check' | 'import' | null>(null)
  const [share, setShare] = useState(0)
  const [problem, setProblem] = useState<unknown>(null)
  // The check belongs to the choices that it was made with.
  const chosen = JSON.stringify(choices)
  const [checked, setChecked] = useState<{ id: string; chosen: string } | null>(null)
  async function send(what: 'check' | 'import') {
    setSending(what)
    setShare(0)
    setProblem(null)
    try {
      const made = await startImport(file, choices, what === 'check', setShare)
      client.setQueryData(importQuery(made.id).queryKey, made)
      if (what === 'check') setChecked({ id: made.id, chosen })
      else await navigate({ to: `/settings/imports/${made.id}` })
    } catch (error) {
      setProblem(error)
    } finally {
      setSending(null)
    }
  }
  return (
    <>
      <Group gap="sm">
        <Button
          variant="default"
          loading={sending === 'check'}
          disabled={sending === 'import'}
          onClick={() => send('check')}
        >
          {t.imports.dry_run}
        </Button>
        <Button loading={sending === 'import'} disabled={sending === 'check'} onClick={() => send('import')}>
          {t.imports.start}
        </Button>
      </Group>
      {sending && (
        <div>
          <Progress value={share * 100} aria-label={t.imports.progress} />
          <p className="hint numbers">{t.imports.sending({ percent: formats.percent(share) })}</p>
        </div>
      )}
      {problem ? <ProblemNote error={problem} /> : null}
      {checked?.chosen === chosen && !sending && <ImportProgress id={checked.id} />}
    </>
  )
}
