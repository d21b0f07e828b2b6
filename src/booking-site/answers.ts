import { definitionsOf, takenProblems } from '../custom-fields/definitions.ts'
import type { Tx } from '../db/db.ts'
import type { Context } from '../events/context.ts'
import type { CustomFields } from '../http/fields.ts'
import { appointmentRecords } from '../resources/appointments/operations.ts'
import { fittingAnswers, type Question } from '../resources/booking-pages/questions.ts'

/**
 * The answers that are stored as custom fields, and the others as lines of notes. A custom field may be newer than its
 * question, and of another type, or its value may belong to another record: the visitor can do nothing about that.
 */
export async function storedAnswers(
  tx: Tx,
  context: Context,
  questions: readonly Question[],
  answers: CustomFields,
): Promise<{ custom_fields: CustomFields; lines: string[] }> {
  if (!Object.keys(answers).length) return { custom_fields: answers, lines: [] }
  const { resource } = appointmentRecords
  const fitting = fittingAnswers(answers, await definitionsOf(tx, context.workspace_id, resource))
  const taken = await takenProblems(tx, context, { resource, id: 0 }, {}, fitting)
  const isStored = (key: string) =>
    Object.hasOwn(fitting, key) && taken.every(({ field }) => field !== `custom_fields.${key}`)
  return {
    custom_fields: Object.fromEntries(Object.entries(fitting).filter(([key]) => isStored(key))),
    lines: questions.flatMap(({ key, label }) =>
      Object.hasOwn(answers, key) && !isStored(key) ? [`${label}: ${answers[key]}`] : [],
    ),
  }
}
