import type { FieldProblem } from '../errors.ts'
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

/** The values of a form as the visitor typed them. */
export type Typed = Partial<Record<string, string | null>>

const labels: Record<string, string> = {
  first_name: 'First name',
  last_name: 'Last name',
  email: 'E-mail',
  phone: 'Phone',
  message: 'Message',
  slot: 'Time',
  reason: 'Reason',
}

/** The text of a problem in a form. */
function problemText({ field, code, message }: FieldProblem): string {
  // `field` may be any name, also one of Object.prototype.
  const label = Object.hasOwn(labels, field) ? labels[field] : undefined
  if (field === 'slot') return 'Choose a time.'
  if (field === 'fax') return 'Leave the last field empty: it is there for programs that fill in everything.'
  if (!label) return message
  if (code === 'required') return `Enter your ${label === 'E-mail' ? 'e-mail address' : label.toLowerCase()}.`
  if (field === 'email' && code === 'invalid_format')
    return 'Enter an e-mail address such as ana.ruiz@example.com.'
  if (code === 'too_long') return message.replace(field, label)
  return `${label} has a character that cannot be stored.`
}

/** The problems at the top of a form, with the focus. Each problem links to its field. */
export const problemSummary = (problems: readonly FieldProblem[]): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${problems.length === 1 ? 'One thing needs a change' : `${problems.length} things need a change`}</h2>
<ul>${problems.map((problem) => html`<li><a href="#${problem.field === 'slot' ? 'slot-first' : problem.field}">${problemText(problem)}</a></li>`)}</ul>
</div>`

/** Why a valid form was refused; or 'none': no time was chosen. */
export type Hitch = Unfit | 'none'

/** The text above a refused form. `length` is the duration of an appointment in words. */
export function hitchNote(
  hitch: Hitch,
  { has_others, length, typed = false }: { has_others: boolean; length: string; typed?: boolean },
): Html {
  const others = has_others
    ? `Choose one of the next free times${typed ? ': what you typed is still here' : ''}.`
    : 'Look among all free times for another one.'
  const [heading, text] = {
    taken: ['This time is no longer free', `Somebody else has just taken it. ${others}`],
    gone: ['This time is no longer offered', others],
    changed: ['The length has changed', `It takes ${length} now. If that suits you, confirm it.`],
    none: [
      'Choose a time',
      has_others ? 'These are the next free ones.' : 'Look among all free times for one.',
    ],
  }[hitch]
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
  html`<fieldset class="options"><legend>Choose a time</legend>
${labelled(slots, reader, dayAndTimeOf).map(
  ({ start_at, label }, i) =>
    html`<label><input type="radio" name="slot" value="${start_at}"${i === 0 && html` id="slot-first"`}> <span>${label}</span></label>`,
)}
</fieldset><p class="muted">Times are in ${zoneName(reader.zone)}.</p>`

type Field = { name: string; type?: string; autocomplete: string; required?: boolean; max: number }

const fields: Field[] = [
  { name: 'first_name', autocomplete: 'given-name', required: true, max: 255 },
  { name: 'last_name', autocomplete: 'family-name', required: true, max: 255 },
  { name: 'email', type: 'email', autocomplete: 'email', required: true, max: 320 },
  { name: 'phone', type: 'tel', autocomplete: 'tel', max: 64 },
]

/** The fields of a visitor, with typed values and problems. */
export function visitorFields(typed: Typed, problems: readonly FieldProblem[]): Html {
  return html`${fields.map(({ name, type = 'text', autocomplete, required, max }) => {
    const value = typed[name] ?? ''
    return html`<div class="field">
<label for="${name}">${labels[name]}${!required && optional}</label>
${problemOf(name)}<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${max}" dir="auto" value="${value}"${required && html` required`}${marks(name)}>
</div>`
  })}
<div class="field">
<label for="message">${labels.message}${optional}</label>
${problemOf('message')}<textarea id="message" name="message" rows="4" maxlength="2000" dir="auto"${marks('message')}>
${typed.message ?? ''}</textarea>
</div>
<div class="unseen" aria-hidden="true"><label for="fax">Leave this empty</label><input id="fax" name="fax" tabindex="-1" autocomplete="off"></div>`

  function problemOf(name: string) {
    const problem = problems.find(({ field }) => field === name)
    return problem && html`<p class="problem" id="${name}-problem">${problemText(problem)}</p>`
  }
  function marks(name: string) {
    const wrong = problems.some(({ field }) => field === name)
    return wrong && html` aria-invalid="true" aria-describedby="${name}-problem"`
  }
}
const optional = html` <span class="muted">(optional)</span>`
