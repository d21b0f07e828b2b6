// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { useReceiver } from '../receiver.ts'
import { addFilter, checkScreen, phone, untilEqual, useWeb, visit } from '../web.ts'
import { company, register } from '../webhooks.ts'

const web = useWeb()
const receiver = useReceiver()

test('new deliveries come in at the top, and wait behind a button while somebody reads', async (t) => {
  receiver.answering = () => ({})
  const { id } = await register(web.rapport.call, { name: 'Reader', url: receiver.url })
  for (let n = 0; n < 60; n++) await company(web.rapport.call, `Firm ${n}`)
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`)
  await page.getByText('60', { exact: true }).waitFor()
  const rows = page.locator('tbody tr')
  async function many(count: number) {
    await rows.nth(count - 1).waitFor()
    await untilEqual(() => rows.count(), count)
  }
  await many(50)
  await page.getByRole('button', { name: 'Show older deliveries' }).click()
  await many(60)
  const top = await rows.first().locator('[data-row-link]').getAttribute('href')
  await company(web.rapport.call, 'One more')
  await page.getByRole('button', { name: '1 new' }).waitFor()
  await untilEqual(() => rows.first().locator('[data-row-link]').getAttribute('href'), top)
  await page.getByRole('button', { name: '1 new' }).click()
  await rows.first().locator(`[data-row-link]:not([href="${top}"])`).waitFor()
  // At the top nothing is held back.
  await company(web.rapport.call, 'And another')
  await many(62)

  // A delivery beside the log holds it still as well.
  await rows.nth(3).getByText('Succeeded').click()
  await page.getByRole('complementary', { name: 'Delivery' }).getByText('HTTP 200').first().waitFor()
  await company(web.rapport.call, 'While it is open')
  await page.getByRole('button', { name: '1 new' }).waitFor()
  await checkScreen(page)
  // More than one answer of the API holds: the newest are shown, and the older ones go on behind them.
  for (let n = 0; n < 60; n++) await company(web.rapport.call, `Many ${n}`)
  await page.getByRole('button', { name: '50+ new' }).click()
  await rows.nth(50).waitFor({ state: 'detached' })
  await many(50)
  await page.getByRole('button', { name: 'Show older deliveries' }).click()
  await many(100)
})

test('a log that is left open shows only the newest deliveries, and the older ones follow without a gap', async (t) => {
  receiver.answering = () => ({})
  const { id } = await register(web.rapport.call, { name: 'Busy', url: receiver.url })
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`)
  await page.getByText('Nothing matches these filters.').waitFor()
  const links = page.locator('tbody [data-row-link]')
  const shown = () =>
    links.evaluateAll((all) => all.map((link) => link.getAttribute('href')?.split('/').at(-1)))
  async function sent(): Promise<string[]> {
    const ids: string[] = []
    for (let number = 1; ; number++) {
      const path = `/api/v1/deliveries?webhook_id=${id}&per_page=100&page=${number}`
      const { data, meta } = (await web.rapport.call('GET', path)).body
      ids.push(...data.map((one: { id: string }) => one.id))
      if (number >= meta.last_page) return ids
    }
  }
  for (let burst = 0; burst < 8; burst++) {
    for (let n = 0; n < 30; n++) await company(web.rapport.call, `Burst ${burst} ${n}`)
    const [newest] = await sent()
    await page.locator(`tbody a[href$="${newest}"]`).first().waitFor()
  }
  const all = await sent()
  assert.equal(all.length, 240)
  const kept = await shown()
  assert.ok(kept.length > 100 && kept.length <= 200, `${kept.length} rows`)
  assert.deepEqual(kept, all.slice(0, kept.length))
  await page.getByRole('button', { name: 'Show older deliveries' }).click()
  await links.nth(kept.length).waitFor()
  const more = await shown()
  assert.deepEqual(more, all.slice(0, more.length))
})

test('filters of the log are in the address and apply to later deliveries', async (t) => {
  const { id } = await register(web.rapport.call, {
    url: receiver.url,
    events: ['contact.created', 'company.created'],
  })
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`, phone)
  const editor = await addFilter(page, 'Event')
  await editor.getByRole('searchbox').fill('contact.created')
  await editor.getByRole('radio', { name: 'contact.created' }).check()
  await page.waitForURL(/event=contact\.created/)
  await page.keyboard.press('Escape')
  await company(web.rapport.call)
  const made = await web.rapport.call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'L' })
  assert.equal(made.status, 201)
  await page.getByRole('row', { name: /contact\.created/ }).waitFor()
  await untilEqual(() => page.getByRole('row', { name: /company\.created/ }).count(), 0)
  await visit(page, `/settings/deliveries?webhook_id=${id}&from=2099-01-01T00:00`)
  await page.getByText('Nothing matches these filters.').waitFor()
})

test('a log that can no longer be read keeps what it shows, and says so until it is live again', async (t) => {
  const { id } = await register(web.rapport.call, { name: 'Cut off', url: receiver.url })
  await company(web.rapport.call, 'Before')
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`, { allow: /status of 500/ })
  const row = page.getByRole('row', { name: /company\.created/ })
  await row.getByText(/^\d+ ms$/).waitFor()
  await page.route('**/api/v1/deliveries?*', (route) => route.fulfill({ status: 500, body: '' }))
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
  await untilEqual(() => row.count(), 1)
  await page.unroute('**/api/v1/deliveries?*')
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('a ping shows its answer at once; a secret is rotated and a webhook deleted from its page', async (t) => {
  receiver.answering = () => ({ status: 418, body: 'no' })
  const made = await register(web.rapport.call, { name: 'Kitchen', url: receiver.url })
  const page = await web.open(t, `/settings/webhooks/${made.id}`)
  await page.getByRole('button', { name: 'Send ping' }).click()
  await page.getByText('HTTP 418').waitFor()
  receiver.answering = () => ({})
  await page.getByRole('button', { name: 'Send ping' }).click()
  await page.getByText('HTTP 200').waitFor()

  await page.getByLabel('Name').fill('Kitchen door')
  const path = `/api/v1/webhooks/${made.id}`
  await web.rapport.call('PUT', path, { name: 'Elsewhere', events: ['deal.won'] })
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('This webhook is paused').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('This webhook is paused').waitFor({ state: 'detached' })
  // The typed text stays, and saving it does not revert changes by others.
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Kitchen door' }).waitFor()
  assert.deepEqual((await web.rapport.call('GET', path)).body.data.events, ['deal.won'])
  await untilEqual(() => page.getByRole('button', { name: 'Save' }).isDisabled(), true)

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Rotate secret…' }).click()
  await page.getByLabel('Hours in which both sign').fill('2')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  const once = page.getByRole('dialog', { name: 'Secret of the webhook' })
  assert.notEqual(await once.locator('code').innerText(), made.secret)
  await once.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByText('The secret is being rotated').waitFor()
  await checkScreen(page)

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete webhook…' }).click()
  await page.getByText('It cannot be restored.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await page.waitForURL(/\/settings\/webhooks$/)
  assert.equal((await web.rapport.call('GET', `/api/v1/webhooks/${made.id}`)).status, 404)
  // Its deliveries stay in the log, and the filter by it still says what it is.
  await visit(page, `/settings/deliveries?webhook_id=${made.id}`)
  const deleted = `…${made.id.slice(-4)} (deleted)`
  await page.getByRole('cell', { name: deleted }).first().waitFor()
  await page.getByRole('main').getByText(deleted).first().waitFor()
})

test('a webhook is not read again while it is deleted', async (t) => {
  const { id } = await register(web.rapport.call, { name: 'Short-lived', url: receiver.url })
  const page = await web.open(t, `/settings/webhooks/${id}`)
  await page.getByRole('button', { name: 'Start backfill' }).waitFor()
  const path = `**/api/v1/webhooks/${id}`
  const deleted = Promise.withResolvers<void>()
  const shown = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback()
    const response = await route.fetch()
    deleted.resolve()
    await shown.promise
    await route.fulfill({ response })
  })
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete webhook…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await deleted.promise
  const read: string[] = []
  page.on('request', (request) => read.push(new URL(request.url()).pathname))
  // The page reads what is stale, which the answers to its polls are.
  const again = page.waitForRequest(/\/deliveries\?/)
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await again
  assert.deepEqual(
    read.filter((path) => path.includes(id)),
    [],
  )
  shown.resolve()
  await page.waitForURL(/\/settings\/webhooks$/)
  await page.unroute(path)
})

test('on a phone, the log says why an attempt failed without a scroll to the side', async (t) => {
  const { id } = await register(web.rapport.call, { name: 'Refusing', url: 'http://127.0.0.1:9/' })
  await company(web.rapport.call, 'Refused')
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`, phone)
  await page.getByText('Connection refused').waitFor()
  const wide = await page.locator('.table-scroll').evaluate((one) => one.scrollWidth - one.clientWidth)
  assert.equal(wide, 0)
})

test('the log is filtered by record, event id and status code, and its rows name and link the record', async (t) => {
  receiver.answering = ({ body }) => ({ status: body.includes('Refused') ? 503 : 200 })
  const events = ['company.created', 'company.updated', 'deal.created']
  const { id } = await register(web.rapport.call, { name: 'Filtered', url: receiver.url, events })
  const { id: record } = await company(web.rapport.call, 'Refused Ltd.')
  await web.rapport.call('PUT', `/api/v1/companies/${record}`, { phone: '1' })
  await company(web.rapport.call, 'Accepted Ltd.')
  await web.rapport.call('POST', '/api/v1/deals', { name: 'A deal' })
  const wide = { viewport: { width: 1440, height: 900 } }
  const page = await web.open(t, `/settings/deliveries?webhook_id=${id}`, wide)
  const rows = page.locator('tbody tr')
  const shown = (count: number) => untilEqual(() => rows.count(), count)
  await shown(4)
  await rows.getByRole('link', { name: 'Accepted Ltd.', exact: true }).waitFor()

  await visit(page, `/settings/deliveries?webhook_id=${id}&kind=companies&record_id=${record}`)
  await shown(2)
  await untilEqual(() => rows.getByRole('link', { name: 'Refused Ltd.', exact: true }).count(), 2)
  await page.locator('.chip').getByText('Refused Ltd.').first().waitFor()
  // By its name, too.
  await visit(page, `/settings/deliveries?webhook_id=${id}&kind=companies`)
  await shown(3)
  await addFilter(page, 'Record')
  await page.keyboard.type('Refused')
  await page.getByRole('option', { name: 'Refused Ltd.' }).click()
  await page.waitForURL(/record_id=/)
  await shown(2)
  const picture = (name: string, of: Page) => async (scheme: string) => {
    const { SHOTS } = process.env
    if (SHOTS) await of.screenshot({ path: `${SHOTS}/log-${name}-${scheme}.png` })
  }
  await visit(page, `/settings/deliveries?webhook_id=${id}`)
  await shown(4)
  const small = await web.open(
    t,
    `/settings/deliveries?webhook_id=${id}&kind=companies&record_id=${record}`,
    phone,
  )
  await untilEqual(() => small.locator('tbody tr').count(), 2)
  await checkScreen(small, picture('390', small))
  const editor = await addFilter(page, 'Status code')
  await editor.getByRole('textbox').fill('503')
  await page.keyboard.press('Enter')
  await page.waitForURL(/status_code=503/)
  await page.keyboard.press('Escape')
  await shown(2)
  const [{ event_id }] = (await web.rapport.call('GET', `/api/v1/deliveries?webhook_id=${id}`)).body.data
  await visit(page, `/settings/deliveries?event_id=${event_id}`)
  await shown(1)
  await rows.getByRole('link', { name: 'A deal', exact: true }).click()
  await page.getByRole('heading', { name: 'A deal' }).waitFor()
  await visit(page, `/settings/deliveries?webhook_id=${id}&status_code=503`)
  await rows.first().getByText('Failed').or(rows.first().getByText('Pending')).first().click()
  await page.getByRole('button', { name: 'Send now' }).waitFor()
  await checkScreen(page, picture('send-now', page))
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.getByText('The next attempt starts now').waitFor()
  await page.getByRole('button', { name: /Attempt 2/ }).waitFor()
})
