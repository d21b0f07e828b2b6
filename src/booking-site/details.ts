import type { FieldProblem } from '../http/errors.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
import type { Unfit } from './book.ts'
import {
  behindSpan,
  dateOf,
  dayAndTimeOf,
  labelled,
  offsetOf,
  type Reader,
  spanOf,
  zoneName,
} from './days.ts'
import { type Html, html } from './html.ts'

/** What a form sends, as it was typed. */
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

/** A problem in the words of a form. */
function told({ field, code, message }: FieldProblem): string {
  // Its name may be anything, such as one that every object has.
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

/** What is wrong with a form, at its top, with the focus on it: each problem leads to its field. */
export const problemSummary = (problems: readonly FieldProblem[]): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${problems.length === 1 ? 'One thing needs a change' : `${problems.length} things need a change`}</h2>
<ul>${problems.map((problem) => html`<li><a href="#${problem.field === 'slot' ? 'slot-first' : problem.field}">${told(problem)}</a></li>`)}</ul>
</div>`

/** Why a form was not done although nothing in it is wrong; or no time was chosen. */
export type Hitch = Unfit | 'none'

/** The words above a form that was not done. `length` is what an appointment takes, in words. */
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

/** The day and time of a slot, in the reader's zone and, where it is another one, in the page's. */
export function whenOf(slot: Slot, reader: Reader, own_zone: string): Html {
  const start_ms = Date.parse(slot.start_at)
  const own = { ...reader, zone: own_zone }
  const same = offsetOf(start_ms, reader) === offsetOf(start_ms, own)
  const [day, own_day] = [dateOf(start_ms, reader), dateOf(start_ms, own)]
  return html`<strong>${day}</strong><br>
<strong>${spanOf(slot, reader)}</strong> ${behindSpan(slot, reader, true)}${
    !same &&
    html`<br>
<span class="muted">${spanOf(slot, own)} ${behindSpan(slot, own)}${own_day !== day && `, ${own_day}`}</span>`
  }`
}

/** Free times to choose one of, inside a form. */
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

/** Who books: the fields with what was typed and, at each, what is wrong with it. */
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
    return problem && html`<p class="problem" id="${name}-problem">${told(problem)}</p>`
  }
  function marks(name: string) {
    const wrong = problems.some(({ field }) => field === name)
    return wrong && html` aria-invalid="true" aria-describedby="${name}-problem"`
  }
}
const optional = html` <span class="muted">(optional)</span>`
