// runs: once
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { transaction } from '../../src/db/db.ts'
import { beside } from '../keys.ts'
import { type Board, cardIn, carry, column, startBoard, toast } from '../web/board.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, keepToasts, phone, untilEqual } from '../web.ts'
import { until } from '../webhooks.ts'

// biome-ignore lint/suspicious/noExplicitAny: the page's own world
type Made = any
type Box = { x: number; y: number; width: number; height: number }

let board: Board
before(async () => {
  board = await startBoard()
})
after(() => board?.close())

test('a deal dragged to Won is won: counts and sums follow, deal.won arrives, and Undo takes it back', async (t) => {
  const { id, name } = await board.createDeal({ name: 'Twelve turbines', value: 900, stage: 'negotiation' })
  const page = await board.web.open(t, '/deals', { reusable: false })
  await keepToasts(page)
  await carry(page, cardIn(page, 'negotiation', id), 'won')
  await page.mouse.up()
  await cardIn(page, 'won', id).waitFor()
  await toast(page, 'Twelve turbines won').waitFor()
  assert.equal((await board.dealOf(id)).stage, 'won')
  await board.receiver.waitFor(() =>
    board.events('deal.won').some(({ data }) => data.id === id && data.name === name),
  )
  await board.headsAreTheApis(page)
  await toast(page, 'Twelve turbines won').getByRole('button', { name: 'Undo' }).click()
  await cardIn(page, 'negotiation', id).waitFor()
  // The card moves at once, and the service hears of it a moment later.
  await until(() => board.dealOf(id), { stage: 'negotiation' })
  await board.headsAreTheApis(page)
  assert.deepEqual(
    [(await board.dealOf(id)).stage, (await board.dealOf(id)).closed_at],
    ['negotiation', null],
  )
})

test('the card of a won deal keeps its German words', async (t) => {
  const { id } = await board.createDeal({ name: 'Neues Dach', stage: 'won', value: 70 })
  const session = await joinAs(board.web.rapport, 'greta@example.test', 'member', { language: 'de' })
  const page = await board.web.open(t, '/deals', { session })
  const since = cardIn(page, 'won', id).getByText(/^Gewonnen/)
  await since.waitFor()
  const ends = await since.evaluate((one) =>
    [one.querySelector('time')!, one.closest('.card')!].map((each) => each.getBoundingClientRect().right),
  )
  assert.ok(ends[0]! < ends[1]!, String(ends))
})

test('Won and Lost show when deals closed: those of the last 30 days, and older ones when asked', async (t) => {
  const recent = await board.createDeal({ name: 'New roof', stage: 'won', value: 70 })
  const older = await board.createDeal({ name: 'Old roof', stage: 'won', value: 30 })
  await beside(board.web.rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      tx
        .updateTable('deals')
        .set({ closed_at: '2026-01-05T10:00:00.000Z' })
        .where('id', '=', older.id)
        .execute(),
    ),
  )
  const page = await board.web.open(t, '/deals', { reusable: false })
  await cardIn(page, 'won', recent.id).getByText(/^Won/).waitFor()
  assert.equal(await cardIn(page, 'won', older.id).count(), 0)
  const since = column(page, 'won').getByText('last 30 days')
  await since.waitFor()
  assert.ok(
    await since.evaluate(
      (one) => one.getBoundingClientRect().right <= one.closest('div')!.getBoundingClientRect().right,
    ),
  )
  await column(page, 'won')
    .getByRole('button', { name: /^Show \d+ older$/ })
    .click()
  await cardIn(page, 'won', older.id).waitFor()
  await board.headsAreTheApis(page)
  await board.api('DELETE', `/deals/${older.id}`)
})

test('dropped on Lost it asks for the reason in place: Escape puts it back, a reason loses it, and deal.lost tells it', async (t) => {
  const { id } = await board.createDeal({ name: 'Old pumps', value: 120, stage: 'verbal_commitment' })
  const page = await board.web.open(t, '/deals')
  const card = cardIn(page, 'verbal_commitment', id)
  await carry(page, card, 'lost')
  await page.mouse.up()
  const asks = page.getByRole('dialog', { name: 'Why was Old pumps lost?' })
  await asks.waitFor()
  await cardIn(page, 'lost', id).waitFor()
  await asks.getByRole('textbox', { name: 'Reason' }).press('Escape')
  await card.waitFor()
  await asks.waitFor({ state: 'detached' })
  await board.headsAreTheApis(page)
  assert.equal((await board.dealOf(id)).stage, 'verbal_commitment')

  await carry(page, card, 'lost')
  await page.mouse.up()
  await asks.getByRole('button', { name: 'Mark as lost' }).click()
  await asks.getByText('Say why, in a few words.').waitFor()
  await checkScreen(page)
  await asks.getByRole('textbox', { name: 'Reason' }).fill('They bought used ones')
  await page.keyboard.press('Enter')
  await toast(page, 'Old pumps lost').waitFor()
  await cardIn(page, 'lost', id).waitFor()
  const { stage, lost_reason } = await board.dealOf(id)
  assert.deepEqual([stage, lost_reason], ['lost', 'They bought used ones'])
  await board.receiver.waitFor(() =>
    board
      .events('deal.lost')
      .some(({ data }) => data.id === id && data.lost_reason === 'They bought used ones'),
  )
  await board.headsAreTheApis(page)
})

test('a card that is held over the last visible column drops there: the board does not scroll away below it', async (t) => {
  const { id } = await board.createDeal({ name: 'Held still', value: 80, stage: 'proposal' })
  const page = await board.web.open(t, '/deals', { viewport: { width: 1100, height: 800 } })
  const card = cardIn(page, 'proposal', id)
  await card.scrollIntoViewIfNeeded()
  await page.locator('.board').evaluate((element) => element.scrollTo(0, 0))
  const { x, y, width, height } = (await card.boundingBox()) as Box
  // The last column whose middle can be seen.
  const seen = await page.locator('.column').evaluateAll((columns) =>
    columns
      .map((one) => ({ box: one.getBoundingClientRect(), stage: one.getAttribute('data-stage') }))
      .filter(({ box }) => box.left + box.width / 2 < 1100 - 48)
      .map(({ box, stage }) => ({ stage, x: box.left + box.width / 2 })),
  )
  const last = seen.at(-1) as { stage: string; x: number }
  assert.ok(!['proposal', 'lost'].includes(last.stage), last.stage)
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width / 2 + 8, y + height / 2, { steps: 4 })
  await page.mouse.move(last.x, y + height / 2, { steps: 12 })
  await column(page, last.stage).and(page.locator('[data-over]')).waitFor()
  // The board scrolls by frames. This number of frames would scroll to the end.
  await page.evaluate(`new Promise((resolve) => {
    let frames = 0
    const next = () => (++frames === 90 ? resolve() : requestAnimationFrame(next))
    next()
  })`)
  assert.equal(await page.locator('.board').evaluate((element) => element.scrollLeft), 0)
  await page.mouse.up()
  await cardIn(page, last.stage, id).waitFor()
  await until(
    () => board.dealOf(id),
    ({ stage }) => stage === last.stage,
  )
})

test('on a phone, a card that a finger holds at its side reaches the other columns', async (t) => {
  const { id } = await board.createDeal({ name: 'Held at its side', value: 70, stage: 'new_lead' })
  const page = await board.web.open(t, '/deals', { ...phone, hasTouch: true, load: true })
  const card = cardIn(page, 'new_lead', id)
  await card.scrollIntoViewIfNeeded()
  const { x, y, width } = (await card.boundingBox()) as Box
  const devtools = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: number) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [{ x: at, y: y + 20 }] : [] })
  const side = x + width - 40
  await touch('touchStart', side)
  await page.locator('.board[data-lifted]').waitFor()
  await touch('touchMove', phone.viewport.width - 4)
  await until(
    () => page.locator('.board').evaluate((element) => element.scrollLeft),
    (left) => left > 300,
  )
  await touch('touchMove', side)
  const over = page.locator('.column[data-over]:not([data-stage=new_lead])')
  await over.waitFor()
  const stage = await over.getAttribute('data-stage')
  await touch('touchEnd')
  // The column of lost deals would ask for the reason, and the board has not come as far.
  await until(
    () => board.dealOf(id),
    (deal) => deal.stage === stage,
  )
})

test('all eight columns fit a window of 1440 px', async (t) => {
  const page = await board.web.open(t, '/deals', { viewport: { width: 1440, height: 900 } })
  await column(page, 'lost').waitFor()
  const { scrollWidth, clientWidth } = await page
    .locator('.board')
    .evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))
  assert.equal(scrollWidth, clientWidth)
  await board.headsAreTheApis(page)
})

test('the names of stages are whole at 1440 px, and the sums below them are in one line', async (t) => {
  const page = await board.web.open(t, '/deals', { viewport: { width: 1440, height: 900 } })
  await column(page, 'lost').waitFor()
  const cut = await page
    .locator('.column-name > span:nth-child(2)')
    .evaluateAll((names) =>
      names
        .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
        .map((one) => one.textContent),
    )
  assert.deepEqual(cut, [])
  const tops = await page
    .locator('.column-sum > :first-child')
    .evaluateAll((sums) => sums.map((one) => Math.round(one.getBoundingClientRect().top)))
  assert.equal(tops.length, 8)
  assert.equal(new Set(tops).size, 1, tops.join())
})

test('the next step of a card is whole at 1440 px', async (t) => {
  const { web } = board
  const deal_id = await web.create('/deals', { name: 'Lenses to read', stage: 'proposal' })
  const due_at = new Date(Date.now() + 86_400_000).toISOString()
  await web.create('/activities', { type: 'task', subject: 'Prepare the new offer', due_at, deal_id })
  const page = await web.open(t, '/deals', { viewport: { width: 1440, height: 900 } })
  const subject = page.locator(`[data-deal="${deal_id}"]`).getByText('Prepare the new offer')
  await subject.waitFor()
  const cut = await subject.evaluate(
    (one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1,
  )
  assert.equal(cut, false)
  await board.api('DELETE', `/deals/${deal_id}`)
})

test('the button of older deals is whole at 1440 px, in each language', async (t) => {
  const german = await joinAs(board.web.rapport, 'gudrun@example.test', 'admin', { language: 'de' })
  for (const session of [undefined, german]) {
    const viewport = { width: 1440, height: 900 }
    const page = await board.web.open(t, null, session ? { session, viewport } : { viewport })
    await page.route('**/api/v1/reports/pipeline', async (route) => {
      const response = await route.fetch()
      const report = await response.json()
      for (const one of report.data.stages) one.count = 1129
      await route.fulfill({ response, json: report })
    })
    await page.goto(`${board.web.rapport.url}/deals`)
    const label = column(page, 'lost')
      .getByRole('button', { name: /older|ältere/ })
      .locator('.mantine-Button-label')
    await label.waitFor()
    const cut = await label.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    assert.equal(cut, false, await label.innerText())
  }
})

test('a heading breaks only between words, and abbreviates a count of four digits, in each language', async (t) => {
  const german = await joinAs(board.web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
  for (const session of [undefined, german]) {
    const page = await board.web.open(t, null, session ? { session } : {})
    await page.route('**/api/v1/reports/pipeline', async (route) => {
      const response = await route.fetch()
      const report = await response.json()
      for (const one of report.data.stages) one.count = 1129
      await route.fulfill({ response, json: report })
    })
    await page.route('**/api/v1/deals/groups*', async (route) => {
      const response = await route.fetch()
      const closed = await response.json()
      closed.data.groups = ['won', 'lost'].map((value) => ({
        value,
        count: 1129,
        sums: { value: 1 },
        filter: {},
      }))
      await route.fulfill({ response, json: closed })
    })
    await page.goto(`${board.web.rapport.url}/deals`)
    await column(page, 'lost').locator('.column-count').getByText('k').waitFor()
    for (const width of [1280, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      const heads = await page.locator('.column-head').evaluateAll((all) =>
        all.map((head) => {
          const { document } = globalThis as unknown as Made
          const node = head.querySelector('.column-name > [title]').firstChild
          const lines = (from: number, to: number) => {
            const range = document.createRange()
            range.setStart(node, from)
            range.setEnd(node, to)
            return range.getClientRects().length
          }
          const words = [...node.data.matchAll(/\S+/g)] as RegExpMatchArray[]
          const broken = words.filter(
            (word) => lines(word.index ?? 0, (word.index ?? 0) + word[0].length) > 1,
          )
          return { broken: broken.map(String), height: head.getBoundingClientRect().height }
        }),
      )
      assert.equal(heads.length, 8)
      assert.deepEqual(
        heads.flatMap(({ broken }) => broken),
        [],
      )
      assert.equal(new Set(heads.map(({ height }) => height)).size, 1, JSON.stringify(heads))
    }
    const count = column(page, 'demo').locator('.column-count')
    await untilEqual(() => count.innerText(), session ? '1,1k' : '1.1k')
    await untilEqual(() => count.getAttribute('title'), session ? '1.129' : '1,129')
    await page.setViewportSize({ width: 2560, height: 900 })
    await untilEqual(() => count.innerText(), session ? '1.129' : '1,129')
  }
})

test('an error of a column is whole, with its button and the number of its request', async (t) => {
  const page = await board.web.open(t, null, { allow: /status of 500/ })
  const error = {
    code: 'internal',
    message: 'Something went wrong. Try again.',
    request_id: 'req_mwz12xlm0000k',
  }
  await page.route(/\/api\/v1\/deals\?/, (route) =>
    route.fulfill({ status: 500, json: { success: false, error } }),
  )
  await page.goto(`${board.web.rapport.url}/deals`)
  const problem = column(page, 'won').getByRole('alert')
  await problem.getByRole('button', { name: 'Request id req_mwz12xlm0000k' }).waitFor()
  const cut = await problem.evaluate((note) => {
    const within = note as unknown as Made
    const all: Made[] = [within, ...within.querySelectorAll('*')]
    const { right } = within.getBoundingClientRect()
    return all
      .filter((one) => one.getBoundingClientRect().right > right || one.scrollWidth > one.clientWidth + 1)
      .filter((one) => one.clientWidth)
      .map((one) => one.className)
  })
  assert.deepEqual(cut, [])
})

test('two browsers see each other’s change', async (t) => {
  const { id } = await board.createDeal({ name: 'Shared', value: 70, stage: 'new_lead' })
  const [one, other] = [await board.web.open(t, '/deals'), await board.web.open(t, '/deals')]
  await cardIn(other, 'new_lead', id).waitFor()
  await cardIn(one, 'new_lead', id).focus()
  await one.keyboard.press('m')
  await one.getByRole('menuitem', { name: 'Demo' }).click()
  await cardIn(other, 'demo', id).waitFor()
  await board.headsAreTheApis(other)
})

test('a card that somebody else has moved while it was dragged asks whose stage stays', async (t) => {
  const { id } = await board.createDeal({ name: 'Two hands', value: 50, stage: 'new_lead' })
  const page = await board.web.open(t, '/deals')
  await carry(page, cardIn(page, 'new_lead', id), 'negotiation')
  const moved = await board.web.rapport.call('POST', `/api/v1/deals/${id}/change-stage`, {
    stage: 'proposal',
  })
  assert.equal(moved.status, 200, moved.text)
  await page.mouse.up()
  const dialog = page.getByRole('dialog', { name: 'Two hands was changed meanwhile' })
  await dialog.getByText(/^First key changed this/).waitFor()
  await untilEqual(() => dialog.getByRole('cell').allInnerTexts(), ['Proposal', 'Negotiation'])
  await dialog.getByRole('button', { name: 'Keep theirs' }).click()
  await cardIn(page, 'proposal', id).waitFor()
  assert.equal((await board.dealOf(id)).stage, 'proposal')
})
