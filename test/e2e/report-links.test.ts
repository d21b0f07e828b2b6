// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { settled, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'
import { fillReports } from './report-records.ts'

const web = useWeb()
before(() => fillReports(web))

type Drawn = {
  getBoundingClientRect(): Record<'top' | 'right' | 'height', number>
}

type Linked = { text: string; path: string; said: string }

/** The figures that are links, with their addresses: those above the report, and in its table or chart. */
const linksOf = (page: Page): Promise<Linked[]> =>
  page.locator('.report-table td a, .report-figure a, .report-rows a').evaluateAll((links) =>
    (
      links as unknown as {
        innerText: string
        pathname: string
        search: string
        ariaLabel: string | null
        querySelector(selector: string): { firstChild: { textContent: string } | null } | null
      }[]
    ).map((link) => ({
      // A row of a chart has its name and what hover shows, too.
      text: link.querySelector('.report-value')?.firstChild?.textContent ?? link.innerText,
      path: link.pathname + link.search,
      said: link.ariaLabel ?? link.querySelector('.report-name')?.firstChild?.textContent ?? '',
    })),
  )
const totalOf = async (page: Page) => Number(await page.locator('.page-title .numbers').innerText())

/** The number in a text such as €16,851 or €16.9k won. */
function numberIn(text: string): number {
  const [, digits = '', unit = ''] = /([\d.,]+)(k|m|bn)?/i.exec(text) ?? []
  return Number(digits.replaceAll(',', '')) * { '': 1, k: 1e3, m: 1e6, bn: 1e9 }[unit.toLowerCase() as 'k']
}

/** The sums of the values of the shown deals, and of their values times their probabilities. */
async function sumsOf(page: Page) {
  const table = page.getByRole('table', { name: 'Deals' })
  const [names = [], ...rows] = await table
    .getByRole('row')
    .evaluateAll((rows) =>
      (rows as unknown as { cells: Iterable<{ innerText: string }> }[]).map(({ cells }) =>
        Array.from(cells, ({ innerText }) => innerText.trim()),
      ),
    )
  const [value, probability] = ['Value', 'Probability'].map((name) =>
    names.findIndex((one) => one.startsWith(name)),
  )
  assert.ok(value !== undefined && value > 0 && probability !== undefined && probability > 0, names.join())
  const values = rows.map((cells) => numberIn(cells[value] || '0'))
  const weights = rows.map(
    (cells, index) => ((values[index] ?? 0) * numberIn(cells[probability] ?? '')) / 100,
  )
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)
  return { rows: rows.length, value: sum(values), weighted: sum(weights) }
}

/** Visits the list of a figure, and compares its records with the figure. */
async function follow(page: Page, { text, path, said }: Linked) {
  // The usual columns have no probability.
  await visit(page, text.startsWith('€') ? `${path}&columns=value%2Cprobability` : path)
  await settled(page)
  const wrong = (found: unknown) => `${said} at ${path}: ${JSON.stringify(found)}`
  if (/^[\d,]+( done| open)?$/.test(text))
    return until(
      () => totalOf(page),
      (total) => total === numberIn(text),
    ).catch((error) => assert.fail(wrong(String(error))))
  assert.match(text, /^€[\d.,]+(k|m|bn)?( won)?$/i, said)
  const amount = numberIn(text)
  // Short amounts have at least two digits.
  const close = /won$/.test(text) ? 0.05 * amount : 1
  const found = await until(
    async () => ({ total: await totalOf(page), ...(await sumsOf(page)) }),
    ({ total, rows }) => total === rows,
  )
  const sum = /Weighted/.test(said) ? found.weighted : found.value
  assert.ok(found.total > 0 && Math.abs(sum - amount) <= close, wrong(found))
}

const followed = new Set<string>()
for (const [path, least] of [
  ['/reports?as=table', 15],
  ['/reports', 10],
  ['/reports?as=table&period=this_year&owner_id=null', 10],
  ['/reports?as=table&report=forecast', 15],
  ['/reports?report=forecast', 8],
  ['/reports?as=table&report=forecast&by=owner', 10],
  ['/reports?report=forecast&by=owner', 6],
  ['/reports?as=table&report=people', 8],
  ['/reports?report=people', 4],
  ['/reports?as=table&report=people&owner_id=me%2Cnull', 3],
] as const)
  test(`every figure of a report is a link to the records that it counts or sums up: ${path}`, async (t) => {
    const page = await web.open(t, path)
    await settled(page)
    await page.locator('.report-table, .report-rows').first().waitFor()
    const links = await linksOf(page)
    assert.ok(links.length >= least, `${path}: ${links.length}`)
    for (const link of links) {
      const key = JSON.stringify([link.path, link.text, /Weighted/.test(link.said)])
      if (!followed.has(key)) await follow(page, link)
      followed.add(key)
    }
  })

test('the reports have links to more than 60 different lists and sums', () => {
  assert.ok(followed.size > 60, String(followed.size))
})

test('hover and focus show the values of a row, Enter opens its records, and a click on a part those of the part', async (t) => {
  const page = await web.open(t, '/reports')
  const row = page.getByRole('link', { name: /^Demo \d+/ })
  const tip = page.locator('.report-tip')
  await row.focus()
  await tip.getByText('Lost here').waitFor()
  await page.keyboard.press('Escape')
  await tip.waitFor({ state: 'detached' })
  await row.hover()
  await tip.getByText('Came further').waitFor()
  const reached = Number(/Reached (\d+)/.exec((await row.textContent()) ?? '')?.[1])

  await row.press('Enter')
  await page.waitForURL(/furthest_stage=demo%2Cproposal/)
  await settled(page)
  await until(
    () => totalOf(page),
    (total) => total === reached,
  )
  await page.goBack()
  // The last part of the first row is a lost deal.
  const lost = page.getByRole('link', { name: /^Demo \d+/ })
  await lost.waitFor()
  // The parts are drawn when the width of the chart is measured, which is after its links.
  const bar = await until(
    () =>
      page.locator('.report-bars rect.report-part').evaluateAll((parts) => {
        const boxes = (parts as unknown as Drawn[]).map((part) => part.getBoundingClientRect())
        // The third row.
        const top = [...new Set(boxes.map(({ top }) => Math.round(top)))].sort((a, b) => a - b)[2] ?? 0
        const last = boxes.filter((box) => Math.abs(box.top - top) < 3).sort((a, b) => b.right - a.right)[0]
        return last && { x: last.right - 3, y: last.top + last.height / 2 }
      }),
    (found) => found !== undefined,
  )
  await page.mouse.click(bar?.x ?? 0, bar?.y ?? 0)
  await page.waitForURL(/furthest_stage=demo&status=lost/)
})
