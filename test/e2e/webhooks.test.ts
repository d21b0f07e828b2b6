// runs: once, long
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Receiver, startReceiver } from '../receiver.ts'
import { checkScreen, phone, startWeb, type Web } from '../web.ts'
import { company, register, until } from '../webhooks.ts'

let web: Web
let receiver: Receiver
before(async () => {
  web = await startWeb()
  receiver = await startReceiver()
})
after(async () => {
  await receiver?.close()
  await web?.close()
})

test('an event says for each webhook why it was sent or not', async (t) => {
  receiver.answering = () => ({})
  const { call } = web.rapport
  await register(call, { name: 'Everything', url: receiver.url, events: ['*'] })
  await register(call, { name: 'Contacts only', url: receiver.url, events: ['contact.*'] })
  const conditions = [{ field: 'data.value', op: 'gte', value: 10_000 }]
  await register(call, { name: 'Large deals', url: receiver.url, events: ['deal.*'], conditions })
  const made = await call('POST', '/api/v1/deals', { name: 'Signs for the shop', value: 1250.5 })
  assert.equal(made.status, 201, made.text)
  const page = await web.open(t, '/settings/deliveries')
  const row = page.getByRole('row', { name: /deal\.created/ })
  await row.getByText('Succeeded').waitFor()
  await row.getByRole('link').first().click()
  await page.getByRole('button', { name: 'Explain deal.created' }).click()
  const dialog = page.getByRole('dialog', { name: 'Who got this event, and why' })
  await dialog.getByText('Condition “value is at least 10,000” did not hold: value was 1,250.5.').waitFor()
  await dialog.getByText('Was not subscribed to deal.created.').waitFor()
  await dialog.getByText('Got it.').waitFor()
  await checkScreen(page)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await page.goto(`${web.rapport.url}/`)
  await page.getByRole('button', { name: 'Explain deal.created' }).click()
  await dialog.getByText('Was not subscribed to deal.created.').waitFor()
})

test('a test shows the example of an event before it is sent, and the outcome', async (t) => {
  receiver.answering = () => ({})
  const { id } = await register(web.rapport.call, { name: 'Tried', url: receiver.url })
  const page = await web.open(t, `/settings/webhooks/${id}`)
  await page.getByRole('combobox', { name: 'Event to send' }).click()
  await page.getByRole('option', { name: 'deal.won' }).click()
  const example = page.getByRole('region', { name: 'Example that is sent' })
  await example.getByText('"test"').waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('HTTP 200').waitFor()
  await checkScreen(page)
  const sent = receiver.received.find(({ body }) => body.includes('deal.won') && body.includes('"test"'))
  assert.ok(sent)
})

test('a backfill shows its progress, also after a reload, and is stopped', async (t) => {
  receiver.answering = () => ({})
  for (let n = 0; n < 5; n++) await company(web.rapport.call, `Backfilled ${n}`)
  const { id } = await register(web.rapport.call, { name: 'Warehouse', url: receiver.url })
  await web.rapport.call('POST', `/api/v1/webhooks/${id}/pause`, {})
  const page = await web.open(t, `/settings/webhooks/${id}`, phone)
  await page.getByRole('checkbox', { name: 'Companies', exact: true }).check()
  await page.getByText('5 records to check.').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Start backfill' }).click()
  const bar = page.getByRole('progressbar', { name: 'Progress of the backfill' })
  await bar.waitFor()
  await page.reload()
  await bar.waitFor()
  await page.getByText('It waits until the webhook is resumed.').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Stop backfill' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop backfill' }).click()
  await page.getByText(/The last backfill was stopped/).waitFor()

  await web.rapport.call('POST', `/api/v1/webhooks/${id}/resume`, {})
  await page.getByRole('checkbox', { name: 'Companies', exact: true }).check()
  await page.getByRole('button', { name: 'Start backfill' }).click()
  await page.getByText(/ended .*: 5 of 5 records queued/).waitFor()
  await until(
    async () => receiver.received.filter(({ body }) => body.includes('"backfill"')).length,
    (n) => n === 5,
  )
})
