import { Skeleton } from '@mantine/core'
import { CommentDiscussionIcon, NoteIcon, TasklistIcon, TrashIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import type { Tagged } from '../../api/client.ts'
import { hasNotes } from '../../api/note-kinds.ts'
import { type RecordOf, recordApi } from '../../api/record-api.ts'
import { useCommands } from '../../app/commands.ts'
import { late } from '../../app/late.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { DraftScope } from '../../ui/field-draft.ts'
import { PageAction } from '../../ui/page-action.tsx'
import { Initials } from '../../ui/values.tsx'
import type { Save } from '../fields/facts.tsx'
import { type Shared, SharedFacts } from '../fields/shared-facts.tsx'
import {
  type AnyRecord,
  isMerged,
  type Kind,
  type Linked,
  type OwnedKind,
  type RecordProps,
  useKind,
  useNames,
} from '../kinds.ts'
import { useAssign } from '../list/assign.tsx'
import { useStored } from '../refresh.ts'
import { useToTrash } from '../to-trash.ts'
import { type Authored, Authors } from './authors.tsx'
import { useRecordLog } from './log.tsx'
import { MergedAway, MergedInto, useMergeWith } from './merges.tsx'
import { MoreActions, type RecordAction } from './more-actions.tsx'
import { useQuickCreates } from './quick.tsx'
import { RecordLayout, type RecordTab } from './record-layout.tsx'
import { ReadRecord } from './record-page.tsx'
import { useRelatedTabs } from './related.tsx'
import { Timeline } from './timeline.tsx'

const Notes = late(async () => (await import('../notes/notes.tsx')).Notes, <Skeleton height={64} />, true)

type Parts = {
  icon?: ReactNode
  subtitle?: ReactNode
  actions?: ReactNode
  /** The facts that a seller needs first, below the header. */
  glance?: ReactNode
  facts: ReactNode
  /** The values that new records in its tabs start with, besides the record itself. */
  linked?: Linked
  /** Between the timeline and the tabs of other records. */
  tabs?: RecordTab[]
  last_tabs?: RecordTab[]
}

type Props<K extends OwnedKind> = RecordProps & {
  kind: K
  children: (record: RecordOf<K>, save: Save<K>) => Parts
}

/**
 * A record with its timeline, related records and delete button, on its page and in the side panel.
 * `children` adds the parts that only its kind has.
 */
export function RecordView<K extends OwnedKind>(props: Props<K>) {
  const kind: OwnedKind = props.kind
  const { panel = false } = props
  return (
    <ReadRecord
      query={recordApi(props.kind).query(props.id)}
      merged={(into) => isMerged(kind) && <MergedAway kind={kind} into={into} panel={panel} />}
    >
      {(record) => (
        <DraftScope value={`${kind}-${props.id}`}>
          <KnownRecord key={props.id} {...props} record={record} />
        </DraftScope>
      )}
    </ReadRecord>
  )
}

function KnownRecord<K extends OwnedKind>(props: Props<K> & { record: RecordOf<K> }) {
  const { kind, id, record, panel = false, onLeave, children } = props
  const t = useTexts()
  const { path, noun, nameOf, person = false, timeline }: Kind = useKind(kind)
  const names = useNames(kind)
  const writes = useMay()(`${kind}:write`)
  const toTrash = useToTrash()
  const store = useStored(kind, record as RecordOf<K> & Tagged)
  const save: Save<K> = writes ? store : undefined
  const name = nameOf(record as AnyRecord)
  const parts = children(record, save)
  const linked: Linked = { ...parts.linked, [noun]: { id, name } }
  const related = useRelatedTabs(kind, id, linked)
  const log = useRecordLog(kind, id, name, parts.linked)
  const quick = useQuickCreates(kind, name, linked)
  const merge = useMergeWith(kind, id)
  const task = quick.actions.find((one) => one.id === 'activities')
  // Every kind of this page has them.
  const shared = record as unknown as Shared & Authored

  const remove = () => toTrash({ kind, id, name, leave: onLeave })
  useCommands([{ id: `delete-${kind}`, label: names.delete, group: 'actions', run: remove }], writes)
  // Beside a list, the list assigns.
  const { dialog } = useAssign(kind, () => ({ rows: [shared] }), !panel)
  const more: RecordAction[] = [
    ...quick.actions.filter((one) => one !== task),
    ...merge.actions,
    ...(writes ? [{ id: 'delete', label: names.delete, icon: TrashIcon, run: remove }] : []),
  ]
  const first: RecordTab[] = timeline
    ? [{ id: 'timeline', label: t.app.timeline, content: <Timeline kind={kind} id={id} name={name} /> }]
    : []
  if (hasNotes(kind))
    first.push({
      id: 'notes',
      label: t.fields.notes,
      content: <Notes kind={kind} id={id} />,
      ...(writes && {
        command: { keys: 'n', label: t.app.keys.note, word: t.record.actions.note, icon: NoteIcon },
      }),
    })
  return (
    <>
      {dialog}
      {log.dialog}
      {quick.dialog}
      {merge.dialog}
      <RecordLayout
        id={id}
        panel={panel}
        editable={writes}
        back={{ to: path, label: names.back }}
        icon={parts.icon ?? <Initials name={name} square={!person} />}
        title={name}
        subtitle={parts.subtitle}
        lead={
          log.open && (
            <PageAction
              word={t.record.actions.log}
              label={log.label}
              icon={CommentDiscussionIcon}
              onClick={log.open}
            />
          )
        }
        actions={
          <>
            {parts.actions}
            {task && (
              <PageAction
                word={t.record.actions.task}
                label={t.record.task_for({ name })}
                icon={TasklistIcon}
                onClick={task.run}
              />
            )}
            <MoreActions actions={more} />
          </>
        }
        glance={parts.glance}
        facts={
          <>
            {parts.facts}
            <SharedFacts kind={kind} record={shared} save={save as Save<OwnedKind>} />
            <Authors {...shared} />
            {isMerged(kind) && <MergedInto kind={kind} id={id} />}
          </>
        }
        tabs={[...first, ...(parts.tabs ?? []), ...related, ...(parts.last_tabs ?? [])]}
      />
    </>
  )
}
