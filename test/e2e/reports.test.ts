// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { csvOf } from '../../web/src/reports/view.ts'
import { before } from '../use.ts'
import {
  checkScreen,
  desk,
  phone,
  pressTogether,
  settled,
  untilEqual,
  useWeb,
  visit,
  type Web,
} from '../web.ts'
import { joinAs } from '../web-people.ts'
import { fillWorkspace } from '../web-records.ts'
import { until } from '../webhooks.ts'

// As of all pages (docs/decisions/0023-web-app.md).
const budget_bytes = 200_000
const long_name = 'Maximiliane-Alexandra von Hohenlohe-Waldenburg-Schillingsfürst'

const empty = useWeb()
const web = useWeb()
let german: string
before(async () => {
  await fillWorkspace(web.rapport)
  german = await joinAs(web.rapport, 'gerda@example.test', 'member', { language: 'de', name: long_name })
  await fillReports(web)
})

const day = (from_now: number) => new Date(Date.now() + from_now * 86_400_000).toISOString().slice(0, 10)

/** Deals with four decimals that skip stages, go back, are overdue or undated, and activities of two people. */
async function fillReports({ rapport: { call } }: Web) {
  const sent = async (path: string, body: object) => {
    const { status, body: answer } = await call('POST', `/api/v1${path}`, body)
    assert.ok(status < 300, JSON.stringify(answer))
    return answer.data
  }
  const { data: members } = (await call('GET', '/api/v1/members')).body
  const gerda = members.find(({ name }: { name: string }) => name === long_name).id
  const move = (id: number, stage: string, reason = '=Preis, zu hoch') =>
    sent(`/deals/${id}/change-stage`, { stage, lost_reason: stage === 'lost' ? reason : null })
  // The weights of these are less than the last decimal, so sums of rounded weights would be wrong.
  for (const expected_close_date of [day(-20), day(400), null]) {
    const fields = { value: 0.0003, probability: 10, owner_id: gerda, expected_close_date }
    await sent('/deals', { name: 'Muster, je Stück', ...fields })
  }
  // A reason that is the text null is not a lost deal without a reason.
  for (const name of ['Import eins', 'Import zwei'])
    await move((await sent('/deals', { name, stage: 'demo' })).id, 'lost', 'null')
  await sent('/deals', { name: 'Import drei', stage: 'lost' })
  for (const [index, stage] of [
    'new_lead',
    'demo',
    'proposal',
    'verbal_commitment',
    'negotiation',
  ].entries()) {
    const { id } = await sent('/deals', {
      name: `Erneuerung ${index} der Rahmenverträge mit Größe & Söhne`,
      value: 753_505.2402 + index,
      stage,
      owner_id: gerda,
      expected_close_date: [day(-20), day(3), null, day(400), day(40)][index],
    })
    if (index === 1) await move(id, 'lost')
    if (index === 3) await move(id, 'demo')
    if (index === 4) await move(id, 'won')
  }
  for (const [type, hours_ago, done] of [
    ['call', 1, true],
    ['call', 1, false],
    ['meeting', 0, true],
    ['email', 1, false],
  ] as const) {
    // In this year, also on its first days.
    const due_at = new Date(Date.now() - hours_ago * 3_600_000).toISOString()
    const { id } = await sent('/activities', {
      subject: 'Rückruf zum Angebot',
      type,
      due_at,
      owner_id: gerda,
    })
    if (done) await sent(`/activities/${id}/complete`, { outcome: 'Will den Vertrag' })
  }
}

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
  const bar = await page.locator('.report-bars rect.report-part').evaluateAll((parts) => {
    const boxes = (parts as unknown as Drawn[]).map((part) => part.getBoundingClientRect())
    // The third row.
    const top = [...new Set(boxes.map(({ top }) => Math.round(top)))].sort((a, b) => a - b)[2] ?? 0
    const last = boxes.filter((box) => Math.abs(box.top - top) < 3).sort((a, b) => b.right - a.right)[0]
    return last && { x: last.right - 3, y: last.top + last.height / 2 }
  })
  assert.ok(bar)
  await page.mouse.click(bar.x, bar.y)
  await page.waitForURL(/furthest_stage=demo&status=lost/)
})

test('the address holds the report, its period, its owner and its form, and Back returns to the one before', async (t) => {
  const page = await web.open(t, '/')
  await page.locator('.home-number').first().waitFor()
  await pressTogether(page, 'g', 'r')
  await page.waitForURL(/\/reports$/)
  await page.getByText('Activity by person', { exact: true }).click()
  await page.waitForURL(/report=people/)
  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: 'This year' }).click()
  await page.waitForURL(/period=this_year/)
  await page.getByRole('combobox', { name: 'Owner' }).click()
  await page.getByRole('option', { name: long_name }).click()
  await page.waitForURL(/owner_id=/)
  await page.getByText('Table', { exact: true }).click()
  await page.waitForURL(/as=table/)
  await page.reload()
  const table = page.getByRole('table', { name: 'Activity by person' })
  const calls = table.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Call', exact: true }) })
  await calls.waitFor()
  await untilEqual(() => calls.innerText(), `${long_name}\tCall\t1\t1\t1`)
  await untilEqual(() => table.getByRole('row').count(), 5)
  await page.goBack()
  await page.waitForURL((url) => !url.search.includes('owner_id'))

  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: 'From … to …' }).click()
  const from = page.getByLabel('From', { exact: true })
  await from.fill('2020-02-30'.replace('30', '29'))
  await from.press('Enter')
  // Longer than the report may be: the day goes back.
  await until(
    () => from.inputValue(),
    (value) => !value.startsWith('2020'),
  )
  await from.fill(day(-10))
  await from.press('Enter')
  await page.waitForURL(new RegExp(`from=${day(-10)}`))
})

test('the CSV file has the table, with plain numbers and no formula', async (t) => {
  const page = await web.open(t, '/reports?report=forecast&by=owner&as=table')
  const table = page.getByRole('table', { name: 'Forecast' })
  await table.getByRole('rowheader', { name: long_name }).waitFor()
  const waits = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await waits
  assert.equal(file.suggestedFilename(), 'forecast-by-owner.csv')
  const lines = readFileSync(await file.path(), 'utf8')
    .replace('\uFEFF', '')
    .trimEnd()
    .split('\r\n')
  assert.deepEqual(lines[0]?.split(','), await table.getByRole('columnheader').allInnerTexts())
  assert.equal(lines.length, await table.getByRole('row').count())
  assert.match(lines.find((line) => line.startsWith(long_name)) ?? '', /,753505\.2405,/)
  const { data: members } = (await web.rapport.call('GET', '/api/v1/members')).body
  const gerda = members.find(({ name }: { name: string }) => name === long_name).id
  const weighted_at = lines[0]?.split(',').indexOf('Weighted') ?? -1
  for (const [name, owner] of [
    [long_name, `?owner_id=${gerda}`],
    ['Nobody', '?owner_id=null'],
    ['Total', ''],
  ] as const) {
    const { total_open } = (await web.rapport.call('GET', `/api/v1/reports/pipeline${owner}`)).body.data
    const line = lines.find((line) => line.startsWith(`${name},`))
    assert.equal(Number(line?.split(',')[weighted_at]), total_open.weighted_value, name)
  }
  assert.equal(
    csvOf({
      columns: [{ label: 'Reason' }, { label: 'Deals' }],
      rows: [
        {
          key: '1',
          cells: [
            { shown: '', plain: '=1+1,"x"' },
            { shown: '', plain: -2 },
          ],
        },
      ],
    }),
    'Reason,Deals\r\n"\'=1+1,""x""",-2\r\n',
  )
})

test('an empty workspace says in each report what to do', async (t) => {
  const page = await empty.open(t, '/reports')
  for (const [report, text] of [
    ['funnel', /No deals were created/],
    ['forecast', /No open deals/],
    ['people', /Nobody has activities/],
  ] as const) {
    await visit(page, `/reports?report=${report}`)
    await page.getByText(text).waitFor()
    await untilEqual(() => page.getByRole('button', { name: 'Download CSV' }).isDisabled(), true)
  }
  await checkScreen(page)
})

test('a report that cannot be read says so in its place, and Try again reads it', async (t) => {
  const page = await web.open(t, '/', { allow: /status of 50[03]|ERR_FAILED/ })
  await page.route('**/api/v1/reports/forecast?*', (route) => route.fulfill({ status: 500, body: '{}' }))
  await visit(page, '/reports?report=forecast')
  const note = page.locator('.report').getByRole('alert')
  await note.waitFor()
  await checkScreen(page)
  await untilEqual(() => page.getByRole('button', { name: 'Download CSV' }).isDisabled(), true)
  await page.unroute('**/api/v1/reports/forecast?*')
  await note.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.report-chart').waitFor()
  await note.waitFor({ state: 'detached' })
})

test('every report can be used by everybody, on a desk and a phone, in German and in forced colours', async (t) => {
  const shots = process.env.SCREENSHOTS
  const paths = [
    '',
    '?as=table',
    '?report=forecast',
    '?report=forecast&by=owner',
    '?report=forecast&by=owner&as=table',
    '?report=people',
    '?report=people&as=table',
  ]
  for (const [form, view] of Object.entries({ desk, phone })) {
    const page = await web.open(t, '/reports', view)
    for (const [index, path] of paths.entries()) {
      await visit(page, `/reports${path}`)
      await page.locator('.report-chart, .report-table').first().waitFor()
      await settled(page)
      await checkScreen(page, async (scheme) => {
        if (shots) await page.screenshot({ path: `${shots}/${form}-${index}-${scheme}.png`, fullPage: true })
      })
    }
  }
  const page = await web.open(t, '/reports', {
    ...phone,
    session: german,
    locale: 'de-DE',
    forcedColors: 'active',
  })
  for (const [index, path] of paths.entries()) {
    await visit(page, `/reports${path}`)
    await page.locator('.report-chart, .report-table').first().waitFor()
    await settled(page)
    if (shots) await page.screenshot({ path: `${shots}/de-${index}.png`, fullPage: true })
    await checkScreen(page)
    // Names of people may be longer than two lines.
    if (path) continue
    const cut = await page
      .locator('.report-name')
      .evaluateAll((names) =>
        names
          .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)
          .map((one) => one.textContent),
      )
    assert.deepEqual(cut, [])
  }
})

test(`a cold start shows the figures after at most ${budget_bytes / 1000} KB of scripts, and the chart after 15 KB more`, async (t) => {
  const page = await web.open(t, '/reports', { reusable: false })
  await page.locator('.report-chart').waitFor()
  // What an idle page loads is not part of its first screen.
  await page.addInitScript('window.requestIdleCallback = () => 0')
  const sizes: Promise<{ name: string; bytes: number }>[] = []
  page.on('requestfinished', (request) => {
    const name = new URL(request.url()).pathname
    if (name.endsWith('.js'))
      sizes.push(request.sizes().then(({ responseBodySize: bytes }) => ({ name, bytes })))
  })
  // Nothing is kept of the page before.
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.goto(`${web.rapport.url}/reports`)
  await page.locator('.report-chart').waitFor()
  await page.waitForLoadState('networkidle')
  const loaded = await Promise.all(sizes)
  // No other page's program is loaded.
  assert.deepEqual(
    loaded.flatMap(({ name }) => /\/([a-z]+-page)-/.exec(name)?.[1] ?? []),
    ['reports-page'],
  )
  const sumOf = (files: typeof loaded) => files.reduce((before, { bytes }) => before + bytes, 0)
  const late = sumOf(loaded.filter(({ name }) => /\/chart-/.test(name)))
  const first = sumOf(loaded) - late
  t.diagnostic(
    `${Math.round(first / 1000)} KB, then ${Math.round(late / 1000)} KB, in ${loaded.length} files`,
  )
  // A file from a cache has no transfer size.
  assert.ok(loaded.length > 1 && loaded.every(({ bytes }) => bytes > 0), JSON.stringify(loaded))
  assert.ok(first <= budget_bytes, `${first} bytes: ${JSON.stringify(loaded)}`)
  assert.ok(late > 0 && late <= 15_000, `${late} bytes: ${JSON.stringify(loaded)}`)
})
