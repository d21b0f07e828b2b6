import { type Facts, type FieldProblem, Problem } from '../api/problem.ts'
import type { Texts } from '../texts/parts.ts'

/** The message for an invalid field. Only a code of a later service shows the service's English message. */
export function fieldMessage({ field, code, message }: FieldProblem, { app, webhooks }: Texts): string {
  const limited = app.field_limits[code as keyof typeof app.field_limits]
  // Only the message of the service has the limits: `probability must be from 0 to 100.`
  const { least, most, only_most } = limits.exec(message)?.groups ?? {}
  const given = least ? (most ? 'both' : 'least') : 'other'
  if (limited && (least || only_most))
    return limited({ given, least: Number(least), most: Number(most ?? only_most) })
  const of_webhook = /^(conditions|headers)(\.|$)/.test(field) && webhooks?.field_problems
  if (of_webhook && code in of_webhook) return of_webhook[code as keyof typeof of_webhook]
  // And the form: `email must be an e-mail address, such as …`
  const { form } = (/^invalid_(format|type)$/.test(code) && forms.exec(message)?.groups) || {}
  if (form) return app.field_forms[names[form as keyof typeof names]]
  return app.field_problems[code as keyof typeof app.field_problems] ?? message
}
const limits =
  /(?:from|at least|>=) (?<least>-?\d+)(?: to (?<most>-?\d+))?|(?:at most|<=) (?<only_most>-?\d+)/
const names = {
  'e-mail address': 'email',
  URL: 'url',
  day: 'day',
  number: 'number',
  integer: 'integer',
} as const
const forms = /must be (?:an? )?(?<form>e-mail address|URL|day|number|integer)\b/

// A message takes the facts of its own reason.
type Conflicts = Partial<Record<string, string | ((facts: never) => string)>>

/** The messages for conflicts by their reasons. The settings have their own part of the texts. */
export const conflictsIn = (texts: Texts): Conflicts => ({ ...texts.conflicts, ...texts.settings_conflicts })

/** The message for a conflict by its reason; null for one that this version does not know. */
function conflictMessage(reason: string | null, facts: Facts, texts: Texts): string | null {
  const { app } = texts
  const conflicts = conflictsIn(texts)
  const name = String(facts.field ?? '').replace(/^custom_fields\./, '')
  const message = conflicts[reason ?? '']
  const sentence = typeof message === 'function' ? message({ ...facts, field: name } as never) : message
  if (!sentence || reason !== 'merge_taken_back') return sentence ?? null
  const { because = '', field } = facts
  const inner: Record<string, string> = field === undefined ? app.problems : app.field_problems
  const why = conflictMessage(String(because), facts, texts) ?? inner[because]
  return [sentence, why].filter(Boolean).join(' ')
}

/** Replaces the message of a conflict (409) with one that fits the action. */
export async function inWords<T>(asked: Promise<T>, conflict: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error
    throw new Problem(409, 'conflict', conflict, error.request_id)
  }
}

/**
 * The message for an error: what happened and what to do. Uses the service's message where it is more
 * precise.
 */
export function explain(error: unknown, texts: Texts): string {
  const { problems } = texts.app
  if (!(error instanceof Problem)) return problems.other
  const { code, message, fields, reason, facts, retry_after_s } = error
  if (code === 'validation_failed')
    return fields[0] ? fieldMessage(fields[0], texts) : problems.validation_failed
  if (code === 'conflict' && message) return conflictMessage(reason, facts, texts) ?? message
  if (code === 'rate_limited' && retry_after_s) return texts.app.rate_limited_for({ seconds: retry_after_s })
  return problems[code as keyof typeof problems] ?? (message || problems.other)
}
