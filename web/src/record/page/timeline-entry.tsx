import { ArrowRightIcon, type Icon, NoteIcon, PencilIcon } from '@primer/octicons-react'
import type { Schemas } from '../../api/client.ts'
import type { Note } from '../../api/note-api.ts'
import { recordOfNote } from '../../api/note-kinds.ts'
import type { RecordKind, RowOf } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { place, useTexts } from '../../texts/texts.ts'
import { Ago } from '../../ui/values.tsx'
import { ChangedFields, stageName, whoOf } from '../fields/changes.tsx'
import { RecordLink } from '../fields/linked.tsx'
import { OwnerAvatar } from '../fields/owner.tsx'
import { type Kind, useKinds, useNames } from '../kinds.ts'
import { MentionText } from '../notes/mention-text.tsx'
import { NoteEdited } from '../notes/note-history.tsx'
import { useBy } from './authors.tsx'
import { Explained, type Change as Happened } from './explained.tsx'

export type Entry = Schemas['TimelineEntry']
type Actor = Schemas['Actor']
type Change = {
  action: string
  actor: Actor
  /** Undefined if long: the audit log has it. */
  before?: Record<string, unknown> | null
  after?: Record<string, unknown> | null
}
type Stage = { deal_id: number; deal_name: string; from: string | null; to: string; by: Actor }

// Other types are created records: they have the icon of their kind.
const icons: Partial<Record<string, Icon>> = {
  change: PencilIcon,
  note: NoteIcon,
  company_note: NoteIcon,
  deal_note: NoteIcon,
  stage_change: ArrowRightIcon,
}

/** The fields that the entry of a stage change shows. */
const of_stage = ['stage', 'status', 'probability', 'closed_at']

/** Whether other entries show everything of this one. */
export function isShownElsewhere({ type, data }: Entry): boolean {
  if (type === 'stage_change') return (data as Stage).from === null
  if (type !== 'change' || (data as Change).action !== 'stage_changed') return false
  return Object.keys((data as Change).after ?? {}).every((name) => of_stage.includes(name))
}

const isNote = (type: string) => icons[type] === NoteIcon

/** An entry in the timeline of a record of `kind`, with the earlier ones that it stands for. */
type Props = {
  kind: RecordKind
  id: number
  name: string
  entry: Entry
  earlier?: readonly Entry[]
  planned?: boolean
}

/** The key that entries of one line share; null for an entry of its own. */
function lineOf({ type, at, data }: Entry): string | null {
  if (type === 'stage_change') {
    const { deal_id, by } = data as Stage
    return `${deal_id} ${JSON.stringify(by)}`
  }
  const { action, actor } = data as Change
  return type === 'change' && action === 'updated' ? `${at.slice(0, 10)} ${JSON.stringify(actor)}` : null
}

/** The entries, newest first, of which some stand for earlier ones: moves of a deal, and changes by one person on one day. */
export function inLines(entries: readonly Entry[]): { entry: Entry; earlier: Entry[] }[] {
  const lines: { entry: Entry; earlier: Entry[] }[] = []
  for (const entry of entries) {
    const last = lines.at(-1)
    const line = lineOf(entry)
    if (last && line !== null && last.entry.type === entry.type && lineOf(last.entry) === line)
      last.earlier.push(entry)
    else lines.push({ entry, earlier: [] })
  }
  return lines
}

/** Whether an entry is of something that is still to come. */
export function usePlanned(): (entry: Entry, name: string) => boolean {
  const t = useTexts()
  const formats = useFormats()
  const kinds: Kind[] = Object.values(useKinds())
  return ({ type, data }, name) =>
    kinds.find(({ noun }) => noun === type)?.timelineEntry?.(data as RowOf<RecordKind>, t, formats, name)
      .planned === true
}

/** An entry of a timeline: what happened, by whom, when. */
export function TimelineItem({ kind, id, name, entry, earlier = [], planned = false }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const kinds = useKinds()
  const created = Object.values(kinds).find(({ noun }) => noun === entry.type)
  const { at } = entry
  const changed = changedBy({ kind, id, name, entry }, created)
  const has_events = changed !== null && kinds[changed.kind].events.length > 0
  const EntryIcon = created?.icon ?? icons[entry.type] ?? PencilIcon
  return (
    <li className="timeline-entry">
      <span className="timeline-icon" aria-hidden>
        <EntryIcon />
      </span>
      <div className="timeline-text">
        {created ? (
          <CreatedRecord kind={created} data={entry.data as RowOf<RecordKind>} own={name} />
        ) : (
          <Sentence kind={kind} id={id} name={name} entry={entry} earlier={earlier} />
        )}
      </div>
      <span className="timeline-at">
        {has_events && (
          <Explained {...changed} at={at} label={t.record.explain_change({ at: formats.moment(at) })} />
        )}
        {!planned && <Ago at={at} />}
      </span>
    </li>
  )
}

/** The record that the entry tells of. Notes have no events. */
function changedBy({ kind, id, entry: { type, id: entry_id, data } }: Props, created: Kind | undefined) {
  if (isNote(type)) return null
  const of = created
    ? { kind: created.kind, id: entry_id }
    : type === 'stage_change'
      ? { kind: 'deals', id: (data as Stage).deal_id }
      : { kind, id }
  return of as Pick<Happened, 'kind' | 'id'>
}

type SentenceProps = Pick<Props, 'kind' | 'id' | 'name' | 'entry'> & { earlier: readonly Entry[] }

function Sentence({ kind, id, name, entry: { type, data }, earlier }: SentenceProps) {
  const before = earlier.map((one) => one.data)
  if (type === 'change')
    return <RecordChange kind={kind} {...(data as Change)} earlier={before as Change[]} />
  if (isNote(type)) return <WrittenNote type={type} note={data as Note} />
  const itself = kind === 'deals' && (data as Stage).deal_id === id
  return <StageChange moves={[data as Stage, ...(before as Stage[])]} own={name} itself={itself} />
}

/** A created record that refers to the timeline's record, in the words of its kind. */
function CreatedRecord({ kind, data, own }: { kind: Kind; data: RowOf<RecordKind>; own: string }) {
  const t = useTexts()
  const formats = useFormats()
  const { one } = useNames(kind.kind)
  const entry = kind.timelineEntry?.(data, t, formats, own) ?? { label: one, facts: [] }
  const facts = entry.facts.filter(Boolean)
  const { text = without(own, kind.nameOf(data)) } = entry
  return (
    <>
      {text !== null && `${entry.label} · `}
      <RecordLink kind={kind.kind} id={data.id} name={text ?? entry.label} />
      {entry.state && ` (${entry.state})`} <OwnerAvatar kind={kind.kind} id={ownerOf(data)} />
      {facts.length > 0 && (
        <ul className="timeline-facts">
          {facts.map((fact, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: facts have nothing but their position
            <li key={index}>{fact}</li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A name without that of the record whose timeline it is in: "Acme: Renewal" is "Renewal" among the entries of Acme. */
const without = (own: string, name: string): string =>
  name.startsWith(`${own}: `) ? name.slice(own.length + 2) : name

/** Whose it is; null for a kind without an owner. */
const ownerOf = (data: RowOf<RecordKind>) => ('owner_id' in data ? (data.owner_id ?? null) : null)

type ChangeProps = Change & { kind: RecordKind; earlier: readonly Change[] }

function RecordChange({ kind, action, actor, before, after, earlier }: ChangeProps) {
  const t = useTexts()
  const { record } = t
  const who = whoOf(actor, t)
  if (action === 'created') return record.created({ who })
  if (action === 'deleted') return record.deleted({ who })
  if (action === 'restored') return record.restored({ who })
  // The changed fields have an entry of their own.
  if (action === 'merged' || action === 'merge_undone') return record[action]({ who })
  const kept = (side: Change['after']) =>
    action === 'stage_changed' && side
      ? Object.fromEntries(Object.entries(side).filter(([name]) => !of_stage.includes(name)))
      : side
  const known = action === 'updated' || action === 'stage_changed'
  return (
    <>
      {known ? record.changed({ who }) : record.acted({ who, action })}
      <ChangedFields kind={kind} before={kept(before) ?? null} after={kept(after) ?? null} />
      {earlier.map(({ before = null, after = null }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: changes of one time have nothing but their position
        <ChangedFields key={index} kind={kind} before={before} after={after} />
      ))}
    </>
  )
}

function WrittenNote({ type, note }: { type: string; note: Note }) {
  const { record } = useTexts()
  const by = useBy()
  // The type is the kind of the note in the singular.
  const owner = recordOfNote(`${type}s`, note)
  return (
    <>
      {record.note_written}
      {by(note.created_by)}
      {owner && <NoteEdited note={note} owner={owner} />}
      <div className="timeline-note">
        <MentionText text={note.body} />
      </div>
    </>
  )
}

type StageProps = { moves: readonly Stage[]; own: string; itself: boolean }

/** The moves of a deal by one person, newest first, in one line. */
function StageChange({ moves, own, itself }: StageProps) {
  const t = useTexts()
  const { record } = t
  const [{ deal_id, deal_name, to, by }] = moves as [Stage]
  const who = whoOf(by, t)
  const [before, after] = record.stage_moved({ who, deal: place }).split(place)
  const inWords = (from: string | null, to: string) =>
    record.from_to({ from: stageName(from ?? '', t), to: stageName(to, t) })
  return (
    <>
      {itself ? (
        record.moved_here({ who })
      ) : (
        <>
          {before}
          <RecordLink kind="deals" id={deal_id} name={without(own, deal_name)} />
          {after}
        </>
      )}
      <div className="timeline-facts">{inWords(moves.at(-1)?.from ?? null, to)}</div>
      {moves.length > 1 && (
        <details className="timeline-facts">
          <summary>{record.moves({ n: moves.length })}</summary>
          <ul>
            {moves.map((one, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: moves have nothing but their position
              <li key={index}>{inWords(one.from, one.to)}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
