import type { FieldProblem } from '../errors.ts'
import { max_email_characters } from '../http/formats.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
import { answerField, max_answer, type Question } from '../resources/booking-pages/questions.ts'
import type { Unfit } from './book.ts'
import {
  dateOf,
  dayAndTimeOf,
  labelled,
  offsetOf,
  type Reader,
  spanOf,
  zoneName,
  zoneOfSpan,
} from './days.ts'
import { type Html, html } from './html.ts'
import { type Texts, textsOf } from './texts.ts'

/** The values of a form as the visitor typed them. */
export type Typed = Partial<Record<string, string | null>>

/** The text of a problem in a form. */
function problemText(
  { field, code, message }: FieldProblem,
  t: Texts,
  questions: readonly Question[],
): string {
  const question = questions.find((one) => answerField(one) === field)
  // `field` may be any name, also one of Object.prototype.
  const name = Object.hasOwn(t.labels, field) ? (field as keyof Texts['labels']) : null
  const most = /\d+/.exec(message)?.[0] ?? ''
  if (question) {
    const { label, type } = question
    if (code === 'required') return t.answer_required({ label })
    if (code === 'too_long') return t.too_long({ label, most })
    return code === 'invalid_characters'
      ? t.bad_character({ label })
      : t.answer_wrong({ label, type: type === 'text' || type === 'long_text' ? 'other' : type })
  }
  if (field === 'slot') return t.choose_a_time
  if (field === 'fax') return t.leave_last_empty
  if (!name) return t.other_problem
  if (code === 'required') return t.required({ name: t.names[name] })
  const label = t.labels[name]
  if (name === 'email' && code === 'invalid_format') return t.email_format
  if (code === 'too_long') return t.too_long({ label, most })
  return t.bad_character({ label })
}

/** The problems at the top of a form, with the focus. Each problem links to its field. */
export const problemSummary = (
  problems: readonly FieldProblem[],
  t: Texts,
  questions: readonly Question[] = [],
): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${t.problems({ n: problems.length })}</h2>
<ul>${problems.map((problem) => html`<li><a href="#${problem.field === 'slot' ? 'slot-first' : idOf(problem.field, questions)}">${problemText(problem, t, questions)}</a></li>`)}</ul>
</div>`

// A key may have blanks, which an id has not.
function idOf(field: string, questions: readonly Question[]): string {
  const i = questions.findIndex((one) => answerField(one) === field)
  return i < 0 ? field : `answer-${i}`
}

/** Why a valid form was refused; or 'none': no time was chosen. */
export type Hitch = Unfit | 'none'

/** The text above a refused form. `length` is the duration of an appointment in words. */
export function hitchNote(
  hitch: Hitch,
  t: Texts,
  { has_others, length, typed = false }: { has_others: boolean; length: string; typed?: boolean },
): Html {
  const others = has_others ? t.next_times({ typed }) : t.look_for_another
  const [heading, text] =
    hitch === 'none'
      ? [t.choose_time, has_others ? t.these_are_next : t.look_for_one]
      : [t.hitches[hitch].title, t.hitches[hitch].text({ others, length })]
  return html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${heading}</h2>
<p>${text}</p>
</div>`
}

/** The day and time of a slot in the reader's zone, and in the page's zone if it differs. */
export function whenOf(slot: Slot, reader: Reader, own_zone: string): Html {
  const start_ms = Date.parse(slot.start_at)
  const own = { ...reader, zone: own_zone }
  const same = offsetOf(start_ms, reader) === offsetOf(start_ms, own)
  const [day, own_day] = [dateOf(start_ms, reader), dateOf(start_ms, own)]
  return html`<strong>${day}</strong><br>
<strong>${spanOf(slot, reader)}</strong> ${zoneOfSpan(slot, reader, true)}${
    !same &&
    html`<br>
<span class="muted">${spanOf(slot, own)} ${zoneOfSpan(slot, own)}${own_day !== day && `, ${own_day}`}</span>`
  }`
}

/** The free times of a form, to choose one. */
export const slotOptions = (slots: readonly Slot[], reader: Reader): Html =>
  html`<fieldset class="options"><legend>${textsOf(reader).choose_time}</legend>
${labelled(slots, reader, dayAndTimeOf).map(
  ({ start_at, label }, i) =>
    html`<label><input type="radio" name="slot" value="${start_at}"${i === 0 && html` id="slot-first"`}> <span>${label}</span></label>`,
)}
</fieldset><p class="muted">${textsOf(reader).times_in({ zone: zoneName(reader.zone) })}</p>`

type Field = {
  name: keyof Texts['labels']
  type?: string
  autocomplete: string
  required?: boolean
  max: number
}

// A form has 16 KiB in all (http/body.ts). Two answers of 4,096 characters fit in beside the message.
const most_long_answers = 2

const fields: Field[] = [
  { name: 'first_name', autocomplete: 'given-name', required: true, max: 255 },
  { name: 'last_name', autocomplete: 'family-name', required: true, max: 255 },
  { name: 'email', type: 'email', autocomplete: 'email', required: true, max: max_email_characters },
  { name: 'phone', type: 'tel', autocomplete: 'tel', max: 64 },
]

/** The fields of a visitor, with typed values and problems. */
export function visitorFields(
  typed: Typed,
  problems: readonly FieldProblem[],
  t: Texts,
  questions: readonly Question[],
): Html {
  const optional = html` <span class="muted">${t.optional}</span>`
  const texts = questions.filter(({ type }) => type === 'text' || type === 'long_text')
  return html`<div class="fields">${fields.map(({ name, type = 'text', autocomplete, required, max }) => {
    const value = typed[name] ?? ''
    return html`<div class="field">
<label for="${name}">${t.labels[name]}${!required && optional}</label>
${problemOf(name)}<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${max}" dir="auto" value="${value}"${required && html` required`}${marks(name)}>
</div>`
  })}${questions.map(question)}
<div class="field">
<label for="message">${t.labels.message}${optional}</label>
${problemOf('message')}<textarea id="message" name="message" rows="4" maxlength="2000" dir="auto"${marks('message')}>
${typed.message ?? ''}</textarea>
</div>
</div>
${texts.length > most_long_answers && html`<p class="muted">${t.together}</p>`}
<div class="unseen" aria-hidden="true"><label for="fax">${t.leave_empty}</label><input id="fax" name="fax" tabindex="-1" autocomplete="off"></div>`

  function question(one: Question) {
    const name = answerField(one)
    const id = idOf(name, questions)
    const value = typed[name] ?? ''
    const { label, type, required } = one
    const more = html`id="${id}" name="${name}" dir="auto"${required && html` required`}${marks(name)}`
    const choices = type === 'boolean' ? Object.entries(t.yes_or_no) : one.options.map((text) => [text, text])
    const chosen = (text: string | undefined) => text === value && html` selected`
    return html`<div class="field">
<label for="${id}">${label}${!required && optional}</label>
${problemOf(name)}${
  type === 'long_text'
    ? html`<textarea rows="4" maxlength="${max_answer}" ${more}>
${value}</textarea>`
    : type === 'select' || type === 'boolean'
      ? html`<select ${more}><option value=""></option>${choices.map(([code, text]) => html`<option value="${code}"${chosen(code)}>${text}</option>`)}</select>`
      : html`<input ${type === 'number' ? html`inputmode="decimal"` : html`type="${type}"`} maxlength="${max_answer}" value="${value}" ${more}>`
}
</div>`
  }
  function problemOf(name: string) {
    const problem = problems.find(({ field }) => field === name)
    return (
      problem &&
      html`<p class="problem" id="${idOf(name, questions)}-problem">${problemText(problem, t, questions)}</p>`
    )
  }
  function marks(name: string) {
    const wrong = problems.some(({ field }) => field === name)
    return wrong && html` aria-invalid="true" aria-describedby="${idOf(name, questions)}-problem"`
  }
}
