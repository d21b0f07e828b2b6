import { type Moment, ownTime, timeOf as readTime } from '../../cells/days.ts'
import type { ImportForm, JoinedRow } from '../room.ts'

/** Columns of files, in English and German. The columns of other programs are in imports/programs. */
export const activity_import: ImportForm = {
  headers: {
    subject: ['Task Title', 'Title', 'Name', 'Betreff'],
    type: ['Activity Type', 'Task Type', 'Art'],
    body: ['Note', 'Notes', 'Task Notes', 'Description', 'Notiz', 'Notizen', 'Beschreibung'],
    due_date: ['Due Date', 'Due', 'Fällig', 'Fällig am', 'Fälligkeitsdatum'],
    due_time: ['Due Time', 'Fällig um'],
    done: ['Done', 'Completed', 'Erledigt'],
    completed_at: ['Completed At', 'Marked as done time', 'Erledigt am'],
    company: [
      ...['Associated Company', 'Associated Company (Primary)', 'Organization', 'Company Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    contact: [
      'Contact',
      'Contact person',
      'Contact Name',
      'Associated Contact',
      'Person',
      'Kontakt',
      'Ansprechpartner',
    ],
    deal: ['Deal', 'Deal Name', 'Deal Title', 'Associated Deal'],
    owner: ['Owner', 'Assigned to', 'Assigned to user', 'Verantwortlich', 'Zuständig'],
    tags: ['Labels', 'Label', 'Schlagwörter'],
  },
  by_name: ['company_id', 'contact_id', 'deal_id', 'owner_id'],
  labels: {
    done: {
      yes: ['Completed', 'Complete', 'Erledigt', 'Abgeschlossen', 'Terminé', 'Completada'],
      no: [
        'Not started',
        'Not completed',
        'Open',
        'Pending',
        'In progress',
        'Waiting',
        'Deferred',
        'Offen',
        'Nicht erledigt',
      ],
    },
    type: {
      call: ['Phone call', 'Anruf', 'Telefonat'],
      email: ['E-mail', 'Mail'],
      meeting: ['Besprechung', 'Termin', 'Event', 'Lunch', 'Mittagessen'],
      task: ['To-do', 'Todo', 'To do', 'Aufgabe', 'Deadline', 'Frist'],
      other: ['Sonstiges', 'Note', 'Notiz'],
    },
  },
  parts: { done: 'boolean', due_date: 'moment', due_time: 'text', note: 'text' },
  join: joinTimes,
}

/** A day and a time are one time. An activity that is done without a time was done when it was due. */
function joinTimes({ data, parts, now, timeOf, leave }: JoinedRow): { field: string; message: string }[] {
  const due = parts.get('due_date') as Moment | undefined
  const time = parts.get('due_time') as string | undefined
  if (due && data.due_at !== undefined) {
    leave('due_date')
    leave('due_time')
  } else if (due) {
    const read = time === undefined ? due : readTime(time.trim())
    if (!read)
      return [
        { field: 'due_at', message: `"${time?.slice(0, 100)}" is not a time of day. Write it as 14:30.` },
      ]
    const own = ownTime(due)
    const is_other = own !== null && own !== ownTime(read)
    if (is_other) leave('due_time')
    data.due_at = timeOf(is_other ? due : { ...read, day: due.day })
  }
  if (!due || (time !== undefined && !data.due_at)) leave('due_time')
  joinNote(data, parts.get('note'), leave)
  const done = parts.get('done')
  if (done === false && data.completed_at)
    return [
      {
        field: 'completed_at',
        message: 'The row is not done, but has a time of completion. Correct one of them.',
      },
    ]
  if (done === false) data.completed_at = null
  if (done === true && data.completed_at === undefined) {
    const { due_at } = data
    data.completed_at = typeof due_at === 'string' && due_at <= now ? due_at : now
  }
  return []
}

const max_subject_characters = 255

/** The text of a note is the body. Its first line is the subject if the row has none. */
function joinNote(data: JoinedRow['data'], note: unknown, leave: JoinedRow['leave']): void {
  if (typeof note !== 'string') return
  if (data.body !== undefined && data.body !== note) leave('note')
  data.body ??= note
  const [line = ''] = note.trim().split(/[\r\n]/, 1)
  data.subject ??= line.slice(0, max_subject_characters).toWellFormed()
}
