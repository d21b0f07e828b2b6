import { Button, Progress, Skeleton, TextInput } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useAllKinds, useLabels } from '../record/kinds.ts'
import { type Texts, useTexts } from '../texts/with-imports.ts'
import { DataTable } from '../ui/table.tsx'
import { Status } from '../webhooks/statuses.tsx'
import { type Cells, errorsHref, hasEnded, type Import, importQuery, readErrors } from './imports.ts'
import { cellOf, errorsIn, type ReadColumn, type RowError, rowMessage } from './row-errors.ts'
import './imports.css'

/** The status of an import as a label. */
export function ImportStatus({ status, options }: Pick<Import, 'status' | 'options'>) {
  const { imports } = useTexts()
  return (
    <>
      <Status status={status} label={imports.statuses[status]} />
      {options.dry_run && <span className="soft"> {imports.check}</span>}
    </>
  )
}

/** The name of the file. A check says that it is one. */
export const titleOf = ({ file_name, options }: Pick<Import, 'file_name' | 'options'>, t: Texts): string => {
  const file = file_name ?? t.imports.unnamed
  return options.dry_run ? t.imports.check_of({ file }) : file
}

const counted = ['rows_read', 'created', 'updated', 'skipped', 'failed'] as const

/** The columns of a file, and the cells of them that the person mends. */
export type Mending = {
  columns: readonly ReadColumn[]
  cells: Cells
  onCell(row: string, header: string, value: string): void
}

/** The progress of an import while it runs, its numbers, and its errors. With `mending`, cells with an error are inputs. */
export function ImportProgress({ id, mending }: { id: string; mending?: Mending }) {
  const t = useTexts()
  const formats = useFormats()
  const { data, error, refetch } = useQuery(importQuery(id))
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton height={64} />
  // A waiting import has read nothing.
  const running = data.status === 'running'
  return (
    <div className="import-progress">
      <p role="status" className="import-line">
        <ImportStatus {...data} />
        {data.options.dry_run && data.status === 'succeeded' && (
          <span className="hint">{t.imports.checked}</span>
        )}
      </p>
      {!hasEnded(data) && (
        <div className="import-share">
          <Progress value={running ? data.progress * 100 : 100} animated aria-label={t.imports.progress} />
          {running && <span className="hint numbers">{formats.percent(data.progress)}</span>}
        </div>
      )}
      <ReadAs {...data} />
      {data.message && <p className="import-message">{data.message}</p>}
      <dl className="import-counts">
        {counted.map((name) => (
          <div key={name} data-bad={(name === 'failed' && data.failed > 0) || undefined}>
            <dt>{data.options.dry_run ? t.imports.would[name] : t.imports[name]}</dt>
            <dd className="numbers">{formats.number(data[name])}</dd>
          </div>
        ))}
      </dl>
      {data.resource === 'workspace' && data.kinds.length > 0 && <KindCounts kinds={data.kinds} />}
      {data.columns.length > 0 && hasEnded(data) && (
        <Account columns={data.columns} resource={data.resource} is_check={data.options.dry_run} />
      )}
      {data.errors > 0 && hasEnded(data) && (
        <ImportErrors id={id} resource={data.resource} columns={data.columns} mending={mending} />
      )}
    </div>
  )
}

/** How the file was read: what a person may have chosen, or the program found. */
function ReadAs({ encoding, sheet, header_row }: Import) {
  const { read_as } = useTexts().imports
  const facts = [
    ...(encoding === null ? [] : [read_as.encoding({ encoding })]),
    ...(sheet === null ? [] : [read_as.sheet({ sheet })]),
    ...(header_row === null ? [] : [read_as.header_row({ row: header_row })]),
  ]
  return facts.length > 0 ? <p className="hint">{facts.join(' · ')}</p> : null
}

/** The names of what a column can become: fields, references by name, and parts of fields. */
export function useTargetNames(resource: Import['resource']): (target: string) => string {
  const { imports } = useTexts()
  const labelOf = useLabels(resource)
  const names: Record<string, string> = {
    ...imports.parts,
    company: imports.company_by_name,
    contact: imports.contact_by_name,
    deal: imports.deal_by_name,
    owner: imports.owner_by_name,
    ...(resource === 'contacts' && { name: imports.full_name }),
  }
  const custom = 'custom_fields.'
  return (target) =>
    target.startsWith(custom)
      ? imports.as_custom({ header: target.slice(custom.length) })
      : (names[target] ?? labelOf(target))
}

/** The account of the cells: a sentence, and the columns of which some values changed their form or were left out. */
function Account({
  columns,
  resource,
  is_check,
}: Pick<Import, 'columns' | 'resource'> & { is_check: boolean }) {
  const t = useTexts()
  const formats = useFormats()
  const nameOf = useTargetNames(resource)
  const { uses } = t.imports
  const sum = (name: 'stored' | 'changed' | 'left_out') => columns.reduce((all, one) => all + one[name], 0)
  const [stored, changed, left_out] = [sum('stored'), sum('changed'), sum('left_out')]
  const all = stored + changed + left_out
  const not_as_is = columns.filter((one) => one.changed + one.left_out > 0)
  const fieldOf = (field: string | null) => (field === null ? t.imports.account_nothing : nameOf(field))
  if (all === 0) return null
  const title = is_check ? t.imports.check_account : t.imports.account
  const sentence = is_check ? t.imports.check_sentence : t.imports.account_sentence
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p>{sentence({ all, stored, changed, left_out })}</p>
      {not_as_is.length > 0 && (
        <Scrolled label={title}>
          <table className="import-kinds" aria-label={title}>
            <thead>
              <tr>
                <th scope="col">{t.imports.column}</th>
                <th scope="col">{t.imports.account_field}</th>
                <th scope="col" className="numbers">
                  {t.imports.account_stored}
                </th>
                <th scope="col" className="numbers">
                  {t.imports.account_changed}
                </th>
                <th scope="col">{t.imports.account_left_out}</th>
              </tr>
            </thead>
            <tbody>
              {not_as_is.map(({ header, field, reasons, ...one }) => (
                <tr key={`${header} ${field}`}>
                  <th scope="row">{header}</th>
                  <td className="import-field">{fieldOf(field)}</td>
                  <td className="numbers">{formats.number(one.stored)}</td>
                  <td className="numbers">{formats.number(one.changed)}</td>
                  <td className="import-field">
                    {Object.entries(reasons)
                      .map(([use, n]) => `${formats.number(n)} ${uses[use as keyof typeof uses] ?? use}`)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
    </section>
  )
}

/** A table that may be wider than the screen. */
const Scrolled = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll a table that is wider than the screen
  <section className="import-scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

/** The names of an archive's kinds, in the plural. */
export function useArchiveKinds(): Record<string, string> {
  const t = useTexts()
  const of_records = useAllKinds().map(({ kind }) => [kind, t.kinds[kind].many])
  return { ...Object.fromEntries(of_records), ...t.imports.kinds }
}

// An archive changes no record.
const counted_by_kind = counted.filter((name) => name !== 'updated')

/** The numbers of an archive's import by kind, and what it leaves out. */
function KindCounts({ kinds }: Pick<Import, 'kinds'>) {
  const t = useTexts()
  const formats = useFormats()
  const names = useArchiveKinds()
  return (
    <>
      <Scrolled label={t.imports.by_kind}>
        <table className="import-kinds" aria-label={t.imports.by_kind}>
          <thead>
            <tr>
              <th scope="col">{t.imports.of_kind}</th>
              {counted_by_kind.map((name) => (
                <th key={name} scope="col" className="numbers">
                  {t.imports[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.map((one) => (
              <tr key={one.kind}>
                <th scope="row">{names[one.kind] ?? one.kind}</th>
                {counted_by_kind.map((name) => (
                  <td
                    key={name}
                    className="numbers"
                    data-bad={(name === 'failed' && one.failed > 0) || undefined}
                  >
                    {formats.number(one[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      <p className="hint">{t.imports.no_members}</p>
    </>
  )
}

const shown_errors = 100

/** The first errors as a table, and all of them as a file. */
function ImportErrors({
  id,
  resource,
  columns,
  mending,
}: Pick<Import, 'id' | 'resource' | 'columns'> & { mending: Mending | undefined }) {
  const t = useTexts()
  const nameOf = useTargetNames(resource)
  const { data, error, refetch } = useQuery({
    queryKey: ['imports', 'errors', id],
    queryFn: async ({ signal }) => errorsIn(await readErrors(id, signal)).slice(0, shown_errors),
  })
  return (
    <section aria-label={t.imports.errors}>
      <div className="import-line">
        <h2>{t.imports.errors}</h2>
        <Button
          component="a"
          href={errorsHref(id)}
          download
          variant="default"
          leftSection={<DownloadIcon size={14} />}
        >
          {t.imports.errors_file}
        </Button>
      </div>
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      <div className="import-errors">
        <DataTable
          label={t.imports.errors}
          rows={data}
          nameOf={({ row }) => row}
          empty={null}
          columns={[
            { id: 'row', label: t.imports.row, width: 72, cell: ({ row }) => row },
            {
              id: 'field',
              label: t.imports.field,
              phone: mending === undefined,
              cell: ({ field }) => nameOf(field),
            },
            {
              id: 'message',
              label: t.imports.message,
              phone: true,
              cell: (error) => <span className="import-problem">{rowMessage(error, t)}</span>,
            },
            {
              id: 'cell',
              label: t.imports.cell,
              phone: mending !== undefined,
              width: mending ? 220 : 140,
              cell: (error) => <ErrorCell error={error} columns={columns} mending={mending} />,
            },
            {
              id: 'content',
              label: t.imports.content,
              cell: ({ content }) => <span title={content}>{content}</span>,
            },
          ]}
        />
      </div>
    </section>
  )
}

type ErrorCellProps = {
  error: RowError
  columns: readonly ReadColumn[]
  mending: Mending | undefined
}

/** The value of a cell with an error; an input where it can be mended. */
function ErrorCell({ error, columns, mending }: ErrorCellProps) {
  const t = useTexts()
  const cell = cellOf(error, mending?.columns ?? columns)
  if (!cell) return null
  const { header, value } = cell
  if (!mending) return <span title={value}>{value}</span>
  const { row } = error
  return (
    <TextInput
      size="xs"
      aria-label={t.imports.cell_of({ header, row })}
      value={mending.cells[row]?.[header] ?? value}
      onChange={(event) => mending.onCell(row, header, event.currentTarget.value)}
    />
  )
}
