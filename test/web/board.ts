import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startWeb, type Web } from '../web.ts'
import { register } from '../webhooks.ts'
import { fillWorkspace } from './records.ts'

/** A service with deals in all stages, a receiver of won and lost deals, and functions for the tests of the board. */
export async function startBoard() {
  const web: Web = await startWeb()
  const receiver: Receiver = await startReceiver()
  await fillWorkspace(web.rapport)
  await register(web.rapport.call, { url: receiver.url, events: ['deal.won', 'deal.lost'] })
  const api = async (method: string, path: string, body?: object) => {
    return dataOf(await web.rapport.call(method, `/api/v1${path}`, body))
  }
  return {
    web,
    receiver,
    api,
    createDeal: (fields: object) => api('POST', '/deals', fields),
    dealOf: (id: number) => api('GET', `/deals/${id}`),
    /** The delivery of an event that arrived. */
    events: (name: string) =>
      receiver.received.map(({ body }) => JSON.parse(body)).filter(({ event }) => event === name),
    headsAreTheApis: (page: Page) => headsAre(page, () => api('GET', '/reports/pipeline')),
    async close() {
      await web.close()
      await receiver.close()
    },
  }
}
export type Board = Awaited<ReturnType<typeof startBoard>>

export const column = (page: Page, stage: string) => page.locator(`[data-stage=${stage}]`)
/** A card, when the cards can be dragged: the program for it comes after the first screen, and draws them anew. */
export const cardIn = (page: Page, stage: string, id: number) =>
  column(page, stage).locator(`[data-rfd-droppable-id] [data-deal="${id}"] .card-link`)
/** Holds the program for dragging back. Returns what lets it come. */
export async function holdDragging(page: Page): Promise<() => void> {
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route(/\/drag-parts-[^/]*\.js$/, async (route) => {
    await come
    await route.continue()
  })
  return letCome
}
export const toast = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text })

type Head = { stage: string; count: number; value: number }

/** The texts of the heads of the columns, read until they are those of the API. */
async function headsAre(page: Page, report: () => Promise<{ stages: Head[] }>): Promise<void> {
  const { stages } = await report()
  const money = (value: number) =>
    new Intl.NumberFormat('en-GB', {
      style: 'currency',
      currency: 'EUR',
      maximumFractionDigits: 0,
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

/** Drags a card with the mouse: to the edge of the board until the column is in view, then onto the column. */
export async function carry(page: Page, card: Locator, to: string): Promise<void> {
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
