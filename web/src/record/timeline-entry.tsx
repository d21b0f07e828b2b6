import {
  ArrowRightIcon,
  BriefcaseIcon,
  CalendarIcon,
  type Icon,
  NoteIcon,
  PencilIcon,
  TasklistIcon,
} from '@primer/octicons-react'
import type { ListedActivity } from '../activities/queries.ts'
import type { Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { Ago, Money } from '../ui/values.tsx'
import { ChangedFields, stageName, whoOf } from './changes.tsx'
import { RecordLink } from './linked.tsx'

export type Entry = Schemas['TimelineEntry']
type Actor = Schemas['Actor']
type Change = {
  action: string
  actor: Actor
  /** Undefined where it is long: the audit log has it. */
  before?: Record<string, unknown> | null
  after?: Record<string, unknown> | null
}
type Stage = { deal_id: number; deal_name: string; from: string | null; to: string; by: Actor }

const icons: Record<Entry['type'], Icon> = {
  change: PencilIcon,
  note: NoteIcon,
  activity: TasklistIcon,
  appointment: CalendarIcon,
  deal: BriefcaseIcon,
  stage_change: ArrowRightIcon,
}

/** What the change of a deal's stage tells already, in an entry of its own. */
const of_stage = ['stage', 'status', 'probability', 'closed_at']

/** A change whose fields another entry tells has nothing left to say. */
export function isToldElsewhere({ type, data }: Entry): boolean {
  if (type === 'stage_change') return (data as Stage).from === null
  if (type !== 'change' || (data as Change).action !== 'stage_changed') return false
  return Object.keys((data as Change).after ?? {}).every((name) => of_stage.includes(name))
}

/** One thing that happened: what, by whom, when. */
export function TimelineItem({ entry }: { entry: Entry }) {
  const EntryIcon = icons[entry.type]
  return (
    <li className="timeline-entry">
      <span className="timeline-icon" aria-hidden>
        <EntryIcon />
      </span>
      <div className="timeline-text">
        <Told entry={entry} />
      </div>
      <span className="timeline-at">
        <Ago at={entry.at} />
      </span>
    </li>
  )
}

function Told({ entry: { type, data } }: { entry: Entry }) {
  if (type === 'change') return <ToldChange {...(data as Change)} />
  if (type === 'note') return <ToldNote {...(data as Schemas['Note'])} />
  if (type === 'activity') return <ToldActivity {...(data as ListedActivity)} />
  if (type === 'appointment') return <ToldAppointment {...(data as Schemas['Appointment'])} />
  if (type === 'deal') return <ToldDeal {...(data as Schemas['DealOfList'])} />
  return <ToldStage {...(data as Stage)} />
}

function ToldChange({ action, actor, before, after }: Change) {
  const t = useTexts()
  const { record } = t
  const who = whoOf(actor, t)
  if (action === 'created') return record.created(who)
  if (action === 'deleted') return record.deleted(who)
  if (action === 'restored') return record.restored(who)
  const kept = (side: Change['after']) =>
    action === 'stage_changed' && side
      ? Object.fromEntries(Object.entries(side).filter(([name]) => !of_stage.includes(name)))
      : side
  const known = action === 'updated' || action === 'stage_changed'
  return (
    <>
      {known ? record.changed(who) : record.acted(who, action)}
      <ChangedFields before={kept(before) ?? null} after={kept(after) ?? null} />
    </>
  )
}

function ToldNote({ body }: Schemas['Note']) {
  const { record } = useTexts()
  return (
    <>
      {record.note_written}
      <div className="timeline-note">{body}</div>
    </>
  )
}

function ToldActivity({ id, type, subject, due_at, completed_at, outcome }: ListedActivity) {
  const { record, activities } = useTexts()
  const formats = useFormats()
  const state = completed_at
    ? `${record.completed} ${formats.moment(completed_at)}`
    : due_at && `${record.due} ${formats.moment(due_at)}`
  return (
    <>
      {record.activity_planned(activities.types[type])}:{' '}
      <RecordLink kind="activities" id={id} name={subject} />
      {(state || outcome) && (
        <ul className="timeline-facts">
          {state && <li>{state}</li>}
          {outcome && <li>{outcome}</li>}
        </ul>
      )}
    </>
  )
}

function ToldAppointment({ id, title, start_at, status, location }: Schemas['Appointment']) {
  const { record } = useTexts()
  const formats = useFormats()
  return (
    <>
      {record.appointment_made}: <RecordLink kind="appointments" id={id} name={title} />
      {status !== 'scheduled' && ` (${record[status]})`}
      <ul className="timeline-facts">
        <li>
          {formats.moment(start_at)}
          {location && `, ${location}`}
        </li>
      </ul>
    </>
  )
}

function ToldDeal({ id, name, value, stage }: Schemas['DealOfList']) {
  const t = useTexts()
  return (
    <>
      {t.record.deal_opened}: <RecordLink kind="deals" id={id} name={name} />
      <ul className="timeline-facts">
        <li>
          {stageName(stage, t)}
          {value !== null && ', '}
          <Money value={value} />
        </li>
      </ul>
    </>
  )
}

function ToldStage({ deal_id, deal_name, from, to, by }: Stage) {
  const t = useTexts()
  const { record } = t
  const [before, after] = record.stage_moved(whoOf(by, t), '\n').split('\n')
  return (
    <>
      {before}
      <RecordLink kind="deals" id={deal_id} name={deal_name} />
      {after}
      <ul className="timeline-facts">
        <li>{record.from_to(stageName(from ?? '', t), stageName(to, t))}</li>
      </ul>
    </>
  )
}
