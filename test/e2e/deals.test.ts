import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Receiver, startReceiver } from '../receiver.ts'
import { checkScreen, startWeb, type Web } from '../web.ts'
import { fillWorkspace } from '../web-records.ts'
import { register } from '../webhooks.ts'

let web: Web
let receiver: Receiver
before(async () => {
  web = await startWeb()
  receiver = await startReceiver()
  await fillWorkspace(web.rapport)
  await register(web.rapport.call, { url: receiver.url, events: ['deal.won', 'deal.lost'] })
})
after(async () => {
  await web?.close()
  await receiver?.close()
})

const api = async (method: string, path: string, body?: object) => {
  const reply = await web.rapport.call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body.data
}
const createDeal = (fields: object) => api('POST', '/deals', fields)
const dealOf = (id: number) => api('GET', `/deals/${id}`)
const events = (name: string) =>
  receiver.received.map(({ body }) => JSON.parse(body)).filter(({ event }) => event === name)

const column = (page: Page, stage: string) => page.locator(`[data-stage=${stage}]`)
const cardIn = (page: Page, stage: string, id: number) =>
  column(page, stage).locator(`[data-deal="${id}"] .card-link`)
const toast = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text })

/** What the heads of the columns say, read until it is what the API says. */
async function headsAreTheApis(page: Page): Promise<void> {
  const { stages } = await api('GET', '/reports/pipeline')
  const money = (value: number) =>
    new Intl.NumberFormat('en-GB', {
      style: 'currency',
      currency: 'EUR',
      ...(Number.isInteger(value) ? { maximumFractionDigits: 0 } : {}),
    }).format(value)
  for (const { stage, count, value } of stages) {
    await column(page, stage).locator('.column-count').getByText(String(count), { exact: true }).waitFor()
    await column(page, stage).locator('.column-sum').getByText(money(value), { exact: true }).waitFor()
  }
}

async function centre(what: Locator): Promise<{ x: number; y: number }> {
  const box = await what.boundingBox()
  assert.ok(box, `${what} is not to be seen`)
  return { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 60) }
}

/** Carries a card with the mouse: to the edge of the board until the column comes into view, then onto it. */
async function carry(page: Page, card: Locator, to: string): Promise<void> {
  await card.scrollIntoViewIfNeeded()
  const from = await centre(card)
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x + 8, from.y + 8, { steps: 4 })
  const { width } = page.viewportSize() as { width: number }
  await page.mouse.move(width - 12, from.y, { steps: 12 })
  await page.waitForFunction(
    ([stage, edge]) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page's own world
      const { document } = globalThis as any
      return (
        document.querySelector(`[data-stage=${stage}]`).getBoundingClientRect().right <= Number(edge) + 24
      )
    },
    [to, width] as const,
  )
  // The board may still be scrolling: onto the column until it stands still below the card.
  const over = column(page, to).and(page.locator('[data-over]'))
  let before = Number.NaN
  for (let tries = 0; tries < 50; tries++) {
    const { x, y } = await centre(column(page, to))
    await page.mouse.move(x, y + 40 + (tries % 2), { steps: 6 })
    if (x === before && (await over.isVisible())) return
    before = x
  }
  assert.fail(`the card never came over ${to}`)
}

describe('the board of deals', () => {
  test('a deal dragged to Won is won: counts and sums follow, deal.won arrives, and Undo takes it back', async (t) => {
    const { id, name } = await createDeal({ name: 'Twelve turbines', value: 900, stage: 'negotiation' })
    const page = await web.open(t, '/deals')
    await carry(page, cardIn(page, 'negotiation', id), 'won')
    await page.mouse.up()
    await cardIn(page, 'won', id).waitFor()
    await toast(page, 'Twelve turbines won').waitFor()
    assert.equal((await dealOf(id)).stage, 'won')
    await receiver.waitFor(() => events('deal.won').some(({ data }) => data.id === id && data.name === name))
    await headsAreTheApis(page)
    await toast(page, 'Twelve turbines won').getByRole('button', { name: 'Undo' }).click()
    await cardIn(page, 'negotiation', id).waitFor()
    // The card moves at once, and the service hears of it a moment later.
    while ((await dealOf(id)).stage !== 'negotiation') await page.waitForTimeout(50)
    await headsAreTheApis(page)
    assert.deepEqual([(await dealOf(id)).stage, (await dealOf(id)).closed_at], ['negotiation', null])
  })

  test('dropped on Lost it asks for the reason in place: Escape puts it back, a reason loses it, and deal.lost tells it', async (t) => {
    const { id } = await createDeal({ name: 'Old pumps', value: 120, stage: 'verbal_commitment' })
    const page = await web.open(t, '/deals')
    const card = cardIn(page, 'verbal_commitment', id)
    await carry(page, card, 'lost')
    await page.mouse.up()
    const asks = page.getByRole('dialog', { name: 'Why was Old pumps lost?' })
    await asks.waitFor()
    await cardIn(page, 'lost', id).waitFor()
    await asks.getByRole('textbox', { name: 'Reason' }).press('Escape')
    await card.waitFor()
    await asks.waitFor({ state: 'detached' })
    await headsAreTheApis(page)
    assert.equal((await dealOf(id)).stage, 'verbal_commitment')

    await carry(page, card, 'lost')
    await page.mouse.up()
    await asks.getByRole('button', { name: 'Mark as lost' }).click()
    await asks.getByText('Say why, in a few words.').waitFor()
    await checkScreen(page)
    await asks.getByRole('textbox', { name: 'Reason' }).fill('They bought used ones')
    await page.keyboard.press('Enter')
    await toast(page, 'Old pumps lost').waitFor()
    await cardIn(page, 'lost', id).waitFor()
    const { stage, lost_reason } = await dealOf(id)
    assert.deepEqual([stage, lost_reason], ['lost', 'They bought used ones'])
    await receiver.waitFor(() =>
      events('deal.lost').some(({ data }) => data.id === id && data.lost_reason === 'They bought used ones'),
    )
    await headsAreTheApis(page)
  })

  test('a card is carried by the keyboard alone, and what happens is announced', async (t) => {
    const { id } = await createDeal({ name: 'Keyboards', value: 10, stage: 'demo' })
    const page = await web.open(t, '/deals')
    await cardIn(page, 'demo', id).focus()
    const said = (text: string) =>
      page.locator('[aria-live=assertive]').getByText(text).waitFor({ state: 'attached' })
    await page.keyboard.press('Space')
    await said('Keyboards lifted from Demo.')
    await page.keyboard.press('ArrowRight')
    await said('Keyboards is over Proposal.')
    await page.keyboard.press('Escape')
    await said('Keyboards put back in Demo.')
    assert.equal((await dealOf(id)).stage, 'demo')
    await page.keyboard.press('Space')
    await said('Keyboards lifted from Demo.')
    await page.keyboard.press('ArrowRight')
    await said('Keyboards is over Proposal.')
    await page.keyboard.press('Space')
    await said('Keyboards dropped in Proposal.')
    await toast(page, 'Keyboards moved to Proposal').waitFor()
    assert.equal((await dealOf(id)).stage, 'proposal')
    await cardIn(page, 'proposal', id).and(page.locator(':focus')).waitFor()
  })

  test('m moves the focused card by a menu to any stage, and the focus goes with it', async (t) => {
    const { id } = await createDeal({ name: 'Menus', stage: 'new_lead' })
    const page = await web.open(t, '/deals')
    await cardIn(page, 'new_lead', id).focus()
    await page.keyboard.press('m')
    const menu = page.getByRole('menu')
    await menu.getByRole('menuitem', { name: 'Qualification' }).and(page.locator(':focus')).waitFor()
    await checkScreen(page)
    await page.keyboard.press('Escape')
    await cardIn(page, 'new_lead', id).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('m')
    await menu.getByRole('menuitem', { name: 'Lost' }).click()
    const reason = page.getByRole('textbox', { name: 'Reason' })
    await reason.and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'No budget' }).click()
    await page.getByRole('button', { name: 'Mark as lost' }).click()
    await toast(page, 'Menus lost').waitFor()
    await cardIn(page, 'lost', id).and(page.locator(':focus')).waitFor()
    assert.equal((await dealOf(id)).lost_reason, 'No budget')
  })

  test('a move that the service refuses goes back, and says why', async (t) => {
    const { id } = await createDeal({ name: 'Refused', value: 5, stage: 'proposal' })
    const page = await web.open(t, '/deals', { allow: /status of 409/ })
    const card = cardIn(page, 'proposal', id)
    await card.waitFor()
    const answer = { code: 'conflict', message: 'This deal is locked by a contract.', request_id: 'req_1' }
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route('**/change-stage', async (route) => {
      await held
      await route.fulfill({ status: 409, json: { success: false, error: answer } })
    })
    const sums = await page.locator('.board-sums').innerText()
    await card.focus()
    await page.keyboard.press('m')
    await page.getByRole('menuitem', { name: 'Won' }).click()
    // The weighted sum moves with the card: 60 % of 5.
    await cardIn(page, 'won', id).waitFor()
    const [before, after] = [sums, await page.locator('.board-sums').innerText()].map((text) =>
      Number(text.split('·')[1]?.replace(/[^\d.]/g, '')),
    )
    assert.equal(((before ?? 0) - (after ?? 0)).toFixed(2), '3.00')
    go()
    await toast(page, 'Refused is back in Proposal. This deal is locked by a contract.').waitFor()
    await card.waitFor()
    await headsAreTheApis(page)
  })

  test('a card of a deal that was deleted meanwhile says that it is gone, and goes', async (t) => {
    const { id } = await createDeal({ name: 'Vanishing', stage: 'qualification' })
    const page = await web.open(t, '/deals', { allow: /status of 404/ })
    await cardIn(page, 'qualification', id).focus()
    await page.keyboard.press('Space')
    await page.locator('[aria-live=assertive]').getByText('Vanishing lifted').waitFor({ state: 'attached' })
    await api('DELETE', `/deals/${id}`)
    await page.keyboard.press('ArrowRight')
    await page.locator('[aria-live=assertive]').getByText('over Demo').waitFor({ state: 'attached' })
    await page.keyboard.press('Space')
    await toast(page, 'Somebody may have deleted it').waitFor()
    await page.locator(`[data-deal="${id}"]`).waitFor({ state: 'detached' })
    await headsAreTheApis(page)
  })

  test('two browsers see each other’s change', async (t) => {
    const { id } = await createDeal({ name: 'Shared', value: 70, stage: 'new_lead' })
    const [one, other] = [await web.open(t, '/deals'), await web.open(t, '/deals')]
    await cardIn(other, 'new_lead', id).waitFor()
    await cardIn(one, 'new_lead', id).focus()
    await one.keyboard.press('m')
    await one.getByRole('menuitem', { name: 'Demo' }).click()
    await cardIn(other, 'demo', id).waitFor()
    await headsAreTheApis(other)
  })

  test('a column shows 25 deals, and the next ones when asked; company and contact narrow it down', async (t) => {
    const company = await api('POST', '/companies', { name: 'Many Deals Inc' })
    const deals = Array.from({ length: 30 }, (_, n) =>
      createDeal({ name: `Lot ${n + 1}`, value: 1.5, stage: 'qualification', company_id: company.id }),
    )
    await Promise.all(deals)
    const page = await web.open(t, `/deals?company_id=${company.id}`)
    const cards = column(page, 'qualification').locator('.card-link')
    await page.getByRole('button', { name: 'Show more (5)' }).waitFor()
    assert.equal(await cards.count(), 25)
    await column(page, 'qualification').locator('.column-sum').getByText('€45').waitFor()
    await column(page, 'demo').getByText('No deals').waitFor()
    await page.getByRole('button', { name: 'Show more (5)' }).click()
    await cards.nth(29).waitFor()
    assert.equal(await page.getByRole('button', { name: /Show more/ }).count(), 0)
    await page.getByRole('button', { name: 'Remove the filter Company' }).click()
    await headsAreTheApis(page)
  })

  test('more that was asked for comes although a change comes in between', async (t) => {
    const company = await api('POST', '/companies', { name: 'Busy Inc' })
    const deals = Array.from({ length: 30 }, (_, n) =>
      createDeal({ name: `Busy ${n}`, stage: 'demo', company_id: company.id }),
    )
    const [{ id }] = await Promise.all(deals)
    const page = await web.open(t, `/deals?company_id=${company.id}`)
    const more = page.getByRole('button', { name: 'Show more (5)' })
    await more.waitFor()
    const cards = column(page, 'demo').locator('.card-link')
    let held = false
    await page.route(/cursor=[^&]/, async (route) => {
      const first = !held
      held = true
      // Until the change has come, which reads all again.
      if (first) await changed
      await route.continue().catch(() => {})
    })
    const changed = page.waitForRequest((request) => /stage=demo.*cursor=(&|$)/.test(request.url()))
    await more.click()
    await api('PUT', `/deals/${id}`, { name: 'Busier' })
    await cards.nth(29).waitFor()
    assert.equal(await cards.count(), 30)
  })

  test('a move reads the columns again that it concerns, not all eight', async (t) => {
    const { id } = await createDeal({ name: 'Counted', stage: 'demo' })
    const page = await web.open(t, undefined, { allow: /ERR_FAILED/ })
    // The own event would read all of them.
    await page.route('**/events/stream*', (route) => route.abort())
    await page.goto(`${web.rapport.url}/deals`)
    await page.waitForLoadState('networkidle')
    const asked: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/deals')) asked.push(searchParams.get('stage'))
    })
    await cardIn(page, 'demo', id).focus()
    await page.keyboard.press('m')
    await page.getByRole('menuitem', { name: 'Proposal' }).click()
    await toast(page, 'Counted moved to Proposal').waitFor()
    await headsAreTheApis(page)
    assert.deepEqual(asked.sort(), ['demo', 'proposal'])
  })
})

describe('the table of deals', () => {
  test('search, filter and order stand in the address, and a link shows the same rows', async (t) => {
    const page = await web.open(t, '/deals?view=table&stage=won')
    const rows = page.locator('tbody tr[data-row-id]')
    await rows.filter({ hasText: 'Harbour Logistics: renewal' }).waitFor()
    assert.deepEqual(new Set(await rows.locator('.stage-badge').allTextContents()), new Set(['Won']))
    await page.getByRole('button', { name: 'Value', exact: true }).click()
    await page.waitForURL(/sort=-value/)
    await page
      .getByRole('columnheader', { name: 'Value' })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
    const wanted = (await api('GET', '/deals?stage=won&sort=-value')).map(
      (deal: { name: string }) => deal.name,
    )
    await rows.nth(0).getByText(wanted[0]).waitFor()
    assert.deepEqual(await rows.locator('.deal-name').allTextContents(), wanted)
    await page.getByRole('searchbox', { name: 'Search' }).fill('harbour')
    await page.waitForURL(/search=harbour/)
    const other = await web.open(t, page.url().slice(web.rapport.url.length))
    await other.locator('tbody tr[data-row-id]').first().waitFor()
    await other.getByText('Lumen').waitFor({ state: 'detached' })
    assert.deepEqual(
      await other.locator('.deal-name').allTextContents(),
      wanted.filter((name: string) => name.startsWith('Harbour')),
    )
  })

  test('many deals change their stage at once, lost with one reason, and Undo takes all back', async (t) => {
    const ids: number[] = []
    for (const stage of ['demo', 'proposal'])
      ids.push((await createDeal({ name: `Bulk ${stage}`, stage })).id)
    const page = await web.open(t, '/deals?view=table&search=bulk')
    for (const stage of ['demo', 'proposal'])
      await page.getByRole('checkbox', { name: `Select Bulk ${stage}` }).check()
    await page.getByRole('button', { name: 'Change stage' }).click()
    await page.getByRole('menuitem', { name: 'Lost' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Price' }).click()
    await checkScreen(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as lost' }).click()
    await toast(page, '2 deals moved to Lost').waitFor()
    for (const id of ids) assert.equal((await dealOf(id)).lost_reason, 'Price')
    await toast(page, '2 deals moved to Lost').getByRole('button', { name: 'Undo' }).click()
    await page.locator('td .stage-badge').getByText('Proposal').waitFor()
    assert.deepEqual(
      [(await dealOf(ids[0] as number)).stage, (await dealOf(ids[1] as number)).stage],
      ['demo', 'proposal'],
    )
  })
})

describe('a deal', () => {
  test('is created by c, with what the service refuses told at its field', async (t) => {
    const page = await web.open(t, '/deals', { allow: /status of 422/ })
    await page.getByRole('heading', { level: 1, name: 'Deals' }).waitFor()
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Create deal' })
    await dialog.getByRole('button', { name: 'Create deal' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator('[aria-invalid=true]')).waitFor()
    await checkScreen(page)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('By hand')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('1234.5')
    await dialog.getByRole('combobox', { name: 'Company' }).fill('Lumen')
    await page.getByRole('option', { name: /Lumen Optics/ }).click()
    await dialog.getByRole('button', { name: 'Create deal' }).click()
    await dialog.waitFor({ state: 'detached' })
    await column(page, 'new_lead').getByText('By hand').waitFor()
    const [made] = await api('GET', '/deals?search=by%20hand')
    assert.deepEqual([made.value, made.stage, made.probability], [1234.5, 'new_lead', 10])
    assert.equal((await dealOf(made.id)).company.name, 'Lumen Optics')
  })

  test('is changed where it is read: fields, stage with the reason of a loss, and its way is told', async (t) => {
    const { id } = await createDeal({ name: 'On its page', value: 10, stage: 'demo' })
    const page = await web.open(t, `/deals/${id}`)
    await page.getByText('€10', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('250')
    await page.keyboard.press('Enter')
    await page.getByText('€250', { exact: true }).waitFor()
    assert.equal((await dealOf(id)).value, 250)
    await page.getByRole('button', { name: 'Negotiation' }).click()
    await toast(page, 'On its page moved to Negotiation').waitFor()
    assert.equal((await dealOf(id)).probability, 80)
    await page.getByRole('button', { name: 'Lost' }).click()
    const dialog = page.getByRole('dialog', { name: 'Lost' })
    await checkScreen(page)
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Moved abroad')
    await page.keyboard.press('Enter')
    await page.locator('.field').getByText('Moved abroad').waitFor()
    await page.getByRole('tab', { name: 'Stage history' }).click()
    const stays = page.getByRole('list', { name: 'Stage history' }).getByRole('listitem')
    await stays.nth(2).waitFor()
    assert.deepEqual(
      (await stays.locator('.stage-badge').allTextContents()).map((text) => text.trim()),
      ['Lost', 'Negotiation', 'Demo'],
    )
    await stays.first().getByText('from Negotiation').waitFor()
    await stays.first().getByText('by Olivia Owner').waitFor()
  })

  test('is moved twice at once, and each Undo takes it back to where it was before that move', async (t) => {
    const { id } = await createDeal({ name: 'Quick', stage: 'new_lead' })
    const page = await web.open(t, `/deals/${id}`)
    await page.getByRole('button', { name: 'Demo' }).click()
    await page.getByRole('button', { name: 'Proposal' }).click()
    const second = toast(page, 'Quick moved to Proposal')
    await second.getByRole('button', { name: 'Undo' }).click()
    await page.locator('.steps [aria-current=step]').and(page.getByTitle('Demo')).waitFor()
    while ((await dealOf(id)).stage !== 'demo') await page.waitForTimeout(50)
  })

  test('is deleted and taken back', async (t) => {
    const { id } = await createDeal({ name: 'Mistake' })
    const page = await web.open(t, `/deals/${id}`)
    await page.getByRole('button', { name: 'Delete deal' }).click()
    await toast(page, 'Mistake deleted').getByRole('button', { name: 'Undo' }).click()
    await cardIn(page, 'new_lead', id).waitFor()
    assert.equal((await dealOf(id)).name, 'Mistake')
  })
})

test('who may only read can neither drag nor edit', async (t) => {
  const { url } = web.rapport
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...json, ...(cookie && { cookie }) },
      body: JSON.stringify(body),
    })
  const invited = await post('/invitations', { email: 'rita@example.test', role: 'read_only' }, web.cookie)
  const { data } = (await invited.json()) as { data: { url_path: string } }
  const token = data.url_path.split('#')[1]
  const accepted = await post('/invitations/accept', {
    token,
    name: 'Rita Reader',
    password: 'only looking around',
  })
  assert.ok(accepted.ok)
  const page = await web.open(t, '/deals', { session: accepted.headers.get('set-cookie') })
  const card = page.locator('.card-link').first()
  await card.focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('m')
  assert.equal(await page.locator('.card-menu, [role=menu], [data-lifted]').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Create deal' }).count(), 0)
  await card.press('Enter')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('tab', { name: 'Timeline' }).waitFor()
  assert.equal(await page.locator('.field-button, .reference-edit').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Delete deal' }).count(), 0)
  assert.equal(await page.locator('.step:enabled').count(), 0)
})
