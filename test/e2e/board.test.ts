import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkScreen } from '../web.ts'
import { type Board, cardIn, carry, startBoard, toast } from '../web-board.ts'
import { until } from '../webhooks.ts'

let board: Board
before(async () => {
  board = await startBoard()
})
after(() => board?.close())

test('a deal dragged to Won is won: counts and sums follow, deal.won arrives, and Undo takes it back', async (t) => {
  const { id, name } = await board.createDeal({ name: 'Twelve turbines', value: 900, stage: 'negotiation' })
  const page = await board.web.open(t, '/deals')
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
  await until(
    () => board.dealOf(id),
    ({ stage }) => stage === 'negotiation',
  )
  await board.headsAreTheApis(page)
  assert.deepEqual(
    [(await board.dealOf(id)).stage, (await board.dealOf(id)).closed_at],
    ['negotiation', null],
  )
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
