import type { DayOrder } from '../../cells/days.ts'
import type { DecimalSign } from '../../cells/numbers.ts'

// The files of other programs, described as data. Each program is a file in this folder.

/** The kinds of records that files of programs have. */
export type FileKind = 'contacts' | 'companies' | 'deals' | 'activities'

/**
 * The target of a column is a field of the record, such as `email`, or a reference by name, such as `company`. Some are
 * parts that a later step joins with others:
 * - `name`: the full name of a person, to split; `middle_name`: joined to the first name;
 * - `address_part`: joined with the other parts by `, `, in the order of the file;
 * - `due_date` and `due_time`: one time, `due_at`;
 * - `status`: whether a deal is open, won or lost, whatever its stage; `won_time` and `lost_time`: when it closed;
 * - `close_date`: the day when the deal is expected to close; of a closed deal also `closed_at`;
 * - `done`: whether an activity is completed;
 * - `note`: the text of a note: the body, and its first line is the subject if the row has none;
 * - `notes`: a text that becomes the description of an activity, and a custom field elsewhere.
 *
 * Null: no field takes the column, although its header is the name of a field in other files.
 */
export type ProgramTarget = string

/** A column of a program: its target, or its target and how its cells are written. */
export type ProgramColumn =
  | ProgramTarget
  | null
  | {
      to: ProgramTarget
      /** Numbers are parts of 1: 0.6 is 60 percent. */
      fraction?: true
      /** Codes by the labels that the program writes: `{ 'Closed Won': 'won' }`. Of `done`: `yes` or `no`. */
      values?: Readonly<Record<string, string>>
      /** A header of the same file that names what a value is, such as `Phone 1 - Label` beside `Phone 1 - Value`. */
      label?: string
      /** A header of the same file whose text stands before the value, with a blank: the calling code of a phone. */
      prefix?: string
      /** Its cells name several records, with semicolons between them. */
      several?: true
      /** It goes before other columns of the field: the primary one of several companies. */
      first?: true
    }

export type ProgramFile = {
  kind: FileKind
  /**
   * Headers that all files of this kind have, each alone or in several languages. A file is recognised by one of each;
   * without case, blanks and signs. Of several files that are recognised, the one with more evidence counts.
   */
  evidence: readonly (string | readonly string[])[]
  /** The target of each header. All languages that the program writes. Headers that no field takes are left out here. */
  columns: Readonly<Record<string, ProgramColumn>>
  /** Values of fields for which the file has no column: a file of notes has activities of one type. */
  fixed?: Readonly<Record<string, string>>
}

/** A program whose files Rapport recognises. */
export type Program = {
  id: string
  /** As people know it: HubSpot. */
  label: string
  /** Where the headers are documented, or seen in public. */
  sources: readonly string[]
  /** How the program writes numbers and days, whatever the language of its user. Absent: as the user's system does. */
  decimal?: DecimalSign
  day_order?: DayOrder
  /** The targets of values by their label, without case and a leading `* `. Null: no field. Other labels: `to`. */
  labels?: Readonly<Record<string, ProgramTarget | null>>
  /** A sign before cells that begin like a formula, such as `'+49 30`. The value does not have it. */
  guard?: string
  /** It writes notes behind the rows, each in one cell. Its records have at least two. */
  has_notes_behind?: true
  files: readonly ProgramFile[]
}
