// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnableClock } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { checkScreen, startWeb, useWeb, visit } from '../web.ts'
import { company, onlyDelivery, register } from '../webhooks.ts'

const web = useWeb()
const receiver = useReceiver()

const asJson = { 'content-type': 'application/json' }

test('a webhook that is made in the app delivers, and its delivery appears without loading again, byte for byte', async (t) => {
  receiver.answering = () => ({ headers: asJson, body: '{"thanks":true}' })
  const page = await web.open(t, '/settings/webhooks', { allow: /status of 422/ })
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create webhook' })
  await dialog.getByLabel('URL').fill('http://169.254.169.254/')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await dialog.getByText('This address is not public.').waitFor()
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('Name').fill('Billing')
  await dialog.getByLabel('All events').uncheck()
  await dialog.getByLabel('All about companies').check()
  await checkScreen(page)
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  const once = page.getByRole('dialog', { name: 'Secret of the webhook' })
  const secret = await once.locator('code').innerText()
  assert.match(secret, /^whsec_/)
  await checkScreen(page)
  await once.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()

  await page.getByRole('link', { name: 'Delivery log' }).first().click()
  await page
    .getByText('Nothing was sent yet. Deliveries appear here as they happen.', { exact: true })
    .waitFor()
  assert.equal(await page.getByRole('button', { name: 'Create webhook' }).count(), 0)
  const { id } = await company(web.rapport.call, 'Analytical Engines')
  const row = page.getByRole('row', { name: /company\.created/ })
  await row.getByText('Succeeded').waitFor()
  await receiver.verify(secret)

  await row.getByRole('link').first().click()
  await page.getByText('HTTP 200').first().waitFor()
  await page.getByText('"thanks"').waitFor()
  await page.getByLabel('Request', { exact: true }).getByText('Raw').click()
  const shown = await page.getByRole('region', { name: 'Request: Body' }).innerText()
  assert.equal(shown, receiver.received[0]?.body)
  await page.getByLabel('Request', { exact: true }).getByText('9 headers').click()
  await page.getByText(String(receiver.received[0]?.headers['x-service-signature'])).waitFor()
  await checkScreen(page)
  await page.getByRole('link', { name: String(id), exact: true }).click()
  await page.waitForURL(new RegExp(`/companies/${id}$`))
})

test('a receiver that breaks shows its failed attempts and when the next one comes; once mended, it gets them again', async (t) => {
  // The next attempt comes when the test says so: what is before it may take long on a busy machine.
  const clock = turnableClock(Date.now())
  const delay_s = 3000
  const retried = await startWeb({ clock, env: { WEBHOOK_RETRY_DELAYS: `${delay_s},${delay_s}` } })
  t.after(() => retried.close())
  receiver.answering = () => ({ status: 500, body: 'down for repair' })
  const { id: webhook_id } = await register(retried.rapport.call, { name: 'Warehouse', url: receiver.url })
  const page = await retried.open(t, '/settings/deliveries', { allow: /status of 409/ })
  await company(retried.rapport.call)
  const row = page.getByRole('row', { name: /company\.created/ })
  await row.getByText(/^in \d+ min/).waitFor()
  const { id } = await onlyDelivery(retried.rapport.call, webhook_id)
  await row.getByRole('link').first().click()
  await page.getByText('down for repair').waitFor()
  await page.getByText('The receiver refused it').waitFor()
  await page.getByText(/Next attempt in \d+ min/).waitFor()
  // The first retry comes at once, and the second one as usual.
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.getByText('The next attempt starts now').waitFor()
  await page.getByRole('button', { name: /Attempt 2/ }).waitFor()
  clock.advance(delay_s * 1000)
  retried.rapport.wake()
  await page.getByRole('button', { name: /Attempt 3/ }).waitFor()
  await page.locator('.page-line').getByText('Failed').waitFor()
  await visit(page, '/settings/deliveries')
  await page
    .getByRole('link', { name: /^company\.created, Acme, Warehouse, Failed · 500, \d\d:\d\d:\d\d$/ })
    .waitFor()
  await visit(page, '/settings/webhooks')
  await page.getByRole('row', { name: /Warehouse Failing HTTP 500 after 3 attempts\. Look at it/ }).waitFor()
  await visit(page, `/settings/webhooks/${webhook_id}`)
  await page.getByText('Deliveries fail').waitFor()
  await page.getByText('HTTP 500 after 3 attempts.').waitFor()
  await checkScreen(page)

  receiver.answering = () => ({ headers: asJson, body: '{"ok":true}' })
  await visit(page, `/settings/deliveries/${id}`)
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.locator('.page-line').getByText('Succeeded').waitFor()
  await page.getByRole('button', { name: /Attempt 4/ }).waitFor()
  await page.getByRole('button', { name: /Attempt 1/ }).click()
  await page.getByText('down for repair').waitFor()

  // A delivery that cannot be sent again shows the reason.
  await retried.rapport.call('POST', `/api/v1/webhooks/${webhook_id}/pause`, {})
  await visit(page, '/settings/deliveries')
  await visit(page, `/settings/deliveries/${id}`)
  await page.getByText('The webhook is paused. Resume it first.').waitFor()
  await page.getByRole('button', { name: 'Resend', disabled: true }).waitFor()
  await retried.rapport.call('DELETE', `/api/v1/webhooks/${webhook_id}`)
  await visit(page, '/settings/deliveries')
  await visit(page, `/settings/deliveries/${id}`)
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('The webhook of this delivery was deleted.').waitFor()
})
