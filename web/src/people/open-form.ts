import { Problem } from '../api/problem.ts'
import { explain, fieldMessage } from '../app/explain.ts'
import type { OpenTexts as Texts } from '../texts/parts.ts'
import { element } from './elements.ts'
import { waitText } from './wait-text.ts'

/** A field of such a page. With choices, it is one of them. */
export type OpenField = {
  name: string
  label: string
  description?: string | undefined
  type?: 'email' | 'password'
  autocomplete?: string
  value?: string
  readonly?: boolean
  autofocus?: boolean
  choices?: readonly { value: string; label: string }[]
}

type Form = {
  action: string
  fields: readonly OpenField[]
  send: (values: Record<string, string>) => Promise<unknown>
  /** The message that replaces that of the service; false for none. */
  messageOf?: (problem: Problem) => string | false
}

const eye =
  'M8 2c1.98 0 3.67.99 4.93 2.08 1.26 1.08 2.07 2.25 2.43 2.94a2 2 0 0 1 0 1.96c-.36.69-1.17 1.86-2.43 2.94C11.67 13 9.98 14 8 14s-3.67-.99-4.93-2.08C1.81 10.84 1 9.67.64 8.98a2 2 0 0 1 0-1.96c.36-.69 1.17-1.86 2.43-2.94C4.33 2.99 6.02 2 8 2Zm0 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z'

/** The button that shows what is typed as a password. */
function eyeOf(input: HTMLInputElement, t: Texts): HTMLButtonElement {
  const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  picture.setAttribute('viewBox', '0 0 16 16')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', eye)
  picture.append(path)
  const button = element('button', { type: 'button', 'aria-label': t.people.show_password }, picture)
  button.addEventListener('click', () => {
    input.type = input.type === 'password' ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(input.type === 'text'))
  })
  return button
}

type Control = {
  row: HTMLElement
  input: HTMLInputElement | HTMLSelectElement
  show: (error?: string) => void
}

// Two forms of a page may have a field of the same name. A label belongs to one of them.
let controls_made = 0

function controlOf(
  { name, label, description, choices, value = '', ...given }: OpenField,
  t: Texts,
): Control {
  const id = `open-${name}-${++controls_made}`
  const shared = { id, name, 'aria-describedby': `${description ? `${id}-text ` : ''}${id}-error` }
  const { type = 'text', autofocus, ...more } = given
  const input = choices
    ? element(
        'select',
        { ...shared, ...more },
        ...choices.map((one) =>
          element('option', { value: one.value, selected: one.value === value }, one.label),
        ),
      )
    : element('input', { ...shared, ...more, type, value })
  if (autofocus) input.setAttribute('data-autofocus', '')
  const error = element('p', { id: `${id}-error`, class: 'open-error', hidden: true })
  const box =
    type === 'password'
      ? element('span', { class: 'open-password' }, input, eyeOf(input as HTMLInputElement, t))
      : input
  const row = element(
    'div',
    { class: 'open-field' },
    element('label', { for: id }, label),
    description ? element('p', { id: `${id}-text`, class: 'open-hint' }, description) : null,
    box,
    error,
  )
  return {
    row,
    input,
    show(message = '') {
      error.hidden = !message
      error.textContent = message
      input.setAttribute('aria-invalid', String(message !== ''))
    },
  }
}

/** The message of a form that was refused. */
export const note = (text: string, request_id: string | null = null, t?: Texts): HTMLElement =>
  element(
    'p',
    { class: 'open-note', role: 'alert' },
    text,
    request_id && t ? element('small', {}, `${t.app.request_id} ${request_id}`) : null,
  )

/** A form of a page without a session. After too many tries, it shows how long to wait. */
export function openForm({ action, fields, send, messageOf }: Form, t: Texts): HTMLFormElement {
  const controls = new Map(fields.map((field) => [field.name, controlOf(field, t)]))
  const button = element('button', { type: 'submit', class: 'open-action' }, action)
  const notes = element('div')
  const rows = [...controls.values()].map(({ row }) => row)
  const form = element('form', { novalidate: true, class: 'open-form' }, ...rows, notes, button)
  const all = [...controls.values()]

  function refuse(error: unknown) {
    const problem = error instanceof Problem ? error : null
    const mine = problem?.fields.filter(({ field }) => controls.has(field)) ?? []
    for (const one of mine) controls.get(one.field)?.show(fieldMessage(one, t))
    if (problem?.status === 429) return wait(problem.retry_after_s)
    if (mine.length === 0 || mine.length < (problem?.fields.length ?? 0))
      notes.append(note((problem && messageOf?.(problem)) || explain(error, t), problem?.request_id, t))
    all.find(({ input }) => input.getAttribute('aria-invalid') === 'true')?.input.focus()
  }
  function wait(seconds: number) {
    const until_ms = Date.now() + seconds * 1000
    const tick = () => {
      const left_s = Math.max(0, Math.ceil((until_ms - Date.now()) / 1000))
      button.disabled = left_s > 0
      notes.replaceChildren(...(left_s ? [note(waitText(left_s, t))] : []))
      if (!left_s) clearInterval(timer)
    }
    const timer = setInterval(tick, 500)
    tick()
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.disabled) return
    for (const { show } of all) show()
    notes.replaceChildren()
    button.disabled = true
    button.setAttribute('aria-busy', 'true')
    try {
      await send(Object.fromEntries([...controls].map(([name, { input }]) => [name, input.value])))
    } catch (error) {
      button.disabled = false
      refuse(error)
    } finally {
      button.removeAttribute('aria-busy')
    }
  })
  return form
}

/** Focuses the first field of a form, as soon as it is in the page. */
export const focusIn = (form: HTMLElement): void =>
  form.querySelector<HTMLElement>('[data-autofocus]')?.focus()
