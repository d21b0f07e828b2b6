import { answerOf, api, dataOf } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { explain, inWords } from '../app/explain.ts'
import {
  askFor,
  type Language,
  languages,
  loadParts,
  type OpenTexts,
  preferredLanguage,
} from '../texts/parts.ts'
import { currencies } from './currencies.ts'
import { element } from './elements.ts'
import { guessDefaults } from './guesses.ts'
import { focusIn, note, type OpenField, openForm } from './open-form.ts'
import { safePath } from './safe-path.ts'
import { waitText } from './wait-text.ts'
import { browserZones } from './zone-names.ts'
import './open.css'

// The pages without a session, in a document of their own: what they load is a third of what the app loads. They are left
// for the app by a page load, so that nothing of them stays in its memory.

const main = document.getElementById('open') as HTMLElement
const wanted = new URLSearchParams(window.location.search)
let t: OpenTexts

/** Shows a page: its title, a text and what is below. */
function show(title: string, text: string | false, ...below: (Node | null)[]): void {
  document.title = `${title} · ${t.app.name}`
  main.replaceChildren(
    element('div', { class: 'open-name' }, t.app.name),
    element(
      'div',
      { class: 'open-body' },
      element('h1', {}, title),
      text ? element('p', { class: 'open-text', id: 'open-text' }, text) : null,
      ...below,
    ),
  )
  focusIn(main)
}

/** A page that leads to the sign-in, because there is nothing to do on it. */
const deadEnd = (title: string, text: string) =>
  show(
    title,
    text,
    // The focus tells of the text where a form was refused.
    element(
      'a',
      { href: '/sign-in', class: 'open-action', 'data-autofocus': '', 'aria-describedby': 'open-text' },
      t.open.sign_in,
    ),
  )

const subtle = (text: string, onClick: () => void) => {
  const button = element('button', { type: 'button', class: 'open-subtle' }, text)
  button.addEventListener('click', onClick)
  return button
}

/** Opens the app, which finds the new session. */
function enter(to?: unknown): void {
  try {
    localStorage.setItem('rapport-signed-in', '1')
  } catch {
    // Storage may be disabled.
  }
  window.location.assign(safePath(to))
}

let token = readToken()
/** The token after the # of the address. It is removed from there, so that it is not in the history or on screenshots. */
function readToken(): string | null {
  const { hash, pathname, search } = window.location
  if (hash.length < 2) return null
  window.history.replaceState(window.history.state, '', pathname + search)
  return hash.slice(1)
}
/** Whether the service refuses the token: it is unknown, used or expired. */
const refusesToken = ({ fields }: Problem): boolean => fields.some(({ field }) => field === 'token')

/** Opens the app if a link is accepted. After a refusal of the link, the form could only be refused again. */
async function enterBy(accepting: Promise<unknown>, over: string): Promise<void> {
  try {
    await accepting
    enter()
  } catch (error) {
    if (!(error instanceof Problem) || !refusesToken(error)) throw error
    deadEnd(t.open.link_over, over)
  }
}

const nameField = (): OpenField => ({
  name: 'name',
  label: t.people.name,
  autocomplete: 'name',
  autofocus: true,
})
const emailField = (more: Partial<OpenField> = {}): OpenField => ({
  name: 'email',
  label: t.fields.email,
  type: 'email',
  autocomplete: 'username',
  ...more,
})
const passwordField = (more: Partial<OpenField> = {}): OpenField => ({
  name: 'password',
  label: t.open.password,
  type: 'password',
  autocomplete: 'current-password',
  ...more,
})
const newPassword = (more: Partial<OpenField> = {}) =>
  passwordField({ description: t.people.password_rule, autocomplete: 'new-password', ...more })
function zoneField(): OpenField {
  const { time_zone: value } = guessDefaults()
  const zones = [...new Set([...browserZones(), 'UTC', value])].sort()
  const choices = zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))
  return { name: 'time_zone', label: t.fields.time_zone, choices, value }
}
const languageField = (): OpenField => ({
  name: 'language',
  label: t.fields.language,
  choices: Object.entries(languages).map(([value, label]) => ({ value, label })),
  value: guessDefaults().language,
})
function currencyField(): OpenField {
  const names = new Intl.DisplayNames(document.documentElement.lang, { type: 'currency', fallback: 'none' })
  const labelOf = (code: string) => [code, names.of(code) ?? []].flat().join(' – ')
  const choices = currencies.map((value) => ({ value, label: labelOf(value) }))
  return { name: 'currency', label: t.fields.currency, choices, value: guessDefaults().currency }
}

const readSetup = () => dataOf(api.GET('/api/v1/setup'))

/** Signs in, and returns to the page from which the person came. */
async function signIn() {
  const { needed, mail } = await readSetup()
  if (needed) return show(t.open.setup_needed, t.open.setup_needed_text)
  const forgotten = mail
    ? element(
        'p',
        { class: 'open-text' },
        subtle(t.open.forgot, () => forgotten.replaceWith(askForLink())),
      )
    : element('p', { class: 'open-text' }, t.open.forgotten)
  show(
    t.open.sign_in,
    wanted.has('ended') && t.open.session_ended,
    openForm(
      {
        action: t.open.sign_in,
        fields: [emailField({ autofocus: true }), passwordField()],
        async send({ email = '', password = '' }) {
          await dataOf(api.POST('/api/v1/session', { body: { email, password } }))
          enter(wanted.get('to'))
        },
        messageOf: ({ status }) => status === 401 && t.open.wrong,
      },
      t,
    ),
    forgotten,
  )
}

/** Asks for a mail with a link. The answer is the same for each address. */
function askForLink(): HTMLElement {
  const form = openForm(
    {
      action: t.open.send_link,
      fields: [emailField()],
      async send({ email = '' }) {
        await answerOf(api.POST('/api/v1/password-reset/request', { body: { email } }))
        form.replaceWith(element('p', { class: 'open-text', role: 'status' }, t.open.link_sent))
      },
    },
    t,
  )
  requestAnimationFrame(() => form.querySelector('input')?.focus())
  return form
}

/** Creates the first account and its workspace, by the link from the terminal. */
async function setUp() {
  const { needed } = await readSetup()
  if (!needed) return deadEnd(t.open.setup_done, t.open.setup_done_text)
  if (!token) return show(t.open.setup_needed, t.open.setup_needed_text)
  const given = token
  show(
    t.open.setup_title,
    t.open.setup_text,
    openForm(
      {
        action: t.open.setup_action,
        fields: [
          nameField(),
          emailField(),
          newPassword(),
          {
            name: 'workspace_name',
            label: t.people.workspace_name,
            description: t.open.workspace_name_text,
            autocomplete: 'organization',
          },
          zoneField(),
          languageField(),
          currencyField(),
        ],
        async send(values) {
          const body = { ...values, token: given } as never
          await inWords(dataOf(api.POST('/api/v1/setup', { body })), t.open.setup_done_text)
          enter()
        },
        messageOf: (problem) => refusesToken(problem) && t.open.setup_over,
      },
      t,
    ),
  )
}

/** Sets a new password by a link. */
function reset() {
  if (!token) return deadEnd(t.open.link_over, t.open.link_incomplete)
  const given = token
  show(
    t.open.reset_title,
    t.open.reset_text,
    openForm(
      {
        action: t.open.reset_action,
        fields: [newPassword({ label: t.people.new_password, autofocus: true })],
        async send({ password = '' }) {
          await enterBy(
            answerOf(api.POST('/api/v1/password-reset', { body: { token: given, password } })),
            t.open.reset_over,
          )
        },
      },
      t,
    ),
  )
}

const lookUp = (token: string) => dataOf(api.POST('/api/v1/invitations/look-up', { body: { token } }))

async function invitation() {
  if (!token) return deadEnd(t.open.link_over, t.open.link_incomplete)
  try {
    const invited = await lookUp(token)
    // The account of this e-mail may belong to another person.
    accept(token, invited, !invited.has_account)
  } catch (error) {
    if (!(error instanceof Problem) || !refusesToken(error)) throw error
    deadEnd(t.open.link_over, t.open.invitation_over)
  }
}

/** Accepts an invitation, with a new account or the account of the e-mail. */
function accept(given: string, invited: Awaited<ReturnType<typeof lookUp>>, own: boolean) {
  const { workspace_name: workspace, email, role, has_account } = invited
  const about = { has_account: !own, role: t.people.roles[role] }
  const password = own ? newPassword() : passwordField({ autofocus: true })
  show(
    t.open.invitation_title({ workspace }),
    t.open.invitation_text(about),
    openForm(
      {
        action: t.open.invitation_action,
        fields: [
          emailField({ value: email, readonly: true }),
          ...(own ? [nameField()] : []),
          password,
          ...(own ? [zoneField(), languageField()] : []),
        ],
        async send({ email: _, ...values }) {
          const body = { ...values, token: given, ...(own && { new_account: true }) } as never
          const accepting = answerOf(api.POST('/api/v1/invitations/accept', { body }))
          await enterBy(inWords(accepting, t.open.member_already), t.open.invitation_over)
        },
      },
      t,
    ),
    has_account
      ? subtle(own ? t.open.use_account : t.open.own_account, () => accept(given, invited, !own))
      : null,
  )
}

const pages: Record<string, () => unknown> = {
  '/setup': setUp,
  '/invitation': invitation,
  '/reset': reset,
}
const page = pages[`/${window.location.pathname.split('/')[1]}`] ?? signIn

/** Shows the page of the address. After a failure, it offers to try again. */
async function start() {
  try {
    await page()
  } catch (error) {
    const busy = error instanceof Problem && error.status === 429
    show(
      t.app.name,
      false,
      note(busy ? waitText(error.retry_after_s, t) : explain(error, t)),
      subtle(t.app.retry, start),
    )
  }
}

/** Leads somebody who is signed in to the app: here, or meanwhile in another tab. */
async function leaveIfSignedIn() {
  const answer = await fetch('/api/v1/session').catch(() => null)
  if (answer?.ok) enter(wanted.get('to'))
}

function lastLanguage(): Language {
  try {
    const last = localStorage.getItem('rapport-language')
    return preferredLanguage(last === null ? undefined : [last])
  } catch {
    return preferredLanguage()
  }
}

const language = lastLanguage()
document.documentElement.lang = language
askFor('open')
t = (await loadParts(language)) as OpenTexts
window.addEventListener('hashchange', () => {
  // A second link in the same tab does not reload the page.
  token = readToken() ?? token
  start()
})
if (page === signIn) {
  leaveIfSignedIn()
  window.addEventListener('focus', leaveIfSignedIn)
}
await start()
