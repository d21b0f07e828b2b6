// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { csvOf } from '../../web/src/reports/view.ts'
import { quick } from '../quick.ts'
import { before } from '../use.ts'
import {
  addFilter,
  checkScreen,
  desk,
  phone,
  pressTogether,
  settled,
  untilEqual,
  useWeb,
  visit,
} from '../web.ts'
import { until } from '../webhooks.ts'
import { fillReports, long_name } from './report-records.ts'

// As of all pages (docs/decisions/0023-web-app.md).
const budget_bytes = 200_000

const empty = useWeb()
const web = useWeb()
let german: string
before(async () => {
  german = await fillReports(web)
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
  const owners = await addFilter(page, 'Owner')
  await owners.getByRole('checkbox', { name: long_name }).check()
  await page.waitForURL(/owner_id=/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: `Owner is ${long_name}` }).waitFor()
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
  const first = await until(
    () => from.inputValue(),
    (value) => !value.includes('2020'),
  )
  // In the running year: from a day before it, the report may be too long.
  const summer = `${/\d{4}/.exec(first)?.[0]}-06-15`
  await from.fill(summer)
  await from.press('Enter')
  await page.waitForURL(new RegExp(`from=${summer}`))
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

test('a forecast names the months that it covers, has no empty row, and one meaning for the end of a row', async (t) => {
  const page = await web.open(t, '/reports?report=forecast')
  const rows = page.locator('.report-rows > li')
  await rows.first().waitFor()
  const named = (months: number) => {
    const now = new Date()
    const month = new Date(Date.UTC(now.getFullYear(), now.getMonth() + months, 1))
    return month.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  }
  const period = page.getByRole('combobox', { name: 'Period' })
  await untilEqual(() => period.inputValue(), `${named(-2)} – ${named(5)}`)
  // The number of open deals is in the words of a row, that of the won ones in its second link.
  for (const row of await rows.all()) {
    const text = (await row.textContent()) ?? ''
    const [, value, count] = /(–|€[\d.,]+)Expected .*? · ([\d,]+) deals?/.exec(text) ?? []
    assert.equal(value === '–', count === '0', text)
    assert.ok(count !== '0' || / won/.test(text), text)
  }
  await visit(page, '/reports?report=forecast&as=table')
  const table = page.getByRole('table', { name: 'Forecast' })
  await table.waitFor()
  for (const line of await table.getByRole('row').allInnerTexts()) assert.match(line, /\t\S/)
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
  // The sweep in German is on a phone, too.
  for (const [form, view] of Object.entries(quick ? { desk } : { desk, phone })) {
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
  // Scripts that a page loads when it is idle are not part of its first screen.
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
