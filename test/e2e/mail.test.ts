// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarFile, hourAt, startCalendars } from '../calendar-server.ts'
import { mailSettings } from '../mails.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { use } from '../use.ts'
import { checkScreen, owner, phone, untilEqual, useWeb } from '../web.ts'

const server = use(startSmtpServer)
const web = useWeb(
  Object.defineProperty({}, 'env', {
    get: () => mailSettings(server.url, { MAIL_RETRY_DELAYS: '2' }),
    enumerable: true,
  }),
)
const quiet = useWeb()

test('a test mail goes out from the settings, and its page shows the attempt and the text', async (t) => {
  const page = await web.open(t, '/settings/mail')
  await page.getByText(`Mails go out over 127.0.0.1:${server.port}`).waitFor()
  await page.getByRole('button', { name: 'Send a test mail' }).click()
  await page.getByRole('row', { name: /Test mail from Rapport/ }).waitFor()
  await checkScreen(page)
  await page.getByRole('link', { name: /Test mail from Rapport/ }).click()
  await page.getByText('This is a test of the mail settings.').waitFor()
  await page.getByText('Attempt 1').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Attempt 2').waitFor()
  assert.equal(server.accepted.length, 2)
})

test('a mail that fails says why, also on a phone', async (t) => {
  server.script.rcpt = 550
  const page = await web.open(t, '/settings/mail', phone)
  await page.getByRole('button', { name: 'Send a test mail' }).click()
  await page.getByText('The mail server refused it.').waitFor()
  await page.getByText('550 scripted 550').waitFor()
  await checkScreen(page)
  server.heal()
  await page.goto(`${web.rapport.url}/settings/mail?status=failed`)
  await page.getByRole('row', { name: /Failed/ }).waitFor()
  await checkScreen(page)
})

test('the log of mails follows: a server that takes mails again, and the mail that waited for it', async (t) => {
  server.script.mail = 421
  t.after(() => server.heal())
  const page = await web.open(t, '/settings/mail')
  const body = { email: 'ada@example.com', role: 'member' }
  await web.rapport.call('POST', '/api/v1/invitations', body)
  const row = page.getByRole('row', { name: /ada@example.com/ })
  await row.getByText('Waiting').waitFor()
  await page.getByText('does not take mails').waitFor()
  await checkScreen(page)
  server.heal()
  await page.getByText('Mails go out over').waitFor()
  await row.getByText('Sent').waitFor()
})

test('without a mail server, the page says how many mails were not sent', async (t) => {
  const body = { email: 'grace@example.com', role: 'member' }
  await quiet.rapport.call('POST', '/api/v1/invitations', body)
  const page = await quiet.open(t, '/settings/mail')
  await page.getByText('1 mail was not sent.').waitFor()
  await checkScreen(page)
})

test('an invitation says whether its link is mailed', async (t) => {
  for (const [one, words] of [
    [web, 'A mail with this link goes to ines@example.com.'],
    [quiet, 'no e-mail is sent by this service'],
  ] as const) {
    const page = await one.open(t, '/settings/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog', { name: 'Invite' }).getByLabel('E-mail').fill('ines@example.com')
    await page.getByRole('button', { name: 'Create invitation' }).click()
    await page.getByRole('dialog', { name: 'Link of the invitation' }).getByText(words).waitFor()
  }
})

test('a preference that is switched off in the profile stays off', async (t) => {
  const page = await web.open(t, '/settings/profile')
  const box = page.getByLabel('Records that others assign to me')
  await box.click()
  await untilEqual(() => box.isChecked(), false)
  await page.reload()
  await page.getByLabel('Notes and activities that mention me').waitFor()
  await untilEqual(() => box.isChecked(), false)
  await checkScreen(page)
})

test('the time of the digest is that of the profile, also after it was cleared', async (t) => {
  const page = await web.open(t, '/settings/profile')
  await page.getByLabel('A digest of my day').click()
  const time = page.getByLabel('Time of the digest')
  await time.fill('06:30')
  await time.blur()
  // Drawn anew with the stored time.
  await page.locator('input[type=time][value="06:30"]').waitFor()
  await time.fill('')
  await time.blur()
  assert.equal(await time.inputValue(), '06:30')
})

test('a calendar feed shows its address once, and is deleted in the profile', async (t) => {
  const page = await web.open(t, '/settings/profile')
  await page.getByRole('button', { name: 'Make a calendar feed' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Phone')
  await dialog.getByRole('button', { name: 'Make a calendar feed' }).click()
  const address = page.getByRole('region', { name: 'The address of your calendar' })
  const url = await address.locator('code').innerText()
  assert.match(await (await fetch(url)).text(), /^BEGIN:VCALENDAR/)
  await checkScreen(page)
  await page.getByRole('dialog').getByRole('button').last().click()
  await page.getByText('Phone').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Delete Phone' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await untilEqual(async () => (await fetch(url)).status, 404)
})

test('a busy calendar is added, read again and deleted in the profile', async (t) => {
  const calendars = await startCalendars()
  t.after(() => calendars.close())
  calendars.serve('/private.ics', calendarFile(hourAt(Date.now() + 86_400_000)))
  const page = await web.open(t, '/settings/profile', { allow: /status of 422/ })
  await page.getByRole('button', { name: 'Add a busy calendar' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address of the calendar').fill('calendar.example/private.ics')
  await page.keyboard.press('Enter')
  await dialog.getByText('Use one such as https://example.com.').waitFor()
  await dialog.getByLabel('Address of the calendar').fill(`${calendars.url}/private.ics`)
  await dialog.getByLabel('Name', { exact: true }).fill('Private')
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Add a busy calendar' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'Private' })
  await row.getByText('1 busy time').waitFor()
  calendars.serve('/private.ics', '<!doctype html><title>Sign in</title>')
  const again = row.getByRole('button', { name: 'Read now: Private' })
  await again.focus()
  await page.keyboard.press('Enter')
  await row.getByText('It cannot be read. The answer is not an iCalendar file.').waitFor()
  // It was disabled meanwhile, and can be pressed again.
  await again.and(page.locator(':focus')).waitFor()
  await checkScreen(page)
  // The reason leaves the name its room.
  const box = await row.getByText('Private', { exact: true }).boundingBox()
  assert.ok(box && box.width > 5 * box.height, JSON.stringify(box))
  await row.getByRole('button', { name: 'Delete the busy calendar Private' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await row.waitFor({ state: 'detached' })
})

test('a forgotten password is set anew by the link of a mail', async (t) => {
  const page = await web.open(t, '/sign-in', { session: null })
  await page.getByRole('button', { name: 'Forgotten your password?' }).click()
  const before = server.accepted.length
  await page.getByRole('textbox', { name: 'E-mail' }).last().fill(owner.email)
  await checkScreen(page)
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  await untilEqual(async () => server.accepted.length > before, true)
  const raw = server.accepted.at(-1)?.raw.replaceAll('=\r\n', '') ?? ''
  const [link = ''] = /http:\S+\/reset#[\w-]{43}/.exec(raw) ?? []
  await page.goto(link)
  await page.getByRole('textbox', { name: 'New password' }).fill('quite another password')
  await page.getByRole('button', { name: 'Save the password and sign in' }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/reset'))
})

test('a long subject in the log of mails ends with an ellipsis', async (t) => {
  const { call } = quiet.rapport
  await call('PUT', '/api/v1/workspace', { name: 'Acme '.repeat(20).trim() })
  await call('POST', '/api/v1/invitations', { email: 'bea@example.com', role: 'member' })
  const page = await quiet.open(t, '/settings/mail')
  const subject = page.getByRole('row', { name: /bea@example.com/ }).getByRole('link')
  assert.ok(await subject.evaluate((link) => link.scrollWidth > link.clientWidth))
  // The link has the ellipsis: a box within it would be cut without a sign.
  assert.equal(await subject.evaluate((link) => link.children.length), 0)
})
