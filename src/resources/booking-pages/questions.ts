import { Type } from 'typebox'
import { field_types } from '../../custom-fields/defined-values.ts'
import {
  type Definition,
  keyProblems,
  optionProblems,
  reasonAgainst,
} from '../../custom-fields/definition-rules.ts'
import type { FieldProblem } from '../../errors.ts'
import type { CustomFields } from '../../http/fields.ts'

const question_types = [...field_types, 'long_text'] as const
/** A question of a booking page. The answer is the custom field of the appointment with this key. */
export type Question = {
  key: string
  label: string
  type: (typeof question_types)[number]
  required: boolean
  options: string[]
}

const max_questions = 20
/** The most characters of an answer, as of a custom field. */
export const max_answer = 4096

const question = {
  key: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description: 'The key of the answer in `custom_fields` of the appointment.',
  },
  label: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'What the visitor reads. By default the key.',
  },
  type: {
    type: 'string',
    enum: question_types,
    description: 'As of custom fields; `long_text` is a text of several lines.',
  },
  required: { type: 'boolean', default: false },
  options: {
    type: 'array',
    maxItems: 200,
    items: { type: 'string', minLength: 1, maxLength: 100 },
    description: 'The texts that a `select` takes, at most 16 KiB together. Other types have none.',
  },
}

/** The column of a booking page. */
export const questions = {
  shown: Type.Unsafe<Question[]>({
    type: 'array',
    items: {
      title: 'BookingQuestion',
      type: 'object',
      properties: question,
      required: Object.keys(question),
    },
    description: 'What the form asks. Answers are custom fields of the appointment.',
    examples: [[{ key: 'seats', label: 'How many seats?', type: 'number', required: true, options: [] }]],
  }),
  taken: Type.Unsafe<(Pick<Question, 'key' | 'type'> & Partial<Question>)[] | null>({
    type: ['array', 'null'],
    maxItems: max_questions,
    items: {
      type: 'object',
      properties: question,
      required: ['key', 'type'],
      additionalProperties: false,
    },
  }),
} as const

/** Questions of a body as the page shows them. The schema reports what is not a question. */
export const shownQuestions = (sent: readonly Partial<Question>[]): Question[] =>
  sent.map((one) => {
    const { key = '', label, type, required = false, options = [] } = one ?? {}
    const trimmed = trim(key)
    const texts = Array.isArray(options) ? [...new Set(options.map(trim))] : []
    return { key: trimmed, label: trim(label) || trimmed, type, required, options: texts } as Question
  })

const trim = (text: unknown) => (typeof text === 'string' ? text.trim() : '')

/** The problems of questions that the schema took. `defined` are the custom fields of appointments. */
export function questionProblems(asked: readonly Question[], defined: readonly Definition[]): FieldProblem[] {
  const keys = asked.map(({ key }) => key)
  return asked.flatMap((one, i) => {
    const { key, type, options } = one
    const known = defined.find((definition) => definition.key === key)?.type
    const problems: FieldProblem[] = [...keyProblems(one), ...optionProblems(one)]
    const add = (field: string, code: FieldProblem['code'], text: string) =>
      problems.push({ field, code, message: `${field} ${text}.` })
    if (!key) add('key', 'required', 'is required')
    else if (keys.indexOf(key) < i) add('key', 'duplicate', 'belongs to another question already')
    if (known && known !== type) add('type', 'invalid_value', `must be ${known}, as of the custom field`)
    if (options.includes('')) add('options', 'required', 'must have no empty text')
    return problems.map(({ field, code, message }) => {
      const place = `questions.${i}.`
      return { field: place + field, code, message: place + message }
    })
  })
}

/** The field of the public form for the answer to a question. */
export const answerField = ({ key }: Pick<Question, 'key'>): string => `answer_${key}`

/**
 * The answers of a form as custom fields, and what is wrong with them. A question without an answer has no key. `locale`
 * is the visitor's, who writes numbers by it.
 */
export function answersOf(
  asked: readonly Question[],
  form: Readonly<Record<string, unknown>>,
  locale: string,
): { answers: CustomFields; problems: FieldProblem[] } {
  const answers: [key: string, value: CustomFields[string]][] = []
  const problems: FieldProblem[] = []
  for (const one of asked) {
    const field = answerField(one)
    const text = trim(form[field])
    const refuse = (code: FieldProblem['code'], why: string) =>
      problems.push({ field, code, message: `${field} ${why}.` })
    if (!text) {
      if (one.required) refuse('required', 'is required')
      continue
    }
    const value = answerValue(one.type, one.type === 'number' ? plainNumber(text, locale) : text)
    const type = one.type === 'long_text' ? 'text' : one.type
    const reason = reasonAgainst({ type, options: one.options }, value)
    if (text.length > max_answer) refuse('too_long', `must have at most ${max_answer} characters`)
    else if (reason) refuse(reason.code, reason.accepts)
    answers.push([one.key, value])
  }
  return { answers: Object.fromEntries(answers), problems }
}

/** The answers that definitions of their keys take, if need be as values of their types. */
export const fittingAnswers = (answers: CustomFields, defined: readonly Definition[]): CustomFields =>
  Object.fromEntries(
    Object.entries(answers).flatMap(([key, value]) => {
      const definition = defined.find((one) => one.key === key)
      if (!definition) return [[key, value]]
      const values = [value, answerValue(definition.type, String(value))]
      const fitting = values.find((one) => reasonAgainst(definition, one) === null)
      return fitting === undefined ? [] : [[key, fitting]]
    }),
  )

/**
 * A number as JSON writes it, of one as the locale writes it. A single other sign before one, two or more than three digits
 * is a decimal point, too: 12.5 in German. Another text stays as it is.
 */
function plainNumber(text: string, locale: string): string {
  const comma = new Intl.NumberFormat(locale).format(0.5).includes(',')
  // As in English from here on.
  const signs = comma ? text.replaceAll(/[.,]/g, (sign) => (sign === ',' ? '.' : ',')) : text
  if (/^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(signs)) return signs.replaceAll(',', '')
  return /^[+-]?\d+,(\d{1,2}|\d{4,})$/.test(signs) ? signs.replace(',', '.') : text
}

/** The value that a text of a form means. A text that is not of the type stays a text, which is refused. */
function answerValue(type: Question['type'], text: string): CustomFields[string] {
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  const number = /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (type !== 'number' || !Number.isFinite(number)) return text
  // JSON has a -0.
  return number === 0 ? 0 : number
}
