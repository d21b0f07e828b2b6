import { Button, Skeleton, Stack } from '@mantine/core'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerOf, api, dataOf } from '../api/client.ts'
import { type RecordOf, recordApi } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { Link, useNavigate } from '../app/link.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { type Kind, type MergedKind, useKind, useNames } from '../record/kinds.ts'
import { useMayMerge } from '../record/page/may-merge.ts'
import { mergeOf } from '../record/page/merges.tsx'
import { usePages } from '../record/pages.ts'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { focusBeside } from '../ui/focus.ts'
import { oneClick } from '../ui/one-press.ts'
import { Page } from '../ui/page.tsx'
import { offerUndo, showMessage } from '../ui/undo.tsx'
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

/** Says of records that they are not the same, or takes it back, for everybody. */
function useDismissal(kind: MergedKind) {
  const t = useTexts()
  const client = useQueryClient()
  async function say(what: 'dismiss' | 'restore', ids: number[]) {
    const body = { ids }
    await dataOf(
      kind === 'contacts'
        ? api.POST(`/api/v1/contacts/duplicates/${what}`, { body })
        : api.POST(`/api/v1/companies/duplicates/${what}`, { body }),
    )
    await client.invalidateQueries({ queryKey: [kind, 'duplicates'] })
  }
  return async (ids: number[], names: string) => {
    try {
      await say('dismiss', ids)
      offerUndo(t, t.merges.dismissed({ names }), async () => {
        await say('restore', ids)
        showMessage(t.merges.dismissed_back)
      })
    } catch (error) {
      showProblem(error, t)
    }
  }
}

function DuplicateGroup({ kind, reason, ids }: Group & { kind: MergedKind }) {
  const t = useTexts()
  const dismiss = useDismissal(kind)
  const writes = useMay()(`${kind}:write`)
  const may = useMayMerge(kind)
  const { path, nameOf }: Kind<MergedKind> = useKind(kind)
  const shown = ids.slice(0, shown_records)
  const records = useQueries({ queries: shown.map((id) => recordApi(kind).query(id)) })
  const found = records.flatMap(({ data }) => (data ? [data] : []))
  const hidden = ids.length - shown.length
  const more = t.merges.more({ n: hidden })
  const names = [...found.map((one) => nameOf(one)), ...(hidden > 0 ? [more] : [])].join(', ')
  return (
    <li ref={focusBeside} className="duplicate">
      <div className="duplicate-line">
        <Badge>{t.merges.reasons[reason]}</Badge>
        {hidden > 0 && <span className="hint">{more}</span>}
        {may && (
          <Button
            component={Link}
            {...mergeOf(path, ids)}
            variant="default"
            aria-label={t.merges.compare_with({ names })}
          >
            {t.merges.compare}
          </Button>
        )}
        {writes && (
          <Button
            variant="subtle"
            aria-label={t.merges.dismiss_of({ names })}
            onClick={oneClick(() => dismiss(ids, names))}
          >
            {t.merges.dismiss}
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
