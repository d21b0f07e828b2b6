// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { before } from '../use.ts'
import { checkScreen, drawLate, untilEqual, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(async () => {
  const deal = { name: 'Lenses', value: 1200, stage: 'demo' }
  assert.equal((await web.rapport.call('POST', '/api/v1/deals', deal)).status, 201)
})

const heads = async (page: Page) =>
  (await page.locator('th[data-column]').allInnerTexts()).map((text) => text.trim())
const isOrder = (page: Page, ...names: string[]) =>
  until(
    () => heads(page),
    (found) => found.slice(0, names.length).join() === names.join(),
  )
const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

/** Takes a header by the mouse to a part of the width of another one. */
async function take(page: Page, from: Locator, to: Locator, part: number) {
  const [start, end] = [await from.boundingBox(), await to.boundingBox()]
  assert.ok(start && end)
  const y = start.y + start.height / 2
  await page.mouse.move(start.x + start.width / 2, y)
  await page.mouse.down()
  await page.mouse.move(end.x + end.width * part, y, { steps: 4 })
}

test('a header dragged by the mouse takes its column along, and a view keeps the order', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  const width = (await head(page, 'Stage').boundingBox())?.width
  await take(page, head(page, 'Value'), head(page, 'Company'), 0.2)
  await page.locator('th[data-drag=before]').waitFor()
  await page.mouse.up()
  await isOrder(page, 'Name', 'Value', 'Company', 'Stage')
  // A drag does not sort.
  assert.equal(parameter(page, 'sort'), null)
  const cells = await page.locator('tbody tr').first().locator('td[data-phone]').allInnerTexts()
  assert.match(cells[1] ?? '', /1,200/)
  assert.equal((await head(page, 'Stage').boundingBox())?.width, width)

  await page.getByRole('button', { name: 'Save as new view' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('Value first')
  await page.keyboard.press('Enter')
  const tabs = page.getByRole('navigation', { name: 'Views' })
  await tabs.getByRole('link', { name: 'Value first' }).waitFor()
  await page.evaluate('localStorage.clear()')
  await tabs.getByRole('link', { name: 'All' }).click()
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  await tabs.getByRole('link', { name: 'Value first' }).click()
  await isOrder(page, 'Name', 'Value', 'Company', 'Stage')
})

test('Escape puts a dragged column back, the name stays first, and a click still sorts', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  await take(page, head(page, 'Value'), head(page, 'Company'), 0.2)
  await page.locator('th[data-drag=before]').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('th[data-drag]').first().waitFor({ state: 'detached' })
  await page.mouse.up()
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  await take(page, head(page, 'Stage'), head(page, 'Name'), 0.1)
  await page.mouse.up()
  await isOrder(page, 'Name', 'Stage', 'Company', 'Value')
  await head(page, 'Value').getByRole('button').click()
  await until(async () => parameter(page, 'sort'), '-value')
})

test('the menu of columns moves a column by the keyboard, keeps the focus and says where it is', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  const menu = page.getByRole('dialog', { name: 'Columns' })
  const stage = menu.getByRole('checkbox', { name: 'Stage', exact: true })
  await stage.focus()
  await page.keyboard.press('Alt+ArrowDown')
  await isOrder(page, 'Name', 'Company', 'Value', 'Stage')
  await menu.getByText('Stage is now column 4 of 8').waitFor()
  await stage.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Alt+ArrowUp')
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  const up = menu.getByRole('button', { name: 'Move Stage up' })
  await up.focus()
  await page.keyboard.press('Enter')
  await isOrder(page, 'Name', 'Stage', 'Company')
  // It cannot go before the name, and the button keeps the focus.
  await page.keyboard.press('Enter')
  await up.and(page.locator(':focus')).waitFor()
  await isOrder(page, 'Name', 'Stage', 'Company')
})

const widthOf = async (page: Page, name: string) =>
  Math.round((await head(page, name).boundingBox())?.width ?? 0)
const edge = (page: Page, name: string) => page.getByRole('separator', { name: `Width of ${name}` })

test('the edge of a header dragged by the mouse sets the width of its column, which a view and this device keep', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  const usual = await widthOf(page, 'Stage')
  const others = async () => [await widthOf(page, 'Value'), await widthOf(page, 'Close date')]
  const before = await others()
  const grab = async (by: number) => {
    const box = await edge(page, 'Stage').boundingBox()
    assert.ok(box)
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + by, y, { steps: 4 })
  }
  await grab(64)
  await page.keyboard.press('Escape')
  await page.mouse.up()
  await untilEqual(() => widthOf(page, 'Stage'), usual)
  assert.equal(parameter(page, 'columns'), null)

  await grab(64)
  await untilEqual(() => widthOf(page, 'Stage'), usual + 64)
  await page.mouse.up()
  await until(
    async () => parameter(page, 'columns') ?? '',
    (columns) => columns.includes(`stage:${usual + 64}`),
  )
  assert.equal(await widthOf(page, 'Stage'), usual + 64)
  assert.deepEqual(await others(), before)
  // The order is as it was, and nothing is sorted.
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  assert.equal(parameter(page, 'sort'), null)

  await page.getByRole('button', { name: 'Save as new view' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('Wide stages')
  await page.keyboard.press('Enter')
  const tabs = page.getByRole('navigation', { name: 'Views' })
  await tabs.getByRole('link', { name: 'Wide stages' }).waitFor()
  await tabs.getByRole('link', { name: 'All' }).click()
  await untilEqual(() => widthOf(page, 'Stage'), usual + 64)
  await edge(page, 'Stage').dblclick()
  await untilEqual(() => widthOf(page, 'Stage'), usual)
  await tabs.getByRole('link', { name: 'Wide stages' }).click()
  await untilEqual(() => widthOf(page, 'Stage'), usual + 64)
  await checkScreen(page)
})

test('the arrow keys on the edge of a header set the width of its column, also of the one that grows, and Backspace restores it', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  for (const name of ['Company', 'Name']) {
    const usual = await widthOf(page, name)
    await edge(page, name).focus()
    for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowLeft')
    await untilEqual(() => widthOf(page, name), usual - 48)
    await page.keyboard.press('ArrowRight')
    await untilEqual(() => widthOf(page, name), usual - 32)
    await edge(page, name).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Backspace')
    await untilEqual(() => widthOf(page, name), usual)
  }
  // Moving and hiding columns keeps the widths of the others.
  await edge(page, 'Stage').focus()
  await page.keyboard.press('ArrowRight')
  const wider = await widthOf(page, 'Stage')
  await take(page, head(page, 'Value'), head(page, 'Company'), 0.2)
  await page.mouse.up()
  await isOrder(page, 'Name', 'Value', 'Company', 'Stage')
  assert.equal(await widthOf(page, 'Stage'), wider)
})

test('changes of the columns that come before the last one is drawn all count', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  const menu = page.getByRole('dialog', { name: 'Columns' })
  const stage = menu.getByRole('checkbox', { name: 'Stage', exact: true })
  await stage.focus()
  // In one task, so that nothing is drawn between them.
  await stage.evaluate((box) => {
    const { KeyboardEvent } = globalThis as unknown as {
      KeyboardEvent: new (type: string, init: object) => Event
    }
    const down = { key: 'ArrowDown', altKey: true, bubbles: true, cancelable: true }
    for (let n = 0; n < 2; n++) box.dispatchEvent(new KeyboardEvent('keydown', down))
  })
  await isOrder(page, 'Name', 'Company', 'Value', 'Close date', 'Stage')
  await stage.and(page.locator(':focus')).waitFor()
  await menu.evaluate((menu) => {
    const boxes = menu.querySelectorAll('label')
    for (const box of [...boxes].slice(0, 2)) box.click()
  })
  await isOrder(page, 'Name', 'Contact', 'Value', 'Close date', 'Stage')
})

test('a header that is dropped before its drag is drawn takes its column along', async (t) => {
  const page = await web.open(t, '/deals?view=table', { reusable: false })
  await head(page, 'Value').waitFor()
  await isOrder(page, 'Name', 'Company', 'Stage', 'Value')
  await drawLate(page)
  await take(page, head(page, 'Value'), head(page, 'Company'), 0.2)
  await page.mouse.up()
  await isOrder(page, 'Name', 'Value', 'Company', 'Stage')
})

test('a column that is switched on or off takes the focus to no arrow that was used before', async (t) => {
  const page = await web.open(t, '/deals?view=table')
  await head(page, 'Value').waitFor()
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  const menu = page.getByRole('dialog', { name: 'Columns' })
  const down = menu.getByRole('button', { name: 'Move Stage down' })
  await down.click()
  await isOrder(page, 'Name', 'Company', 'Value', 'Stage')
  await down.and(page.locator(':focus')).waitFor()
  await down.evaluate((down) => down.blur())
  await menu.getByRole('checkbox', { name: 'Company', exact: true }).evaluate((box) => box.click())
  await isOrder(page, 'Name', 'Value', 'Stage')
  await untilEqual(() => page.evaluate('document.activeElement === document.body'), true)
})
