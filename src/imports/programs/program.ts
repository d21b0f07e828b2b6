import type { DayOrder } from '../cells/days.ts'
import type { DecimalSign } from '../cells/numbers.ts'

// What Rapport knows about the files of other programs, as data. Each program is a file in this folder.

/** The kinds of records that files of programs have. */
export type FileKind = 'contacts' | 'companies' | 'deals' | 'activities'

/**
 * What a column is: a field of the record, such as `email`; a reference by name, such as `company`; or a part that a later
 * step joins with others:
 * - `name`: the full name of a person, to split;
 * - `due_date` and `due_time`: one time, `due_at`;
 * - `status`: whether a deal is open, won or lost, whatever its stage; `won_time` and `lost_time`: when it closed;
 * - `done`: whether an activity is completed;
 * - `notes`: a text that becomes the description of an activity, and a custom field elsewhere.
 */
export type ProgramTarget = string

/** A column of a program: its target, or its target and how its cells are written. */
export type ProgramColumn =
  | ProgramTarget
  | {
      to: ProgramTarget
      /** Numbers are parts of 1: 0.6 is 60 percent. */
      fraction?: true
      /** Codes by the labels that the program writes: `{ 'Closed Won': 'won' }`. */
      values?: Readonly<Record<string, string>>
      /** A header of the same file that names what a value is, such as `Phone 1 - Label` beside `Phone 1 - Value`. */
      label?: string
    }

export type ProgramFile = {
  kind: FileKind
  /** Headers that all files of this kind have. A file is recognised by all of them; without case, blanks and signs. */
  evidence: readonly string[]
  /** The target of each header. All languages that the program writes. Headers that no field takes are left out here. */
  columns: Readonly<Record<string, ProgramColumn>>
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
  /** The sign between several values of a cell, such as ` ::: ` of Google and `;` of HubSpot. */
  several?: string
  files: readonly ProgramFile[]
}
