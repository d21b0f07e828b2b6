import { Button } from '@mantine/core'
import { GitMergeIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import type { RecordKind } from '../../api/record-api.ts'
import type { KindPath, Target } from '../../app/addresses.ts'
import { useCommands } from '../../app/commands.ts'
import { Link, useNavigate } from '../../app/link.ts'
import { explain, showProblem } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { useOpen } from '../../ui/list-view.ts'
import { PickDialog } from '../../ui/pick-dialog.tsx'
import { showMessage } from '../../ui/undo.tsx'
import { Ago, Initials } from '../../ui/values.tsx'
import { isMerged, type Kind, type MergedKind, useKind, useKinds, useNames } from '../kinds.ts'
import { useSearch } from '../search.ts'
import { useMayMerge } from './may-merge.ts'
import type { RecordAction } from './more-actions.tsx'
import './merges.css'

/** The page that compares records and merges them. The first one stays by default. */
export const mergeOf = (
  path: KindPath<MergedKind>,
  [survivor = 0, ...others]: readonly number[],
): Target<`${typeof path}/${number}/merge`> => ({
  to: `${path}/${survivor}/merge`,
  search: { with: others.slice(0, max_others).join() },
})

/** The most records that one merge takes beside the survivor. */
export const max_others = 10

type Rows = { kind: RecordKind; rows: readonly { id: number }[] }

/** Leads from the selected rows of a list to their merge; nothing for another number of rows. */
export function MergeButton({ kind, rows }: Rows) {
  const t = useTexts()
  const may = useMayMerge(kind)
  const kinds = useKinds()
  if (!may || !isMerged(kind) || rows.length < 2 || rows.length > max_others + 1) return null
  // The oldest record stays by default.
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b)
  return (
    <Button
      component={Link}
      {...mergeOf(kinds[kind].path, ids)}
      variant="default"
      leftSection={<GitMergeIcon size={14} />}
    >
      {t.merges.merge}
    </Button>
  )
}

/** Undoes a merge, and says what could not be put back. */
export function useUndoMerge(): (merge_id: number) => Promise<void> {
  const t = useTexts()
  const client = useQueryClient()
  return async (id) => {
    const { meta } = await answerOf(
      api.POST('/api/v1/merges/{id}/undo', { params: { path: { id } }, body: {} }),
    )
    showMessage(meta.left ? t.merges.undone_partly({ n: meta.left }) : t.merges.undone)
    // Linked records of any kind have moved.
    await client.invalidateQueries()
  }
}

/** The merges into a record that can still be undone. */
export function MergedInto({ kind, id }: { kind: MergedKind; id: number }) {
  const t = useTexts()
  const names = useNames(kind)
  const may = useMayMerge(kind)
  const undo = useUndoMerge()
  const [undoing, setUndoing] = useState<number | null>(null)
  const { data } = useQuery({
    queryKey: ['merges', kind, id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/api/v1/merges', { signal, params: { query: { kind, record_id: id } } })),
  })
  const merges = data?.data.filter(({ undo_until, status }) => undo_until !== null || status === 'running')
  if (!merges?.length) return null
  async function start(merge_id: number) {
    setUndoing(merge_id)
    await undo(merge_id).catch((error) => showProblem(error, t))
    setUndoing(null)
  }
  return (
    <section aria-label={t.merges.merged}>
      <h2 className="record-heading">{t.merges.merged}</h2>
      <ul>
        {merges.map(({ id: merge_id, from_ids: { length: n }, created_at, undo_until }) => (
          <li key={merge_id} className="merged-line">
            <span>
              {t.merges.merged_into({ counted: names.counted({ n }) })} <Ago at={created_at} />
            </span>
            {undo_until === null ? (
              <span className="hint">{t.merges.merging}</span>
            ) : (
              may && (
                <Button variant="default" loading={undoing === merge_id} onClick={() => start(merge_id)}>
                  {t.merges.undo_merge}
                </Button>
              )
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The action that merges a record with another one, which is searched for. `dialog` is to be shown. */
export function useMergeWith(kind: RecordKind, id: number) {
  const t = useTexts()
  const may = useMayMerge(kind)
  const [asking, setAsking] = useState(false)
  const run = () => setAsking(true)
  useCommands([{ id: `merge-${kind}`, label: t.merges.merge_with, group: 'actions', run }], may)
  const action: RecordAction = { id: 'merge', label: t.merges.merge_with, icon: GitMergeIcon, run }
  return {
    actions: may ? [action] : [],
    dialog: asking && isMerged(kind) && <OtherDialog kind={kind} id={id} onClose={() => setAsking(false)} />,
  }
}

const typing_ms = 150

function OtherDialog({ kind, id, onClose }: { kind: MergedKind; id: number; onClose: () => void }) {
  const t = useTexts()
  const names = useNames(kind)
  const { path, person = false }: Kind<MergedKind> = useKind(kind)
  const navigate = useNavigate()
  const search = useSearch()
  const [text, setText] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), typing_ms)
    return () => clearTimeout(timer)
  }, [text])
  const { data, error, isFetching } = useQuery({
    queryKey: [kind, 'choices', asked],
    queryFn: ({ signal }) => search(kind)(asked, signal),
  })
  const current = text.trim() === asked
  const found = current ? (data?.filter((one) => one.id !== id) ?? []) : []
  const entries = found.map((one) => ({
    id: String(one.id),
    name: one.name,
    detail: one.detail ?? null,
    icon: <Initials name={one.name} square={!person} />,
    run: () => navigate(mergeOf(path, [id, one.id])),
  }))
  const none = current && data && !entries.length
  return (
    <PickDialog
      compact
      label={t.merges.merge_with}
      placeholder={t.merges.merge_with_hint({ kind })}
      text={text}
      onText={setText}
      groups={entries.length ? [{ label: names.many, entries }] : []}
      searching={!current || isFetching}
      said={error ? explain(error, t) : none ? t.app.palette_empty : ''}
      onClose={onClose}
    />
  )
}

/** In place of a merged record: leads to the one that it was merged into. */
export function MergedAway({ kind, into, panel }: { kind: MergedKind; into: number; panel: boolean }) {
  const t = useTexts()
  const { path } = useKind(kind)
  const navigate = useNavigate()
  const setOpen = useOpen()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each merged record
  useEffect(() => {
    showMessage(t.merges.moved_on({ kind }))
    if (panel) setOpen(into)
    else navigate({ to: `${path}/${into}`, replace: true })
  }, [into])
  return null
}
