import type { FieldProblem } from '../errors.ts'
import { max_email_characters } from '../http/formats.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
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
function problemText({ field, code, message }: FieldProblem, t: Texts): string {
  // `field` may be any name, also one of Object.prototype.
  const name = Object.hasOwn(t.labels, field) ? (field as keyof Texts['labels']) : null
  if (field === 'slot') return t.choose_a_time
  if (field === 'fax') return t.leave_last_empty
  if (!name) return t.other_problem
  if (code === 'required') return t.required({ name: t.names[name] })
  const label = t.labels[name]
  if (name === 'email' && code === 'invalid_format') return t.email_format
  if (code === 'too_long') return t.too_long({ label, most: /\d+/.exec(message)?.[0] ?? '' })
  return t.bad_character({ label })
}

/** The problems at the top of a form, with the focus. Each problem links to its field. */
export const problemSummary = (problems: readonly FieldProblem[], t: Texts): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${t.problems({ n: problems.length })}</h2>
<ul>${problems.map((problem) => html`<li><a href="#${problem.field === 'slot' ? 'slot-first' : problem.field}">${problemText(problem, t)}</a></li>`)}</ul>
</div>`

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

const fields: Field[] = [
  { name: 'first_name', autocomplete: 'given-name', required: true, max: 255 },
  { name: 'last_name', autocomplete: 'family-name', required: true, max: 255 },
  { name: 'email', type: 'email', autocomplete: 'email', required: true, max: max_email_characters },
  { name: 'phone', type: 'tel', autocomplete: 'tel', max: 64 },
]

/** The fields of a visitor, with typed values and problems. */
export function visitorFields(typed: Typed, problems: readonly FieldProblem[], t: Texts): Html {
  const optional = html` <span class="muted">${t.optional}</span>`
  return html`<div class="fields">${fields.map(({ name, type = 'text', autocomplete, required, max }) => {
    const value = typed[name] ?? ''
    return html`<div class="field">
<label for="${name}">${t.labels[name]}${!required && optional}</label>
${problemOf(name)}<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${max}" dir="auto" value="${value}"${required && html` required`}${marks(name)}>
</div>`
  })}
<div class="field">
<label for="message">${t.labels.message}${optional}</label>
${problemOf('message')}<textarea id="message" name="message" rows="4" maxlength="2000" dir="auto"${marks('message')}>
${typed.message ?? ''}</textarea>
</div>
</div>
<div class="unseen" aria-hidden="true"><label for="fax">${t.leave_empty}</label><input id="fax" name="fax" tabindex="-1" autocomplete="off"></div>`

  function problemOf(name: string) {
    const problem = problems.find(({ field }) => field === name)
    return problem && html`<p class="problem" id="${name}-problem">${problemText(problem, t)}</p>`
  }
  function marks(name: string) {
    const wrong = problems.some(({ field }) => field === name)
    return wrong && html` aria-invalid="true" aria-describedby="${name}-problem"`
  }
}
