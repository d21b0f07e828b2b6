// runs: once
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Board, cardIn, column, holdDragging, startBoard, toast } from '../web/board.ts'
import { checkScreen, settled, untilEqual } from '../web.ts'

type Logged = { subject: string; contact_id: number; company_id: number }

let board: Board
before(async () => {
  board = await startBoard()
})
after(() => board?.close())

describe('the board of deals', () => {
  test('a card is carried by the keyboard alone, and what happens is announced', async (t) => {
    const { id } = await board.createDeal({ name: 'Keyboards', value: 10, stage: 'demo' })
    const page = await board.web.open(t, '/deals')
    await cardIn(page, 'demo', id).focus()
    const said = (text: string) =>
      page.locator('[aria-live=assertive]').getByText(text).waitFor({ state: 'attached' })
    await page.keyboard.press('Space')
    await said('Keyboards lifted from Demo.')
    await page.keyboard.press('ArrowRight')
    await said('Keyboards is over Proposal.')
    await page.keyboard.press('Escape')
    await said('Keyboards put back in Demo.')
    assert.equal((await board.dealOf(id)).stage, 'demo')
    await page.keyboard.press('Space')
    await said('Keyboards lifted from Demo.')
    await page.keyboard.press('ArrowRight')
    await said('Keyboards is over Proposal.')
    await page.keyboard.press('Space')
    await said('Keyboards dropped in Proposal.')
    await toast(page, 'Keyboards moved to Proposal').waitFor()
    assert.equal((await board.dealOf(id)).stage, 'proposal')
    await cardIn(page, 'proposal', id).and(page.locator(':focus')).waitFor()
  })

  test('m moves the focused card by a menu to any stage, and the focus goes with it', async (t) => {
    const { id } = await board.createDeal({ name: 'Menus', stage: 'new_lead' })
    const page = await board.web.open(t, '/deals')
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
    assert.equal((await board.dealOf(id)).lost_reason, 'No budget')
  })

  test('a move that the service refuses goes back, and says why', async (t) => {
    const { id } = await board.createDeal({ name: 'Refused', value: 5, stage: 'proposal' })
    const page = await board.web.open(t, '/deals', { allow: /status of 409/ })
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
    await board.headsAreTheApis(page)
  })

  test('a card of a deal that was deleted meanwhile says that it is gone, and goes', async (t) => {
    const { id } = await board.createDeal({ name: 'Vanishing', stage: 'qualification' })
    const page = await board.web.open(t, '/deals', { allow: /status of 404/ })
    await cardIn(page, 'qualification', id).focus()
    await page.keyboard.press('Space')
    await page.locator('[aria-live=assertive]').getByText('Vanishing lifted').waitFor({ state: 'attached' })
    await board.api('DELETE', `/deals/${id}`)
    await page.keyboard.press('ArrowRight')
    await page.locator('[aria-live=assertive]').getByText('over Demo').waitFor({ state: 'attached' })
    await page.keyboard.press('Space')
    await toast(page, 'Somebody may have deleted it').waitFor()
    await page.locator(`[data-deal="${id}"]`).waitFor({ state: 'detached' })
    await board.headsAreTheApis(page)
  })

  test('a column shows 25 deals, and the next ones when asked; company and contact narrow it down', async (t) => {
    const company = await board.api('POST', '/companies', { name: 'Many Deals Inc' })
    const deals = Array.from({ length: 30 }, (_, n) =>
      board.createDeal({ name: `Lot ${n + 1}`, value: 1.5, stage: 'qualification', company_id: company.id }),
    )
    await Promise.all(deals)
    const page = await board.web.open(t, `/deals?company_id=${company.id}`)
    const cards = column(page, 'qualification').locator('.card-link')
    await page.getByRole('button', { name: 'Show more (5)' }).waitFor()
    await cards.nth(24).waitFor()
    await untilEqual(() => cards.count(), 25)
    await column(page, 'qualification').locator('.column-sum').getByText('€45').waitFor()
    await column(page, 'demo').getByText('No deals').waitFor()
    await page.getByRole('button', { name: 'Show more (5)' }).click()
    await cards.nth(29).waitFor()
    await untilEqual(() => page.getByRole('button', { name: /Show more/ }).count(), 0)
    await page.getByRole('button', { name: 'Remove the filter Company' }).click()
    await board.headsAreTheApis(page)
  })

  test('no card goes away for a moment when the program for dragging comes', async (t) => {
    const company = await board.api('POST', '/companies', { name: 'Steady Inc' })
    const deals = Array.from({ length: 20 }, (_, n) =>
      board.createDeal({ name: `Steady ${n}`, stage: 'demo', company_id: company.id }),
    )
    const [{ id }] = await Promise.all(deals)
    const page = await board.web.open(t, null, { reusable: false })
    const letCome = await holdDragging(page)
    await page.goto(`${board.web.rapport.url}/deals?company_id=${company.id}`)
    await column(page, 'demo').locator('.card-link').nth(19).waitFor()
    await page.evaluate(`
      window.fewest = Infinity
      const count = () => { fewest = Math.min(fewest, document.querySelectorAll('[data-deal]').length) }
      new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
    `)
    letCome()
    await page.locator(`[data-rfd-draggable-id="${id}"]`).waitFor()
    assert.equal(await page.evaluate('fewest'), 20)
  })

  test('the program for dragging takes neither the focus, the scroll position nor a pressed card', async (t) => {
    const company = await board.api('POST', '/companies', { name: 'Unmoved Inc' })
    const deals = Array.from({ length: 20 }, (_, n) =>
      board.createDeal({ name: `Unmoved ${n}`, stage: 'won', company_id: company.id }),
    )
    await Promise.all(deals)
    const page = await board.web.open(t, null, { reusable: false, viewport: { width: 800, height: 600 } })
    const letCome = await holdDragging(page)
    await page.goto(`${board.web.rapport.url}/deals?company_id=${company.id}`)
    const links = column(page, 'won').locator('.card-link')
    await links.nth(19).focus()
    await links.nth(12).scrollIntoViewIfNeeded()
    const scrolled = () =>
      page.locator('.board').evaluate(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop])
    const before = await scrolled()
    assert.ok(
      before.every((px) => px > 0),
      String(before),
    )
    // It sees the document after each task that changes it.
    await page.evaluate(`
      window.lost = 0
      const see = () => { if (document.activeElement === document.body) lost++ }
      new MutationObserver(see).observe(document.querySelector('main'), { childList: true, subtree: true })
    `)
    const { x, y } = (await links.nth(12).boundingBox()) as { x: number; y: number }
    await page.mouse.move(x + 20, y + 20)
    await page.mouse.down()
    const name = await links.nth(12).locator('.card-name').innerText()
    const came = page.waitForResponse(/\/drag-parts-[^/]*\.js$/)
    letCome()
    await (await came).finished()
    await settled(page)
    await page.mouse.up()
    await page.getByRole('complementary').getByRole('heading', { name }).waitFor()
    await page.locator('[data-rfd-draggable-id]').first().waitFor()
    assert.equal(await page.evaluate('lost'), 0)
    assert.deepEqual(await scrolled(), before)
  })

  test('an open menu of a card stays when the program for dragging comes', async (t) => {
    const { id } = await board.createDeal({ name: 'Menu first', stage: 'demo' })
    const page = await board.web.open(t, null, { reusable: false })
    const letCome = await holdDragging(page)
    await page.goto(`${board.web.rapport.url}/deals`)
    await page.locator(`[data-deal="${id}"] .card-link`).focus()
    await page.keyboard.press('m')
    const menu = await page.getByRole('menu').elementHandle()
    await page.keyboard.press('ArrowDown')
    const chosen = await page.locator(':focus').innerText()
    const came = page.waitForResponse(/\/drag-parts-[^/]*\.js$/)
    letCome()
    await (await came).finished()
    await settled(page)
    assert.equal(await menu?.evaluate((element) => element.isConnected), true)
    assert.equal(await page.locator(':focus').innerText(), chosen)
    await page.keyboard.press('Escape')
    await page.locator(`[data-rfd-draggable-id="${id}"] .card-link:focus`).waitFor()
  })

  test('more that was asked for comes although a change comes in between', async (t) => {
    const company = await board.api('POST', '/companies', { name: 'Busy Inc' })
    const deals = Array.from({ length: 30 }, (_, n) =>
      board.createDeal({ name: `Busy ${n}`, stage: 'demo', company_id: company.id }),
    )
    const [{ id }] = await Promise.all(deals)
    const page = await board.web.open(t, `/deals?company_id=${company.id}`)
    const more = page.getByRole('button', { name: 'Show more (5)' })
    await more.waitFor()
    const cards = column(page, 'demo').locator('.card-link')
    const changed = Promise.withResolvers<void>()
    await page.route(/cursor=(?!start)/, async (route) => {
      await changed.promise
      await route.continue()
    })
    const again = page.waitForRequest((request) => /stage=demo.*cursor=start(&|$)/.test(request.url()))
    await more.click()
    // The event stream tells of the change, which is then read.
    const told = page.waitForRequest((request) => /reports\/pipeline/.test(request.url()))
    await board.api('PUT', `/deals/${id}`, { name: 'Busier' })
    await told
    changed.resolve()
    await again
    await page.getByText('Busier').waitFor()
    await cards.nth(29).waitFor()
    await untilEqual(() => cards.count(), 30)
  })

  test('a move reads the columns again that it concerns, not all eight', async (t) => {
    const { id } = await board.createDeal({ name: 'Counted', stage: 'demo' })
    const page = await board.web.open(t, undefined, { allow: /ERR_FAILED/ })
    // The own event would read all of them.
    await page.route('**/events/stream*', (route) => route.abort())
    await page.goto(`${board.web.rapport.url}/deals`)
    await page.waitForLoadState('networkidle')
    await cardIn(page, 'demo', id).waitFor()
    const asked: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/deals')) asked.push(searchParams.get('stage'))
    })
    await cardIn(page, 'demo', id).focus()
    await page.keyboard.press('m')
    await page.getByRole('menuitem', { name: 'Proposal' }).click()
    await toast(page, 'Counted moved to Proposal').waitFor()
    await board.headsAreTheApis(page)
    assert.deepEqual(asked.sort(), ['demo', 'proposal'])
  })
})

test('l on a card logs a call about its deal, with the contact and the company', async (t) => {
  const company_id = await board.web.create('/companies', { name: 'Kessel & Rohr' })
  const contact_id = await board.web.create('/contacts', { first_name: 'Ines', last_name: 'Kessel' })
  const { id } = await board.createDeal({ name: 'Boilers', company_id, contact_id, stage: 'demo' })
  const page = await board.web.open(t, '/deals')
  await cardIn(page, 'demo', id).focus()
  await page.keyboard.press('l')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Log a call or meeting: Ines Kessel').waitFor()
  await dialog.getByLabel('Outcome').fill('Wants two more')
  await dialog.getByLabel('Next step').fill('Send the offer')
  await dialog.getByLabel('Outcome').press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  const made = await board.api('GET', `/activities?deal_id=${id}&sort=subject`)
  assert.deepEqual(
    made.map((one: Logged) => [one.subject, one.contact_id, one.company_id]),
    [
      ['Call with Ines Kessel', contact_id, company_id],
      ['Send the offer', contact_id, company_id],
    ],
  )
  await cardIn(page, 'demo', id).and(page.locator(':focus')).waitFor()
})
