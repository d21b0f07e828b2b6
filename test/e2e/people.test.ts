// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { browser, invite, join, password, setupToken } from '../people.ts'
import { checkScreen, heading, owner, phone, startWeb, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

/** The owner's session, for requests beside the browser. */
function ownersCalls() {
  const call = browser(web.rapport.url)
  call.plant(web.cookie)
  return call
}

async function signIn(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

type Session = { session_id: string; workspaces: { name: string }[] }
const sessionOf = async (page: Page): Promise<Session> =>
  (await (await page.request.get(`${web.rapport.url}/api/v1/session`)).json()).data

test('the link of the terminal makes the first account, once, and leaves no token in the address', async (t) => {
  const fresh = await startWeb({ set_up: false })
  t.after(() => fresh.close())
  const page = await fresh.open(t, '/sign-in', { allow: /status of 422/ })
  await page.getByText('The terminal in which the service was started shows a link').waitFor()
  await checkScreen(page)

  await page.goto(fresh.rapport.setup_url ?? '')
  await heading(page, 'Create your account')
  await page.waitForURL((url) => url.hash === '')
  await untilEqual(() => page.getByLabel('Time zone').first().inputValue(), 'Europe/Berlin')
  assert.match(await page.getByLabel('Currency').first().inputValue(), /^GBP/)
  assert.equal(
    await page.getByLabel('Password', { exact: true }).getAttribute('autocomplete'),
    'new-password',
  )
  await checkScreen(page)

  await page.getByLabel('Your name').fill(owner.name)
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Create account and workspace' }).click()
  // All problems show at once, each at its field.
  await page.getByText('At least 10 characters.', { exact: true }).waitFor()
  await page.getByText('Fill this in.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(owner.password)
  await page.getByLabel('Name of the workspace').fill(owner.workspace_name)
  await page.getByRole('button', { name: 'Create account and workspace' }).click()
  await page.getByRole('button', { name: `Profile: ${owner.name}` }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/')

  await page.goto(`${fresh.rapport.url}/setup#${setupToken(fresh.rapport)}`)
  await heading(page, 'This service is set up')

  const session = (await page.context().cookies()).find(({ name }) => name === 'rapport_session')
  assert.ok(session?.httpOnly)
  assert.equal(session?.sameSite, 'Strict')
})

test('who signs in comes to the page that was asked for, who signs out has to sign in again', async (t) => {
  const page = await web.open(t, '/settings/profile', { session: null, allow: /status of 401/ })
  await heading(page, 'Sign in')
  await checkScreen(page)
  await signIn(page, owner)
  await heading(page, 'Profile')
  await page.getByRole('button', { name: `Profile: ${owner.name}` }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
  await page.goto(`${web.rapport.url}/settings/profile`)
  await heading(page, 'Sign in')
})

for (const to of [
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example',
  'javascript:alert(1)',
  '/\t/evil.example',
])
  test(`signing in never leads elsewhere: ${to}`, async (t) => {
    const page = await web.open(t, `/sign-in?to=${encodeURIComponent(to)}`, { session: null })
    await signIn(page, owner)
    await page.getByRole('button', { name: `Profile: ${owner.name}` }).waitFor()
    assert.equal(new URL(page.url()).origin, web.rapport.url)
  })

test('a wrong password is reported, and after too many the page says how long to wait', async (t) => {
  const { email } = await join(ownersCalls(), web.rapport.url, 'member')
  const page = await web.open(t, '/sign-in', { session: null, allow: /status of (401|429)/ })
  await signIn(page, { email, password: 'not the password' })
  await page.getByText('The e-mail or the password is wrong.').waitFor()
  const guess = browser(web.rapport.url)
  for (let tries = 0; tries < 5; tries++) await guess('POST', '/session', { email, password: 'a guess more' })
  await signIn(page, { email, password })
  await page.getByText(/Too many wrong tries. Try again in \d+ seconds/).waitFor()
  await untilEqual(() => page.getByRole('button', { name: 'Sign in' }).isDisabled(), true)
  await checkScreen(page)
})

test('an invitation makes a member, who may not do what the role does not allow, and cannot be used twice', async (t) => {
  const token = await invite(ownersCalls(), 'read_only', 'rita@example.test')
  const page = await web.open(t, `/invitation#${token}`, { session: null, allow: /status of (401|422)/ })
  await heading(page, `Join ${owner.workspace_name}`)
  await page.waitForURL((url) => url.hash === '')
  await checkScreen(page)
  await page.getByLabel('Your name').fill('Rita Reader')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('button', { name: 'Profile: Rita Reader' }).waitFor()

  await visit(page, '/settings')
  await page.getByRole('link', { name: /^Members/ }).waitFor()
  for (const name of [/^API keys/, /^Webhooks/, /^Delivery log/, /^Audit log/])
    await untilEqual(() => page.getByRole('main').getByRole('link', { name }).count(), 0)
  await visit(page, '/settings/members')
  await page.getByRole('cell', { name: 'Rita Reader' }).waitFor()
  await untilEqual(() => page.getByRole('button', { name: /Invite|Remove|Leave/ }).count(), 0)
  await untilEqual(() => page.getByRole('combobox').count(), 0)
  await visit(page, '/settings/workspace')
  await untilEqual(() => page.getByLabel('Name of the workspace').isDisabled(), true)
  await untilEqual(() => page.getByRole('button', { name: 'Save' }).count(), 0)

  await visit(page, '/contacts')
  await heading(page, 'Contacts')
  assert.equal(
    await page
      .getByRole('main')
      .getByRole('button', { name: /\b(Create|New|Import|Delete)\b/ })
      .count(),
    0,
  )

  await page.goto(`${web.rapport.url}/invitation#${token}`)
  await page.getByText('It was used or taken back, or it is too old.').waitFor()
  // The link leads somebody who is signed in to the app.
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Profile: Rita Reader' }).waitFor()
})

test('an invitation is accepted with the account that somebody has', async (t) => {
  const jar = browser(web.rapport.url)
  const { email } = await join(ownersCalls(), web.rapport.url, 'admin')
  assert.equal((await jar('POST', '/session', { email, password })).status, 200)
  const made = await jar('POST', '/workspaces', { name: 'Second Street' })
  assert.equal(made.status, 201, made.text)
  const token = await invite(jar, 'admin', owner.email)
  const page = await web.open(t, `/invitation#${token}`, { ...phone, session: null })
  await page.getByText('This e-mail has an account; accept with its password.').waitFor()
  await untilEqual(() => page.getByLabel('Your name').count(), 0)
  await checkScreen(page)
  await page.getByLabel('Password', { exact: true }).fill(owner.password)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('link', { name: 'Home' }).first().waitFor()
  const { workspaces } = await sessionOf(page)
  assert.deepEqual(workspaces.map(({ name }) => name).sort(), ['Acme Sales', 'Second Street'])
})

test('an invitation is accepted with an account of the own, where somebody else has the e-mail', async (t) => {
  const { email } = await join(ownersCalls(), web.rapport.url, 'member')
  const jar = (await join(ownersCalls(), web.rapport.url, 'admin')).call
  assert.equal((await jar('POST', '/workspaces', { name: 'Third Street' })).status, 201)
  const token = await invite(jar, 'member', email)
  const page = await web.open(t, `/invitation#${token}`, { session: null })
  await page.getByRole('button', { name: 'I have no account here yet' }).click()
  await page.getByText('Create your account to accept.').waitFor()
  await page.getByRole('button', { name: 'Use the account that I have' }).waitFor()
  await page.getByLabel('Your name').fill('The real one')
  await page.getByLabel('Password', { exact: true }).fill('a password of the own')
  await checkScreen(page)
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.getByRole('button', { name: 'Profile: The real one' }).waitFor()
  assert.deepEqual(
    (await sessionOf(page)).workspaces.map(({ name }) => name),
    ['Third Street'],
  )
})

test('a session that ends elsewhere leads to signing in, and back to the page', async (t) => {
  const page = await web.open(t, '/sign-in?to=/settings/keys', { session: null, allow: /status of 401/ })
  await signIn(page, owner)
  await heading(page, 'API keys')
  const { session_id } = await sessionOf(page)
  const ended = await ownersCalls()('DELETE', `/sessions/${session_id}`)
  assert.equal(ended.status, 200)
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await heading(page, 'Sign in')
  await page.getByText('Your session ended. Sign in again.').waitFor()
  await signIn(page, owner)
  await heading(page, 'Webhooks')
  // A page that is loaded after the end gives the reason, too; signing out does not.
  await ownersCalls()('DELETE', `/sessions/${(await sessionOf(page)).session_id}`)
  await page.reload()
  await page.getByText('Your session ended. Sign in again.').waitFor()
  await signIn(page, owner)
  await heading(page, 'Webhooks')
  await page.getByRole('button', { name: /^Profile:/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
  await untilEqual(() => page.getByText('Your session ended').count(), 0)
})

test('a link that was not opened whole says so, and one that is no link of ours makes nothing', async (t) => {
  const page = await web.open(t, '/reset', { session: null, allow: /status of 422/ })
  await page.getByText('It is incomplete, or was opened before.').waitFor()
  await page.goto(`${web.rapport.url}/reset#nonsense`)
  await heading(page, 'Choose a new password')
  await page.getByLabel('New password', { exact: true }).fill('a password of mine')
  await page.getByRole('button', { name: 'Save the password and sign in' }).click()
  await page.getByText('This link was used, or it is too old.').waitFor()
  // A new one begins at the sign-in, where the focus leads.
  const leads_on = page.getByRole('link', { name: 'Sign in' })
  await leads_on.and(page.locator(':focus')).waitFor()
  await leads_on.click()
  await page.waitForURL(/\/sign-in$/)
  await checkScreen(page)
})
