// runs: once
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Board, cardIn, column, startBoard, toast } from '../web/board.ts'
import { checkScreen, settled, untilEqual } from '../web.ts'
import { until } from '../webhooks.ts'

let board: Board
before(async () => {
  board = await startBoard()
})
after(() => board?.close())

describe('the table of deals', () => {
  test('search, filter and order are in the address, and a link shows the same rows', async (t) => {
    const page = await board.web.open(t, '/deals?view=table&stage=won')
    const rows = page.locator('tbody tr[data-row-id]')
    await rows.filter({ hasText: 'Harbour Logistics: renewal' }).waitFor()
    assert.deepEqual(new Set(await rows.locator('.stage-badge').allTextContents()), new Set(['Won']))
    await page.getByRole('button', { name: 'Value', exact: true }).click()
    await page.waitForURL(/sort=-value/)
    await page
      .getByRole('columnheader', { name: 'Value' })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
    const wanted = (await board.api('GET', '/deals?stage=won&sort=-value')).map(
      (deal: { name: string }) => deal.name,
    )
    await rows.nth(0).getByText(wanted[0]).waitFor()
    assert.deepEqual(await rows.locator('.deal-name').allTextContents(), wanted)
    await page.getByRole('searchbox', { name: 'Search' }).fill('harbour')
    await page.waitForURL(/search=harbour/)
    const other = await board.web.open(t, page.url().slice(board.web.rapport.url.length))
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
      ids.push((await board.createDeal({ name: `Bulk ${stage}`, stage })).id)
    const page = await board.web.open(t, '/deals?view=table&search=bulk')
    for (const stage of ['demo', 'proposal'])
      await page.getByRole('checkbox', { name: `Select Bulk ${stage}` }).check()
    await page.getByRole('button', { name: 'Change stage' }).click()
    await page.getByRole('menuitem', { name: 'Lost' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Price' }).click()
    await checkScreen(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as lost' }).click()
    await toast(page, '2 deals moved to Lost').waitFor()
    for (const id of ids) assert.equal((await board.dealOf(id)).lost_reason, 'Price')
    await toast(page, '2 deals moved to Lost').getByRole('button', { name: 'Undo' }).click()
    await page.locator('td .stage-badge').getByText('Proposal').waitFor()
    // One after the other.
    await until(
      () => Promise.all(ids.map(async (id) => (await board.dealOf(id)).stage)),
      ([first, second]) => first === 'demo' && second === 'proposal',
    )
  })
})

describe('a deal', () => {
  test('is created by c, with the errors of the service at their fields', async (t) => {
    const page = await board.web.open(t, '/deals', { allow: /status of 422/ })
    await page.getByRole('heading', { level: 1, name: 'Deals' }).waitFor()
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Create deal' })
    await dialog.getByRole('button', { name: 'Create deal' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator('[aria-invalid=true]')).waitFor()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('By hand')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('1234.5')
    await dialog.getByRole('combobox', { name: 'Company' }).fill('Lumen')
    await page.getByRole('option', { name: /Lumen Optics/ }).click()
    await dialog.getByRole('button', { name: 'Create deal' }).click()
    await dialog.waitFor({ state: 'detached' })
    await column(page, 'new_lead').getByText('By hand').waitFor()
    const [made] = await board.api('GET', '/deals?search=by%20hand')
    assert.deepEqual([made.value, made.stage, made.probability], [1234.5, 'new_lead', 10])
    assert.equal((await board.dealOf(made.id)).company.name, 'Lumen Optics')
  })

  test('is changed in place: fields, stage with the reason of a loss; and its stages are shown', async (t) => {
    const { id } = await board.createDeal({ name: 'On its page', value: 10, stage: 'demo' })
    const page = await board.web.open(t, `/deals/${id}`)
    await page.getByRole('button', { name: 'Value: Edit €10' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('250')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Value: Edit €250' }).waitFor()
    assert.equal((await board.dealOf(id)).value, 250)
    await page.getByRole('button', { name: 'Negotiation' }).click()
    await toast(page, 'On its page moved to Negotiation').waitFor()
    assert.equal((await board.dealOf(id)).probability, 80)
    await page.getByRole('button', { name: 'Lost' }).click()
    const dialog = page.getByRole('dialog', { name: 'Lost' })
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
    // The name of a stage and the line below it begin at the same place.
    const lefts = await page.evaluate(`[...document.querySelectorAll('.stay')].map((stay) => {
      const range = new Range()
      range.selectNode(stay.querySelector('.stage-badge').lastChild)
      return Math.round(range.getBoundingClientRect().x - stay.querySelector('time').getBoundingClientRect().x)
    })`)
    assert.deepEqual(lefts, [0, 0, 0])
    await stays.first().getByText('from Negotiation').waitFor()
    await stays.first().getByText('by Olivia Owner').waitFor()
  })

  test('is moved twice at once, and each Undo takes it back to where it was before that move', async (t) => {
    const { id } = await board.createDeal({ name: 'Quick', stage: 'new_lead' })
    const page = await board.web.open(t, `/deals/${id}`)
    await settled(page)
    for (const name of ['Demo', 'Proposal']) {
      await page.getByRole('button', { name }).click()
      // It shows before the service answers.
      await page.locator('.steps [aria-current=step]').and(page.getByTitle(name)).waitFor()
    }
    const second = toast(page, 'Quick moved to Proposal')
    await second.getByRole('button', { name: 'Undo' }).click()
    await page.locator('.steps [aria-current=step]').and(page.getByTitle('Demo')).waitFor()
    await until(() => board.dealOf(id), { stage: 'demo' })
  })

  test('is deleted and taken back', async (t) => {
    const { id } = await board.createDeal({ name: 'Mistake' })
    const page = await board.web.open(t, `/deals/${id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete deal' }).click()
    await toast(page, 'Mistake deleted').getByRole('button', { name: 'Undo' }).click()
    await until(() => board.web.rapport.call('GET', `/api/v1/deals/${id}`), { status: 200 })
    await cardIn(page, 'new_lead', id).waitFor()
  })
})

test('who may only read can neither drag nor edit', async (t) => {
  const { url } = board.web.rapport
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...json, ...(cookie && { cookie }) },
      body: JSON.stringify(body),
    })
  const invited = await post(
    '/invitations',
    { email: 'rita@example.test', role: 'read_only' },
    board.web.cookie,
  )
  const { data } = (await invited.json()) as { data: { url_path: string } }
  const token = data.url_path.split('#')[1]
  const accepted = await post('/invitations/accept', {
    token,
    name: 'Rita Reader',
    password: 'only looking around',
  })
  assert.ok(accepted.ok)
  const page = await board.web.open(t, '/deals', { session: accepted.headers.get('set-cookie') })
  // The cards are drawn anew when the program for dragging comes. A key for an old card would be lost.
  const card = page.locator('[data-rfd-draggable-id] .card-link').first()
  await card.focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('m')
  await untilEqual(() => page.locator('.card-menu, [role=menu], [data-lifted]').count(), 0)
  await untilEqual(() => page.getByRole('button', { name: 'Create deal' }).count(), 0)
  await card.press('Enter')
  await page.waitForURL(/\/deals\/\d+$/)
  await page.getByRole('tab', { name: 'Timeline' }).waitFor()
  await untilEqual(() => page.locator('.field-button, .reference-edit').count(), 0)
  await untilEqual(() => page.getByRole('button', { name: 'Delete deal' }).count(), 0)
  await untilEqual(() => page.locator('.step:enabled').count(), 0)
})
