// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailSettings } from '../mails.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { use } from '../use.ts'
import { checkScreen, phone, untilEqual, useWeb } from '../web.ts'

const server = use(startSmtpServer)
const web = useWeb(
  Object.defineProperty({}, 'env', { get: () => mailSettings(server.url), enumerable: true }),
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
  await page.getByRole('row', { name: /failed/ }).waitFor()
  await checkScreen(page)
})

test('without a mail server, the page says how many mails were not sent', async (t) => {
  const body = { email: 'grace@example.com', role: 'member' }
  await quiet.rapport.call('POST', '/api/v1/invitations', body)
  const page = await quiet.open(t, '/settings/mail')
  await page.getByText('1 mail was not sent.').waitFor()
  await checkScreen(page)
})

test('a preference that is switched off in the profile stays off', async (t) => {
  const page = await web.open(t, '/settings/profile')
  const box = page.getByLabel('Records that others assign to me')
  await box.click()
  await untilEqual(() => box.isChecked(), false)
  await page.reload()
  await page.getByLabel('Notes and activities that mention me').waitFor()
  assert.equal(await box.isChecked(), false)
  await checkScreen(page)
})
