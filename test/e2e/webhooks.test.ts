// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useReceiver } from '../receiver.ts'
import { checkScreen, desk, phone, untilEqual, useWeb, visit } from '../web.ts'
import { company, register, until } from '../webhooks.ts'

const web = useWeb()
const receiver = useReceiver()

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

  await visit(page, '/')
  await page.getByRole('button', { name: 'Explain deal.created' }).click()
  await dialog.getByText('Was not subscribed to deal.created.').waitFor()
})

test('an entry of a timeline leads to the reasons for all its events', async (t) => {
  receiver.answering = () => ({})
  const { call } = web.rapport
  await register(call, { name: 'Won deals', url: receiver.url, events: ['deal.won'] })
  const made = await call('POST', '/api/v1/deals', { name: 'Awning', value: 300 })
  const { id } = made.body.data
  assert.equal((await call('POST', `/api/v1/deals/${id}/change-stage`, { stage: 'won' })).status, 200)
  const page = await web.open(t, `/deals/${id}`)
  const moved = page
    .getByRole('list', { name: 'Timeline' })
    .getByRole('listitem')
    .filter({ hasText: 'moved' })
  await moved.getByRole('button', { name: /^Explain who got the events of/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Who got this event, and why' })
  await dialog.getByText('deal.won', { exact: true }).waitFor()
  await dialog.getByText('Was not subscribed to deal.stage_changed.').first().waitFor()
  await dialog.getByText('Got it.').first().waitFor()
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

test('the dialog that shows the secret of a new webhook sends a test, and shows its outcome beside the secret', async (t) => {
  receiver.answering = () => ({ status: 500 })
  const page = await web.open(t, '/settings/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create webhook' })
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('Name').fill('Tried at once')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  const once = page.getByRole('dialog', { name: 'Secret of the webhook' })
  await once.getByRole('button', { name: 'Send a test' }).click()
  await once.getByText('HTTP 500').waitFor()
  receiver.answering = () => ({})
  await once.getByRole('button', { name: 'Send a test' }).click()
  await once.getByText('HTTP 200').waitFor()
  await checkScreen(page)
  assert.match(await once.locator('code').innerText(), /^whsec_/)
  await once.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tried at once' }).waitFor()
})

test('a condition suggests the custom fields of the chosen events by their labels, with their operators and values', async (t) => {
  const { call } = web.rapport
  for (const field of [
    { resource: 'deals', key: 'region', label: 'Sales region', type: 'select', options: ['EMEA', 'APAC'] },
    { resource: 'deals', key: 'seats', label: 'Seats', type: 'number' },
    { resource: 'deals', key: 'renewal', label: 'Renewal', type: 'boolean' },
    { resource: 'contacts', key: 'shoe', label: 'Shoe size', type: 'number' },
  ])
    assert.equal((await call('POST', '/api/v1/custom-fields', field)).status, 201)
  const { id } = await register(call, { name: 'Regional', url: receiver.url, events: ['deal.*'] })
  const page = await web.open(t, `/settings/webhooks/${id}`)
  await page.getByRole('button', { name: 'Add condition' }).click()
  const row = page.getByRole('group', { name: 'Condition 1' })
  const field = row.getByRole('combobox', { name: 'Field' })
  await field.fill('s')
  await page.getByRole('option', { name: 'Seats' }).waitFor()
  await untilEqual(() => page.getByRole('option', { name: 'Shoe size' }).count(), 0)
  await field.fill('sales reg')
  await page.getByRole('option', { name: 'Sales region' }).click()
  await untilEqual(() => field.inputValue(), 'data.custom_fields.region')
  await row.getByRole('combobox', { name: 'Operator' }).click()
  await page.getByRole('option', { name: 'is one of' }).waitFor()
  await untilEqual(() => page.getByRole('option', { name: 'is at least' }).count(), 0)
  await page.keyboard.press('Escape')
  await row.getByRole('combobox', { name: 'Value' }).click()
  await page.getByRole('option', { name: 'EMEA' }).click()
  await checkScreen(page)

  await page.getByRole('button', { name: 'Add condition' }).click()
  const second = page.getByRole('group', { name: 'Condition 2' })
  await second.getByRole('combobox', { name: 'Field' }).fill('renewal')
  await page.getByRole('option', { name: 'Renewal' }).click()
  await second.getByRole('combobox', { name: 'Value' }).click()
  await page.getByRole('option', { name: 'Yes' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await until(
    async () => (await call('GET', `/api/v1/webhooks/${id}`)).body.data.conditions,
    (conditions) => conditions.length === 2,
  )
  assert.deepEqual((await call('GET', `/api/v1/webhooks/${id}`)).body.data.conditions, [
    { field: 'data.custom_fields.region', op: 'eq', value: 'EMEA' },
    { field: 'data.custom_fields.renewal', op: 'eq', value: true },
  ])
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
  await bar.waitFor({ state: 'attached' })
  await page.reload()
  await bar.waitFor({ state: 'attached' })
  await page.getByText('It waits until the webhook is resumed.').waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Stop backfill' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop backfill' }).click()
  await page.getByText(/The last backfill was stopped/).waitFor()

  await web.rapport.call('POST', `/api/v1/webhooks/${id}/resume`, {})
  await page.getByRole('checkbox', { name: 'Companies', exact: true }).check()
  await page.getByRole('button', { name: 'Start backfill' }).click()
  await page.getByText(/ended .*: 5 of 5 records queued/).waitFor()
  await until(async () => receiver.received.filter(({ body }) => body.includes('"backfill"')).length, 5)
})

test('the form takes conditions, own headers and limits, shows problems at their field, and keeps stored values', async (t) => {
  const page = await web.open(t, '/settings/webhooks', { allow: /status of 422/ })
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create webhook' })
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('Name').fill('Shop')
  await dialog.getByLabel('All events').uncheck()
  await dialog.getByLabel('All about deals').check()
  await dialog.getByRole('button', { name: 'Add condition' }).click()
  const first = dialog.getByRole('group', { name: 'Condition 1' })
  await first.getByRole('combobox', { name: 'Field' }).fill('data.valu')
  await first.getByRole('combobox', { name: 'Operator' }).click()
  await page.getByRole('option', { name: 'is at least' }).click()
  await first.getByLabel('Value').fill('10000')
  await dialog.getByText('Headers, retries, limits, format').click()
  await dialog.getByRole('button', { name: 'Add header' }).click()
  await dialog.getByLabel('Name of header 1').fill('Host')
  await dialog.getByLabel('Value of header 1').fill('Bearer t0ken')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await dialog.getByText('The events of this webhook have no such field.').waitFor()
  await dialog.getByText('This header is set by the service.').waitFor()
  await checkScreen(page)

  await first.getByRole('combobox', { name: 'Field' }).fill('data.value')
  await first.getByLabel('Value').fill('10000')
  await dialog.getByLabel('Name of header 1').fill('Authorization')
  await dialog.getByRole('combobox', { name: 'Retries' }).click()
  await page.getByRole('option', { name: 'Own delays' }).click()
  await dialog.getByLabel('Delays in minutes').fill('0.5, 5')
  await dialog.getByLabel('Timeout in seconds').fill('20')
  await dialog.getByLabel('In order per record').check()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
  const id = page.url().split('/').at(-1)
  const stored = async () => (await web.rapport.call('GET', `/api/v1/webhooks/${id}`)).body.data
  const { events, conditions, headers, retry_delays, timeout_ms, ordered } = await stored()
  assert.deepEqual(
    { events, conditions, headers, retry_delays, timeout_ms, ordered },
    {
      events: ['deal.*'],
      conditions: [{ field: 'data.value', op: 'gte', value: 10_000 }],
      headers: { Authorization: '***' },
      retry_delays: [30, 300],
      timeout_ms: 20_000,
      ordered: true,
    },
  )

  await page.getByRole('button', { name: 'Add header' }).click()
  await page.getByLabel('Name of header 2').fill('X-Tenant')
  await page.getByLabel('Value of header 2').fill('acme')
  await page.getByRole('button', { name: 'Save' }).click()
  await until(stored, (webhook) => webhook.headers['X-Tenant'] === '***')
  await page.getByRole('button', { name: 'Add header' }).click()
  await page.getByLabel('Name of header 3').fill('X-Tenant ')
  await page.getByLabel('Value of header 3').fill('other')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This name is listed twice.').first().waitFor()
  await page.getByRole('button', { name: 'Remove header 3' }).click()
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/elsewhere')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The new address would get stored values.').waitFor()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url)
  await page.setViewportSize(phone.viewport)
  await checkScreen(page)
  await page.setViewportSize(desk.viewport)
  await page.getByRole('button', { name: 'Send ping' }).click()
  await page.getByText('HTTP 200').waitFor()
  const sent = receiver.received.at(-1)?.headers ?? {}
  assert.deepEqual([sent.authorization, sent['x-tenant']], ['Bearer t0ken', 'acme'])
})

test('the page of a webhook that somebody else deletes says that there is none', async (t) => {
  const { call } = web.rapport
  const { id } = await register(call, { name: 'Elsewhere', url: receiver.url })
  const page = await web.open(t, `/settings/webhooks/${id}`, { allow: /status of 404/ })
  await page.getByRole('heading', { level: 1, name: 'Elsewhere' }).waitFor()
  assert.equal((await call('DELETE', `/api/v1/webhooks/${id}`)).status, 200)
  await page.getByRole('alert').getByText('This is gone. Somebody may have deleted it.').waitFor()
})
