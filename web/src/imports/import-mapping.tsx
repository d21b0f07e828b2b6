import { Button, Checkbox, Group, Radio, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ProblemNote } from '../app/problems.tsx'
import { browserZones } from '../people/zone-names.ts'
import { type Kind, useKind, useLabels } from '../record/kinds.ts'
import { useTexts } from '../texts/with-imports.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useAddress } from '../ui/list-view.ts'
import { customKey } from './custom-key.ts'
import { FileFactsChoice } from './file-facts.tsx'
import { useTargetNames } from './import-parts.tsx'
import { Start } from './import-start.tsx'
import {
  type FileFacts,
  found_facts,
  type ImportedKind,
  isImported,
  type Preview,
  type RowChoices,
  readPreview,
} from './imports.ts'
import type { ReadColumn } from './row-errors.ts'
import './imports.css'

type MappingProps = { file: File; resource: ImportedKind }

export function Mapping({ file, resource }: MappingProps) {
  const t = useTexts()
  const labelOf = useLabels(resource)
  const { matches: fields = [] }: Kind = useKind(resource)
  const [rest, setRest] = useState<RowChoices['rest']>('ignore')
  const [columns, setColumns] = useState<RowChoices['columns']>({})
  const [chosen_match, setOnMatch] = useState<RowChoices['on_match'] | null>(null)
  const [bad_cells, setBadCells] = useState<RowChoices['bad_cells']>('fail')
  const [match, setMatch] = useState(fields[0] ?? '')
  const [tags, setTags] = useState<RowChoices['tags']>('add')
  const [program, setProgram] = useState<string | null>(null)
  const [time_zone, setTimeZone] = useState<string | null>(null)
  const [facts, setFacts] = useState(found_facts)
  // Another header has other columns.
  const readAs = (to: FileFacts) => {
    setFacts(to)
    setColumns({})
  }
  const { data, error, refetch } = useQuery({
    queryKey: [
      'import-preview',
      file.name,
      file.size,
      file.lastModified,
      resource,
      rest,
      program,
      time_zone,
      facts,
    ],
    queryFn: ({ signal }) => readPreview(file, { resource, rest, program, time_zone, ...facts }, signal),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const retry = () => (facts === found_facts ? refetch() : readAs(found_facts))
  if (error) return <ProblemNote error={error} onRetry={retry} />
  if (!data) return <Skeleton height={180} />
  const { existing } = data
  // Deals of one name are often several, such as renewals.
  const proposed = existing && existing.found > 0 && resource !== 'deals' ? 'update' : 'create'
  const on_match = chosen_match ?? proposed
  const read = data.columns.map(({ header, field }) => ({
    header,
    field: header in columns ? (columns[header] ?? null) : field,
  }))
  return (
    <>
      <FileFactsChoice preview={data} facts={facts} onFacts={readAs} />
      <Origin
        preview={data}
        resource={resource}
        program={program}
        onProgram={setProgram}
        onTimeZone={setTimeZone}
      />
      <Summary program={data.program?.label ?? null} columns={read} />
      <Columns
        resource={resource}
        preview={data}
        columns={columns}
        onColumn={(header, field) => setColumns({ ...columns, [header]: field })}
      />
      {!data.complete && <p className="hint">{t.imports.some_columns}</p>}
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
          {existing && existing.found > 0 && <p className="hint">{t.imports.existing(existing)}</p>}
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
      {on_match === 'update' && (
        <Checkbox
          label={t.imports.replace_tags}
          checked={tags === 'replace'}
          onChange={(event) => setTags(event.currentTarget.checked ? 'replace' : 'add')}
        />
      )}
      <Checkbox
        label={t.imports.leave_bad_cells}
        checked={bad_cells === 'leave_out'}
        onChange={(event) => setBadCells(event.currentTarget.checked ? 'leave_out' : 'fail')}
      />
      <Start
        // Mended cells are of their sheet and its rows.
        key={`${facts.sheet} ${facts.header_row}`}
        file={file}
        choices={{ resource, on_match, match, tags, rest, columns, bad_cells, program, time_zone, ...facts }}
        columns={data.header_row === null ? null : read}
      />
    </>
  )
}

const named_headers = 8

/** Says where the columns go, in a sentence, and the columns that are left out. */
function Summary({ program, columns }: { program: string | null; columns: readonly ReadColumn[] }) {
  const t = useTexts()
  const is_custom = ({ field }: ReadColumn) => field?.startsWith('custom_fields.') ?? false
  const left = columns.filter(({ field }) => field === null).map(({ header }) => header)
  const custom = columns.filter(is_custom).length
  const counts = {
    all: columns.length,
    custom,
    left: left.length,
    fields: columns.length - custom - left.length,
  }
  const headers = left.slice(0, named_headers).join(', ')
  const more = left.length - named_headers
  return (
    <div role="status">
      <p>
        {program !== null && `${t.imports.of_program({ program })} `}
        {t.imports.summary(counts)}
      </p>
      {left.length > 0 && (
        <p className="hint">
          {t.imports.left_headers({
            headers: more > 0 ? t.imports.left_more({ headers, more }) : headers,
          })}
        </p>
      )}
    </div>
  )
}

const shown_values = 3

type ColumnsProps = {
  resource: ImportedKind
  preview: Preview
  columns: RowChoices['columns']
  onColumn: (header: string, field: string | null) => void
}

type OriginProps = {
  preview: Preview
  resource: ImportedKind
  program: string | null
  onProgram: (program: string) => void
  onTimeZone: (zone: string | null) => void
}

/** The program that wrote the file, by its headers or by choice, and the zone of its times. */
function Origin({ preview, resource, program, onProgram, onTimeZone }: OriginProps) {
  const t = useTexts()
  const { change } = useAddress()
  const { program: found, programs, time_zone, columns } = preview
  const kind = found && isImported(found.kind) ? found.kind : null
  return (
    <Stack gap="xs">
      <Select
        label={t.imports.program}
        maw={420}
        data={[
          { value: 'none', label: t.imports.no_program },
          ...programs.map(({ id, label }) => ({ value: id, label })),
        ]}
        value={found?.id ?? program ?? 'none'}
        onChange={(to) => onProgram(to ?? 'none')}
      />
      {found && found.evidence.length > 0 && (
        <p className="hint">{t.imports.recognised({ evidence: found.evidence.join(', ') })}</p>
      )}
      {found && kind && kind !== resource && (
        <Group gap="sm" role="status">
          <span>{t.imports.other_kind({ label: found.label, many: t.kinds[kind].in_sentence.many })}</span>
          <Button size="xs" variant="default" onClick={() => change({ resource: kind }, true)}>
            {t.imports.take_kind({ many: t.kinds[kind].in_sentence.many })}
          </Button>
        </Group>
      )}
      {columns.some(({ has_times }) => has_times) && (
        <Select
          label={t.imports.time_zone}
          maw={420}
          searchable
          data={[...new Set([time_zone, 'UTC', ...browserZones()])]}
          value={time_zone}
          onChange={onTimeZone}
        />
      )}
    </Stack>
  )
}

/** Each column of the file with its first values, and the field that it becomes. */
function Columns({ resource, preview, columns, onColumn }: ColumnsProps) {
  const t = useTexts()
  const labelOf = useLabels(resource)
  const { fields, rows } = preview
  const nameOf = useTargetNames(resource)
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
        {preview.columns.map((column, index) => {
          const { header, field } = column
          const now = header in columns ? (columns[header] ?? null) : field
          const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== '')
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: headers may be equal, and columns do not move
            <tr key={index}>
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
                {!(header in columns) && <Hint {...column} />}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** Why a column has no field, or how its numbers and days are read. */
function Hint({ field, reason, decimal, day_order }: Preview['columns'][number]) {
  const { lacks, reads } = useTexts().imports
  const texts = [
    ...(field === null && reason !== null ? [lacks[reason as keyof typeof lacks]] : []),
    ...(decimal === null ? [] : [decimal === ',' ? reads.comma : reads.point]),
    ...(day_order === null ? [] : [reads[day_order as keyof typeof reads]]),
  ]
  return texts.length > 0 ? <p className="hint import-hint">{texts.join(' ')}</p> : null
}
