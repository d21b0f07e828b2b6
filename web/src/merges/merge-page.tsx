import { Button, Radio } from '@mantine/core'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, useState } from 'react'
import { answerOf, api, isGone } from '../api/client.ts'
import { type RecordOf, recordApi } from '../api/record-api.ts'
import { NotFound } from '../app/fallback-pages.tsx'
import { useFormats } from '../app/formats.ts'
import { Link, useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useFieldLabels, useReadable } from '../record/fields/changes.tsx'
import { useDefinitions } from '../record/fields/definitions.ts'
import { type Kind, type MergedKind, useKind, useLabels, useNames } from '../record/kinds.ts'
import { AwaitedRecord } from '../record/page/awaited-record.tsx'
import { useMayMerge } from '../record/page/may-merge.ts'
import { useUndoMerge } from '../record/page/merges.tsx'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { isId, useAddress } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { offerUndo } from '../ui/undo.tsx'
import { Ago } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import { type Choice, choicesOf, idsIn, unitedTags } from './choices.ts'
import { type LinkedCount, useLinkedCounts } from './linked-counts.ts'
import './merges.css'

type Merged = RecordOf<MergedKind>

/** Compares records side by side, and merges them into the one that stays. */
export function MergePage({ kind }: { kind: MergedKind }) {
  const t = useTexts()
  const names = useNames(kind)
  const { path } = useKind(kind)
  const navigate = useNavigate()
  const may = useMayMerge(kind)
  const { id } = useParams({ strict: false }) as { id?: string }
  const { address } = useAddress()
  const first = isId(id) ? Number(id) : 0
  const ids = [first, ...idsIn(address.with ?? '', first)]
  const answers = useQueries({ queries: ids.map((one) => recordApi(kind).query(one)) })
  if (!first || !may) return <NotFound />
  // A record that is gone is left out.
  const failed = answers.find(({ error }) => error && !isGone(error))
  const waiting = answers.some(({ data, error }) => !data && !error)
  const records = answers.flatMap(({ data, error }) => (data && !isGone(error) ? [data] : []))
  return (
    <Page title={t.merges.title(names.in_sentence)}>
      {failed && <ProblemNote error={failed.error} onRetry={() => failed.refetch()} />}
      {waiting && <AwaitedRecord />}
      {!waiting && !failed && records.length < 2 && (
        <Empty text={t.merges.too_few} action={names.back} onAction={() => navigate({ to: path })} />
      )}
      {!waiting && !failed && records.length > 1 && (
        <Comparison key={ids.join()} kind={kind} records={records} />
      )}
    </Page>
  )
}

function Comparison({ kind, records }: { kind: MergedKind; records: Merged[] }) {
  const t = useTexts()
  const labelOf = useLabels(kind)
  const { nameOf }: Kind = useKind(kind)
  const [survivor_id, setSurvivor] = useState(records[0]?.id)
  const [wanted, setWanted] = useState<Record<string, number>>({})
  const survivor = records.find((one) => one.id === survivor_id) ?? (records[0] as Merged)
  const defined = useDefinitions(kind).map(({ key }) => key)
  const choices = choicesOf([survivor, ...records.filter((one) => one !== survivor)], defined)
  const tags = unitedTags(records)
  const counts = useLinkedCounts(
    kind,
    records.map((one) => one.id),
  )
  const fields = Object.fromEntries(
    choices.flatMap(({ field, usual }) => {
      const id = wanted[field]
      return id === undefined || id === usual ? [] : [[field, id] as const]
    }),
  )
  return (
    <div className="merge" style={{ '--records': records.length } as CSSProperties}>
      <div className="merge-table">
        <Row label={t.merges.survivor} head>
          {records.map((record) => (
            <div key={record.id} className="merge-cell">
              <Radio
                name="survivor"
                label={nameOf(record)}
                aria-label={t.merges.keep({ name: nameOf(record) })}
                checked={record === survivor}
                onChange={() => setSurvivor(record.id)}
              />
              <p className="hint">
                {t.fields.created_at} <Ago at={record.created_at} />
              </p>
            </div>
          ))}
        </Row>
        {choices.map((choice) => (
          <ChoiceRow
            key={choice.field}
            kind={kind}
            records={records}
            choice={choice}
            chosen={wanted[choice.field] ?? choice.usual}
            onChoose={(id) => setWanted({ ...wanted, [choice.field]: id })}
          />
        ))}
        {tags.length > 0 && (
          <Row label={t.merges.added_together({ field: labelOf('tags') })}>
            <div className="merge-cell merge-fixed merge-whole">{visible(tags.join(', '))}</div>
          </Row>
        )}
        {counts.map((count) => (
          <CountRow key={count.names.many} {...count} records={records} />
        ))}
      </div>
      <Foot kind={kind} survivor={survivor} records={records} fields={fields} counts={counts} />
    </div>
  )
}

type RowProps = { label: string; head?: boolean; children: ReactNode }

const Row = ({ label, head = false, children }: RowProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row of a grid with its legend
  <div className={head ? 'merge-row merge-head' : 'merge-row'} role="group" aria-label={label}>
    <span className="merge-label">{label}</span>
    {children}
  </div>
)

type ChoiceProps = {
  kind: MergedKind
  records: Merged[]
  choice: Choice
  chosen: number
  onChoose: (id: number) => void
}

/** One field: a value to choose from each record, or the value that all have. */
function ChoiceRow({ kind, records, choice, chosen, onChoose }: ChoiceProps) {
  const { field, values, differs } = choice
  const t = useTexts()
  const shown = useFieldLabels(kind)(field)
  const read = useReadable(kind)
  const { nameOf }: Kind = useKind(kind)
  const textOf = (record: Merged, value: unknown) =>
    field === 'company_id' && 'company' in record ? (record.company?.name ?? '') : read(field, value)
  const heldBy = (id: number) => values.find((one) => one.id === id)?.value
  return (
    <Row label={shown}>
      {records.map((record) => {
        const value = heldBy(record.id)
        const text = value === null || value === '' ? '' : textOf(record, value)
        if (!differs || !text)
          return (
            <div key={record.id} className="merge-cell merge-fixed">
              {text}
            </div>
          )
        return (
          <div key={record.id} className="merge-cell" data-passed={chosen !== record.id || undefined}>
            <Radio
              name={field}
              label={text}
              aria-label={t.merges.select({ field: shown, value: text, name: nameOf(record) })}
              checked={chosen === record.id}
              onChange={() => onChoose(record.id)}
            />
          </div>
        )
      })}
    </Row>
  )
}

function CountRow({ names, counts, records }: LinkedCount & { records: Merged[] }) {
  const formats = useFormats()
  if (counts.every((count) => count === 0)) return null
  return (
    <Row label={names.many}>
      {records.map((record, index) => {
        const count = counts[index]
        return (
          <div key={record.id} className="merge-cell merge-fixed numbers">
            {count === undefined ? '…' : formats.number(count)}
          </div>
        )
      })}
    </Row>
  )
}

type FootProps = {
  kind: MergedKind
  survivor: Merged
  records: Merged[]
  fields: Record<string, number>
  counts: LinkedCount[]
}

/** The records that move, and the button that merges. */
function Foot({ kind, survivor, records, fields, counts }: FootProps) {
  const t = useTexts()
  const names = useNames(kind)
  const { path, nameOf }: Kind = useKind(kind)
  const navigate = useNavigate()
  const client = useQueryClient()
  const undo = useUndoMerge()
  const [merging, setMerging] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const counted = names.counted({ n: records.length })
  const moving = counts.flatMap(({ names, counts: those }) => {
    const sum = those.reduce<number>(
      (all, count, at) => all + (records[at] === survivor ? 0 : (count ?? 0)),
      0,
    )
    return sum ? [names.counted({ n: sum })] : []
  })
  async function merge() {
    setMerging(true)
    setProblem(null)
    try {
      const from_ids = records.flatMap(({ id }) => (id === survivor.id ? [] : [id]))
      const init = { params: { path: { id: survivor.id } }, body: { from_ids, fields } }
      const { meta } = await answerOf<{ meta: { merge_id: number } }>(
        kind === 'contacts'
          ? api.POST('/api/v1/contacts/{id}/merge', init)
          : api.POST('/api/v1/companies/{id}/merge', init),
      )
      offerUndo(t, t.merges.done({ counted }), () => undo(meta.merge_id))
      await navigate({ to: `${path}/${survivor.id}`, replace: true })
      // Linked records of any kind have moved.
      await client.invalidateQueries()
    } catch (error) {
      setProblem(error)
      setMerging(false)
    }
  }
  return (
    <>
      {problem ? <ProblemNote error={problem} /> : null}
      <div className="merge-foot">
        <p className="hint">
          {moving.length
            ? t.merges.moves({ what: moving.join(', '), name: nameOf(survivor) })
            : t.merges.nothing_moves}{' '}
          {t.merges.survivor_hint}
        </p>
        <Button component={Link} to={`${path}/${survivor.id}`} variant="default">
          {t.app.cancel}
        </Button>
        <Button loading={merging} onClick={merge}>
          {t.merges.action({ counted })}
        </Button>
      </div>
    </>
  )
}
