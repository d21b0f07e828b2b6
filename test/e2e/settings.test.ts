// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { client } from '../harness.ts'
import { browser, join, password } from '../people.ts'
import { checkScreen, drawLate, owner, phone, untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

function ownersCalls() {
  const call = browser(web.rapport.url)
  call.plant(web.cookie)
  return call
}

test('a key that is made in the app has exactly the chosen scopes, is shown once, and can be revoked', async (t) => {
  const page = await web.open(t, '/settings/webhooks')
  await visit(page, '/settings/keys')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create API key' })
  await dialog.getByLabel('Name').fill('Website form')
  await dialog.getByLabel('Only what I choose').check()
  await dialog.getByLabel('Contacts: Read').check()
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  const once = page.getByRole('dialog', { name: 'Your new API key' })
  const token = await once.locator('code').first().innerText()
  assert.match(token, /^crm_\w+$/)
  await checkScreen(page)
  await page.keyboard.press('Escape')
  await page.goBack()
  await once.getByText(token, { exact: true }).waitFor()
  await once.getByRole('button', { name: 'I have kept it' }).click()
  await once.waitFor({ state: 'hidden' })
  await untilEqual(() => page.getByText(token).count(), 0)

  const call = client(web.rapport.url, token)
  assert.equal((await call('GET', '/api/v1/contacts')).status, 200)
  assert.equal((await call('GET', '/api/v1/deals')).status, 403)

  const row = page.getByRole('row', { name: /Website form/ })
  await row.getByText('Contacts (read)').waitFor()
  await page.getByRole('button', { name: 'Revoke Website form' }).click()
  await page.getByText('This cannot be undone.').waitFor()
  await checkScreen(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await row.getByText('Revoked').waitFor()
  await until(() => call('GET', '/api/v1/contacts'), { status: 401 }, 1000)
})

test('a new key without its last day or a choice of scopes is refused at the field', async (t) => {
  const page = await web.open(t, '/settings/keys', { ...phone, allow: /status of 422/ })
  await page.getByRole('button', { name: 'Create API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Only what I choose').check()
  // Without a day, the key would never expire.
  await dialog.getByRole('combobox', { name: 'Expires' }).click()
  await page.getByRole('option', { name: 'On a day' }).click()
  const day = dialog.getByRole('textbox', { name: 'Last day' })
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByText('Fill this in.').waitFor()
  await day.fill('1/2')
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByText(/^Enter a complete, valid date as DD.MM.YYYY\. You can also write 24 Dec/).waitFor()
  await day.fill('2030-02-01')
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByText('Fill this in.').waitFor()
  await dialog.getByText('Choose at least one.').waitFor()
  // The focus scrolls the dialog, and axe measures places.
  await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor()
  await checkScreen(page)
})

test('a refused form focuses the invalid field even if a frame comes before the form is drawn anew', async (t) => {
  const allow = /status of 422/
  const page = await web.open(t, '/settings/keys', { reusable: false, allow })
  await page.getByRole('button', { name: 'Create API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).waitFor()
  await drawLate(page)
  // The next frame is always at once.
  await page.evaluate(() => {
    const page = globalThis as any
    page.requestAnimationFrame = (draw: (time: number) => void) =>
      queueMicrotask(() => draw(page.performance.now()))
  })
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByText('Fill this in.').waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor()
})

test('refused settings focus the invalid field', async (t) => {
  const page = await web.open(t, '/settings/workspace', { allow: /status of 422/ })
  const name = page.getByLabel('Name of the workspace')
  await name.fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Fill this in.').waitFor()
  await name.and(page.locator(':focus')).waitFor()
})

test('members are invited, change their roles and are removed; the last owner stays', async (t) => {
  const { email } = await join(ownersCalls(), web.rapport.url, 'member', 'grace@example.test')
  const page = await web.open(t, '/settings/members', { allow: /status of 409/ })
  const row = page.getByRole('row', { name: new RegExp(email) })
  await row.getByRole('combobox', { name: 'Role of Grace Hopper' }).click()
  await page.getByRole('option', { name: 'Admin' }).click()
  await page.getByText('Grace Hopper is now: Admin').waitFor()

  await page.getByRole('combobox', { name: `Role of ${owner.name}` }).click()
  await page.getByRole('option', { name: 'Member' }).click()
  // A change that the person cannot undo needs a confirmation.
  const own = page.getByRole('dialog', { name: 'Change your own role?' })
  await own.getByRole('button', { name: 'Change role' }).click()
  await own.getByText('A workspace keeps at least one owner.').waitFor()
  await own.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite' })
  await dialog.getByLabel('E-mail').fill('new@example.test')
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Create invitation' }).click()
  const once = page.getByRole('dialog', { name: 'Link of the invitation' })
  const link = await once.locator('code').first().innerText()
  assert.ok(link.startsWith(`${web.rapport.url}/invitation#`))
  await once.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('button', { name: 'Revoke the invitation of new@example.test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Nobody is invited at the moment.').waitFor()

  await page.getByRole('button', { name: 'Remove Grace Hopper' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  const again = await browser(web.rapport.url)('POST', '/session', { email, password })
  assert.equal(again.status, 403)
})

test('a person deletes the own account after the password was asked for, but no only owner does', async (t) => {
  const { call, email } = await join(ownersCalls(), web.rapport.url, 'admin')
  const session = `${call.cookie()}; Path=/`
  const allow = /status of (401|409|422)/
  const page = await web.open(t, '/settings/profile', { ...phone, session, allow })
  const dialog = page.getByRole('dialog')
  async function ask(given: string) {
    await dialog.getByLabel('Current password', { exact: true }).fill(given)
    await dialog.getByRole('button', { name: 'Delete account' }).click()
  }
  await page.getByRole('button', { name: 'Delete account' }).click()
  await dialog.getByText('This cannot be undone.').waitFor()
  await checkScreen(page)
  await ask('something else')
  await dialog.getByText('This is not the password.').waitFor()

  const jar = browser(web.rapport.url)
  assert.equal((await jar('POST', '/session', { email, password })).status, 200)
  assert.equal((await jar('POST', '/workspaces', { name: 'Alone here' })).status, 201)
  await ask(password)
  await dialog.getByText('You are the only owner of a workspace.').waitFor()
  await join(jar, web.rapport.url, 'owner')
  await ask(password)
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  assert.equal((await jar('POST', '/session', { email, password })).status, 401)
})

test('the profile changes the language at once, the e-mail only with the password, and ends other sessions', async (t) => {
  const { call, email } = await join(ownersCalls(), web.rapport.url, 'member', 'ada@example.test')
  const other = browser(web.rapport.url, { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' })
  assert.equal((await other('POST', '/session', { email, password })).status, 200)
  const session = `${call.cookie()}; Path=/`
  const page = await web.open(t, '/settings/profile', { session, allow: /status of 422/ })
  await page.getByRole('button', { name: 'End the session: Firefox, Linux' }).click()
  await page.getByRole('button', { name: 'End the session: Firefox, Linux' }).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Change e-mail' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Current password', { exact: true }).fill(password)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Change e-mail' }).click()
  await untilEqual(() => dialog.getByLabel('Current password', { exact: true }).inputValue(), '')
  await dialog.getByLabel('New e-mail').fill('ada.l@example.test')
  await dialog.getByLabel('Current password', { exact: true }).fill('something else')
  await dialog.getByRole('button', { name: 'Change e-mail' }).click()
  await dialog.getByText('This is not the password.').waitFor()
  await dialog.getByLabel('Current password', { exact: true }).fill(password)
  await dialog.getByRole('button', { name: 'Change e-mail' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const shown = page.getByLabel('E-mail', { exact: true })
  await until(() => shown.inputValue(), 'ada.l@example.test')

  await page.getByLabel('Time zone').first().fill('kathm')
  await page.getByRole('option', { name: 'Asia/Kathmandu' }).click()
  await page.getByLabel('Language').first().click()
  await page.getByRole('option', { name: 'Deutsch' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Profil' }).waitFor()
})

test('a new workspace is made from the menu by an admin, as its owner; a member is not offered it', async (t) => {
  const member = await join(ownersCalls(), web.rapport.url, 'member')
  const other = await web.open(t, '/', { session: `${member.call.cookie()}; Path=/` })
  await other.getByRole('button', { name: `Workspace: ${owner.workspace_name}` }).click()
  await other.getByRole('menuitemradio', { name: owner.workspace_name }).waitFor()
  await untilEqual(() => other.getByRole('menuitem', { name: 'New workspace…' }).count(), 0)

  const { call } = await join(ownersCalls(), web.rapport.url, 'admin', 'mei@example.test')
  // Whatever the page still asks when it has left its workspace is refused.
  const page = await web.open(t, '/', { session: `${call.cookie()}; Path=/`, allow: /status of 412/ })
  await page.getByRole('button', { name: `Workspace: ${owner.workspace_name}` }).click()
  await page.getByRole('menuitem', { name: 'New workspace…' }).click()
  await page.getByLabel('Name of the workspace').fill('Side Project')
  await checkScreen(page)
  await page.getByRole('button', { name: 'Create workspace' }).click()
  await page.getByRole('button', { name: 'Workspace: Side Project' }).waitFor()
  await page.getByRole('button', { name: 'Workspace: Side Project' }).click()
  // The present one is marked, not refused.
  await page.getByRole('menuitemradio', { name: 'Side Project', checked: true }).waitFor()
  await page.getByRole('menuitemradio', { name: owner.workspace_name, checked: false }).click()
  await page.getByRole('button', { name: `Workspace: ${owner.workspace_name}` }).waitFor()
})

test('on a phone, a long name or address in the settings hides no action, and is whole', async (t) => {
  const name = 'Website form of the office in Liechtenstein and Graubünden, which asks for a call'
  const call = ownersCalls()
  assert.equal((await call('POST', '/keys', { name })).status, 201)
  const page = await web.open(t, '/settings/keys', phone)
  const hidden = (selector: string) =>
    page.locator(selector).evaluate((one) => one.scrollWidth - one.clientWidth)
  await page.getByRole('button', { name: `Revoke ${name}` }).waitFor()
  assert.deepEqual(
    [await hidden('.table-scroll'), await hidden('tbody tr:first-child td[data-first]')],
    [0, 0],
  )

  const event = 'contact.created'
  const url = 'https://hooks.example.com/a/very/long/path/of/an/endpoint/that/has/no/space/in/it'
  const hook = await call('POST', '/webhooks', { url, events: [event] })
  assert.equal(hook.status, 201, hook.text)
  await visit(page, `/settings/webhooks/${hook.body.data.id}`)
  await page.locator('.by-api summary').click()
  await page.locator('.by-api pre').first().waitFor()
  assert.equal(await hidden('.by-api pre >> nth=0'), 0)

  await visit(page, '/settings/members')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite' })
  await dialog.getByLabel('E-mail').fill('a.very.long.address.of.a.colleague@subsidiary.holding.example')
  await dialog.getByRole('button', { name: 'Create invitation' }).click()
  await page.locator('.shown-once').waitFor()
  assert.equal(await hidden('.shown-once'), 0)
  await checkScreen(page)
  await page.getByRole('button', { name: 'I have kept it' }).click()
})
