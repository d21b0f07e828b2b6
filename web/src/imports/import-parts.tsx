import { Button, Progress, Skeleton } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useAllKinds, useLabels } from '../record/kinds.ts'
import { useTexts } from '../texts/with-imports.ts'
import { DataTable } from '../ui/table.tsx'
import { Status } from '../webhooks/statuses.tsx'
import { errorsHref, hasEnded, type Import, importQuery, readErrors } from './imports.ts'
import { errorsIn, rowMessage } from './row-errors.ts'
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

const counted = ['rows_read', 'created', 'updated', 'skipped', 'failed'] as const

/** The progress of an import while it runs, its numbers, and its errors. */
export function ImportProgress({ id }: { id: string }) {
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
      {data.message && <p className="import-message">{data.message}</p>}
      <dl className="import-counts">
        {counted.map((name) => (
          <div key={name} data-bad={(name === 'failed' && data.failed > 0) || undefined}>
            <dt>{t.imports[name]}</dt>
            <dd className="numbers">{formats.number(data[name])}</dd>
          </div>
        ))}
      </dl>
      {data.resource === 'workspace' && data.kinds.length > 0 && <KindCounts kinds={data.kinds} />}
      {data.columns.length > 0 && hasEnded(data) && (
        <Account columns={data.columns} resource={data.resource} />
      )}
      {data.errors > 0 && hasEnded(data) && <ImportErrors id={id} resource={data.resource} />}
    </div>
  )
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
  return (target) => names[target] ?? labelOf(target)
}

/** The account of the cells: a sentence, and the columns of which some values changed their form or were left out. */
function Account({ columns, resource }: Pick<Import, 'columns' | 'resource'>) {
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
  return (
    <section aria-label={t.imports.account}>
      <h2>{t.imports.account}</h2>
      <p>{t.imports.account_sentence({ all, stored, changed, left_out })}</p>
      {not_as_is.length > 0 && (
        <div className="import-scroll">
          <table className="import-kinds" aria-label={t.imports.account}>
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
        </div>
      )}
    </section>
  )
}

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
      <div className="import-scroll">
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
      </div>
      <p className="hint">{t.imports.no_members}</p>
    </>
  )
}

const shown_errors = 100

/** The first errors as a table, and all of them as a file. */
function ImportErrors({ id, resource }: Pick<Import, 'id' | 'resource'>) {
  const t = useTexts()
  const labelOf = useLabels(resource)
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
            { id: 'field', label: t.imports.field, phone: true, cell: ({ field }) => labelOf(field) },
            {
              id: 'message',
              label: t.imports.message,
              phone: true,
              cell: (error) => <span className="import-problem">{rowMessage(error, t)}</span>,
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
