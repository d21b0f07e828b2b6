import { Button, Skeleton, Stack } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerOf, api } from '../api/client.ts'
import { type RecordOf, recordApi } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { Link, useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { type Kind, type MergedKind, useKind, useNames } from '../record/kinds.ts'
import { mergeOf, useMayMerge } from '../record/page/merges.tsx'
import { usePages } from '../record/pages.ts'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Ago, Badge, Initials, Soft } from '../ui/values.tsx'
import './merges.css'

type Group = { reason: 'email' | 'phone' | 'name'; ids: number[] }

const readGroups = (kind: MergedKind, cursor: string, signal: AbortSignal) =>
  answerOf<{ data: Group[]; meta: object }>(
    kind === 'contacts'
      ? api.GET('/api/v1/contacts/duplicates', { params: { query: { cursor } }, signal })
      : api.GET('/api/v1/companies/duplicates', { params: { query: { cursor } }, signal }),
  )

/** The likely duplicates of a kind: groups side by side, each with a link to its merge. */
export function DuplicatesPage({ kind }: { kind: MergedKind }) {
  const t = useTexts()
  const names = useNames(kind)
  const { path } = useKind(kind)
  const navigate = useNavigate()
  const { data, error, refetch, more, loading_more, readMore } = usePages<Group>({
    queryKey: [kind, 'duplicates'],
    read: (cursor, _, signal) => readGroups(kind, cursor, signal),
  })
  const groups = data?.pages.flatMap((page) => page.data)
  // A page may have no groups although others follow.
  const empty = data?.pages.at(-1)?.data.length === 0
  useEffect(() => {
    if (empty && more && !loading_more) readMore()
  }, [empty, more, loading_more, readMore])
  return (
    <Page
      title={t.merges.duplicates(names.in_sentence)}
      actions={
        <Button component={Link} to={path} variant="default">
          {names.back}
        </Button>
      }
    >
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {!groups && !error && <Awaited />}
      {groups?.length === 0 && !more && (
        <Empty
          text={t.merges.none(names.in_sentence)}
          action={names.back}
          onAction={() => navigate({ to: path })}
        />
      )}
      <ul className="duplicates" aria-label={t.merges.duplicates(names.in_sentence)}>
        {groups?.map(({ reason, ids }) => (
          <DuplicateGroup key={`${reason} ${ids}`} kind={kind} reason={reason} ids={ids} />
        ))}
      </ul>
      {more && (
        <div className="duplicates-more">
          <Button variant="default" loading={loading_more} onClick={readMore}>
            {t.app.show_more}
          </Button>
        </div>
      )}
    </Page>
  )
}

function Awaited() {
  const t = useTexts()
  return (
    <Stack p="lg" gap="lg" role="status" aria-busy aria-label={t.app.loading}>
      <Skeleton height={120} />
      <Skeleton height={120} />
    </Stack>
  )
}

const shown_records = 4

function DuplicateGroup({ kind, reason, ids }: Group & { kind: MergedKind }) {
  const t = useTexts()
  const may = useMayMerge(kind)
  const { path, nameOf }: Kind<MergedKind> = useKind(kind)
  const shown = ids.slice(0, shown_records)
  const records = useQueries({ queries: shown.map((id) => recordApi(kind).query(id)) })
  const found = records.flatMap(({ data }) => (data ? [data] : []))
  return (
    <li className="duplicate">
      <div className="duplicate-line">
        <Badge>{t.merges.reasons[reason]}</Badge>
        {ids.length > shown.length && (
          <span className="hint">{t.merges.more({ n: ids.length - shown.length })}</span>
        )}
        {may && (
          <Button
            component={Link}
            {...mergeOf(path, ids)}
            variant="default"
            aria-label={t.merges.compare_with({ names: found.map((one) => nameOf(one)).join(', ') })}
          >
            {t.merges.compare}
          </Button>
        )}
      </div>
      <div className="duplicate-records">
        {shown.map((id, index) => (
          <RecordCard key={id} kind={kind} record={records[index]?.data} />
        ))}
      </div>
    </li>
  )
}

function RecordCard({ kind, record }: { kind: MergedKind; record: RecordOf<MergedKind> | undefined }) {
  const t = useTexts()
  const formats = useFormats()
  const { path, nameOf, lines, person = false }: Kind = useKind(kind)
  if (!record) return <Skeleton className="duplicate-record" height={92} />
  const name = nameOf(record)
  return (
    <div className="duplicate-record">
      <Link to={`${path}/${record.id}`} className="duplicate-name quiet-link">
        <Initials name={name} square={!person} />
        <span className="one-line">{name}</span>
      </Link>
      {lines(record, t, formats)
        .filter(Boolean)
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing but their position
          <span key={index} className="one-line">
            {line}
          </span>
        ))}
      <Soft>
        {t.fields.created_at} <Ago at={record.created_at} />
      </Soft>
    </div>
  )
}
