// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { csvRow } from '../../src/files/csv.ts'
import { parseCsv } from '../../web/src/imports/csv.ts'
import { checkScreen, heading, untilEqual, useWeb } from '../web.ts'

const web = useWeb()

const amounts = [
  '12500.5',
  '€1.250,50',
  '1\u00a0250,50',
  'CHF 1’250.50',
  '12,34,567.50',
  '980',
  '12.500,00 EUR',
  '',
]
const days = ['2027-05-31', '31.12.2026', '31/12/2026', '05/06/2027', '3 Mar 2027', '']
const things = ['Straßenlaternen', 'Chaises pliées', 'Señales de tráfico', 'Żarówki', 'Lamps; "large", 3 m']
const people = ['Zoë Ångström', 'Jürgen Groß', 'Łucja Wójcik', '']
const firms = ['Müller & Söhne GmbH', 'Café Lagos', 'ACME, Inc.', '']
const at = <T>(list: readonly T[], n: number): T => list[n % list.length] as T
const rows = 300

/** An export of 300 deals with the columns of a fixture, whose row 8 has an amount with two readings. */
function exportOf(fixture: string, cellsOf: (n: number) => Record<string, string>): Buffer {
  const path = new URL(`../fixtures/imports/${fixture}.csv`, import.meta.url)
  const [headers = []] = parseCsv(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  const lines = Array.from({ length: rows }, (_, n) => {
    const cells = cellsOf(n)
    for (const header of Object.keys(cells)) assert.ok(headers.includes(header), header)
    return csvRow(headers.map((header) => cells[header] ?? ''))
  })
  return Buffer.from(csvRow(headers) + lines.join(''))
}
const amountOf = (n: number) => (n === 6 ? '1.234' : at(amounts, n))

const programs = [
  {
    name: 'Pipedrive',
    buffer: exportOf('pipedrive-deals', (n) => ({
      'Deal - ID': String(n),
      'Deal - Title': `${at(things, n)} ${n}`,
      'Deal - Owner': 'Inés Duarte',
      'Deal - Value': amountOf(n),
      'Deal - Currency of Value': at(['EUR', 'CHF', 'INR'], n),
      'Deal - Organization': at(firms, n),
      'Deal - Contact person': at(people, n),
      'Deal - Stage': at(['Lead In', 'Demo Scheduled', 'Our own stage'], n),
      'Deal - Status': at(['Open', 'Open', 'Won', 'Lost'], n),
      'Deal - Won time': n % 4 === 2 ? '2024-05-13 14:30:00' : '',
      'Deal - Lost time': n % 4 === 3 ? '2025-12-31 23:59:59' : '',
      'Deal - Lost reason': n % 4 === 3 ? 'Zu teuer' : '',
      'Deal - Label': at(['Heiß, Messe', 'froid', ''], n),
      'Deal - Expected close date': at(days, n),
    })),
  },
  {
    name: 'HubSpot',
    buffer: exportOf('hubspot-deals', (n) => ({
      'Record ID': String(n),
      'Deal Name': `${at(things, n)} ${n}`,
      'Deal Stage': at(['Appointment Scheduled', 'Closed Won (Sales Pipeline)', 'Contract Sent', 'Ours'], n),
      'Close Date': n % 4 === 1 ? '2024-05-13 14:30' : at(days, n),
      'Deal owner': 'Inés Duarte',
      Amount: amountOf(n),
      Currency: at(['EUR', 'CHF', 'INR'], n),
      'Deal probability': at(['0.2', '1', '0.8', ''], n),
      'Associated Company (Primary)': at(firms, n),
      'Associated Contact': at(people, n),
      Priority: at(['High', 'low', ''], n),
    })),
  },
]

for (const { name, buffer } of programs)
  test(`300 messy deals of ${name} get from the file to the board in at most 8 clicks, and the page names each value that it left out`, async (t) => {
    const page = await web.open(t, '/deals')
    const before = (await web.rapport.call('GET', '/api/v1/deals')).body.meta.total
    let clicks = 0
    const click = async (target: Locator) => {
      await target.click()
      clicks++
    }
    await click(page.getByRole('button', { name: 'More actions' }))
    await click(page.getByRole('menuitem', { name: 'Import deals' }))
    const choosing = page.waitForEvent('filechooser')
    await click(page.getByRole('button', { name: /Drop a file here/ }))
    await (await choosing).setFiles({ name: `${name}.csv`, mimeType: 'text/csv', buffer })
    await page.getByText(/^Recognised by the columns /).waitFor()
    await untilEqual(() => page.getByRole('combobox', { name: 'Written by' }).inputValue(), name)
    await click(page.getByRole('checkbox', { name: 'Make custom fields of the other columns' }))
    await page.locator('input[value^="Custom field"]').first().waitFor()
    await click(page.getByRole('button', { name: 'Start import' }))
    await heading(page, `${name}.csv`)
    await page.getByRole('status').getByText('Done', { exact: true }).waitFor()

    const sentence = page.getByText(/values: .* stored as they are/)
    const numbers = (await sentence.innerText()).match(/\d[\d,]*/g) ?? []
    const [all = 0, , , left_out = 0] = numbers.map((number) => Number(number.replaceAll(',', '')))
    const filled = parseCsv(buffer.toString())
      .slice(1)
      .flat()
      .filter((cell) => cell !== '').length
    assert.equal(all, filled)
    assert.ok(left_out <= 0.02 * all, `${left_out} of ${all}`)
    const account = page.getByRole('table', { name: 'What became of the values' }).getByRole('row')
    const reasons = (await account.allInnerTexts()).slice(1).map((row) => row.split('\t').at(-1) ?? '')
    const named = reasons.flatMap((text) => text.match(/\d+(?= )/g) ?? []).map(Number)
    assert.equal(
      named.reduce((sum, n) => sum + n, 0),
      left_out,
    )
    // The amount of row 8 has two readings.
    const errors = page.getByRole('table', { name: 'Errors' })
    await errors.getByText('The value can be read in two ways.').first().waitFor()

    await click(page.getByRole('link', { name: 'Show deals' }))
    await page
      .getByText(/^Straßenlaternen \d+$/)
      .first()
      .waitFor()
    assert.ok(clicks <= 8, `${clicks} clicks`)
    t.diagnostic(`${clicks} clicks, ${left_out} of ${all} values left out`)
    assert.equal((await web.rapport.call('GET', '/api/v1/deals')).body.meta.total, before + rows - 1)
  })

test('300 messy contacts are checked, one of their cells is mended on the page, and the import has the numbers of the check', async (t) => {
  const call = (method: string, path: string, body?: object) =>
    web.rapport.call(method, `/api/v1${path}`, body)
  await call('POST', '/custom-fields', { resource: 'contacts', key: 'since', label: 'Since', type: 'date' })
  await call('POST', '/contacts', { first_name: 'Old', last_name: 'Person', email: 'person0@messy.example' })
  const lines = Array.from({ length: rows }, (_, n) => {
    // Each person of the first rows comes back behind the parts that a check takes back.
    const email = n === 8 ? 'nobody at messy' : `Person${n % 280}@messy.example`
    return csvRow([
      `${at(people, n) || 'Bo Li'} ${n}`,
      email,
      at(firms, n),
      n === 20 ? 'soon' : '31.12.2020',
      // The row of the wrong address has an empty last cell.
      n === 8 ? '' : 'x',
    ])
  })
  const buffer = Buffer.from(csvRow(['Name', 'E-mail', 'Company', 'Since', 'Shoe size']) + lines.join(''))

  const page = await web.open(t, '/contacts')
  let clicks = 0
  const click = async (target: Locator) => {
    await target.click()
    clicks++
  }
  const numbers = async () => {
    const of = (labels: RegExp) =>
      page.locator('.import-counts > div').filter({ hasText: labels }).locator('dd')
    return Promise.all(
      [/created/i, /changed/i, /skipped/i, /^With errors/].map((labels) => of(labels).innerText()),
    )
  }
  await click(page.getByRole('button', { name: 'More actions' }))
  await click(page.getByRole('menuitem', { name: 'Import contacts' }))
  const choosing = page.waitForEvent('filechooser')
  await click(page.getByRole('button', { name: /Drop a file here/ }))
  await (await choosing).setFiles({ name: 'messy.csv', mimeType: 'text/csv', buffer })
  await page.getByText('5 columns: 3 for fields, 1 for custom fields, 1 left out.').waitFor()
  await page.getByText('Left out: Shoe size').waitFor()
  await page.getByText(/of the first 300 rows name a record that exists\./).waitFor()
  await untilEqual(() => page.getByRole('radio', { name: 'Change it' }).isChecked(), true)
  await click(page.getByRole('checkbox', { name: /^Import a row without the cells/ }))
  await click(page.getByRole('button', { name: 'Check without writing' }))
  await page.getByText('The check wrote nothing.').waitFor()
  await page.getByText(/values: .* would be stored as they are/).waitFor()
  assert.deepEqual(await numbers(), ['279', '20', '0', '1'])
  const cell = page.getByRole('textbox', { name: 'E-mail, row 10' })
  await untilEqual(() => cell.inputValue(), 'nobody at messy')
  assert.equal(await page.getByRole('textbox', { name: 'Since, row 22' }).inputValue(), 'soon')
  await checkScreen(page)
  await cell.fill('person8@messy.example')
  clicks++
  await page.getByText('1 mended cell is sent with the file.').waitFor()
  await click(page.getByRole('button', { name: 'Start import' }))
  await heading(page, 'messy.csv')
  await page.getByRole('status').getByText('Done', { exact: true }).waitFor()
  assert.deepEqual(await numbers(), ['279', '21', '0', '0'])
  await page.getByRole('table', { name: 'Errors' }).getByText('soon', { exact: true }).waitFor()
  const sentence = await page.getByText(/values: .* stored as they are/).innerText()
  const [all = 0, , , left_out = 0] = (sentence.match(/\d[\d,]*/g) ?? []).map((one) =>
    Number(one.replaceAll(',', '')),
  )
  // The shoe sizes are left out by choice.
  assert.ok(left_out - rows <= 0.02 * all, `${left_out} of ${all}`)
  assert.ok(clicks <= 8, `${clicks} clicks`)
  t.diagnostic(`${clicks} clicks, ${left_out - rows} of ${all} values left out`)
})
