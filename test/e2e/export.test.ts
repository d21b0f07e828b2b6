// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { exportQuery } from '../../web/src/record/list/export-query.ts'
import { before } from '../use.ts'
import { fillWorkspace } from '../web/records.ts'
import { checkScreen, useWeb } from '../web.ts'

const web = useWeb()
before(async () => {
  await fillWorkspace(web.rapport)
})

/** Runs what starts a download; answers its name and its bytes. */
async function downloaded(page: Page, start: () => Promise<unknown>) {
  const waiting = page.waitForEvent('download')
  await start()
  const download = await waiting
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

test('a list is exported with its filters and its order, and the number of rows is shown before', async (t) => {
  const page = await web.open(t, '/contacts?stage=lead&sort=-last_name')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Export contacts' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export contacts' })
  await dialog.getByText('5 rows').waitFor()
  await dialog.getByText('The list as it is shown now, with its filters and its order.').waitFor()
  await checkScreen(page)
  const { name, bytes } = await downloaded(page, () =>
    dialog.getByRole('button', { name: 'Download' }).click(),
  )
  assert.equal(name, 'contacts.csv')
  const rows = bytes.toString().trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    rows.map((row) => row.split(',')[2]),
    ['Rossi', 'Lovelace', 'Johnson', 'Haddad', 'Ångström'],
  )
  await dialog.waitFor({ state: 'detached' })
})

test('a list is exported by keyboard', async (t) => {
  const page = await web.open(t, '/companies')
  await page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('export comp')
  await page.getByRole('option', { name: 'Export companies' }).waitFor()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Export companies' })
  await dialog.getByText('5 rows').waitFor()
  await dialog.getByText('The whole list, in its present order.').waitFor()
  await page.keyboard.press('ArrowDown')
  const { name, bytes } = await downloaded(page, () => page.keyboard.press('Enter'))
  assert.equal(name, 'companies.ndjson')
  assert.equal(bytes.toString().trimEnd().split('\n').length, 5)
})

test('every other list has an export, too', async (t) => {
  for (const [path, what, rows] of [
    ['/deals', 'deals', 12],
    ['/deals?view=table&status=won', 'deals', 2],
    ['/activities?show=all', 'activities', 4],
  ] as const) {
    const page = await web.open(t, path)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: `Export ${what}` }).click()
    await page.getByRole('dialog').getByText(`${rows} rows`).waitFor()
  }
  const page = await web.open(t, '/calendar')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Export appointments' }).click()
  await page
    .getByRole('dialog')
    // At the end of a week, it has one.
    .getByText(/^\d rows?$/)
    .waitFor()
})

test('a refused export says why, and the dialog stays', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 503/ })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Export contacts' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export contacts' })
  await dialog.getByText('14 rows').waitFor()
  await page.route('**/contacts/export?*', (route) => route.fulfill({ status: 503 }))
  await page.route('**/contacts/export', (route) => route.fulfill({ status: 503 }))
  await dialog.getByRole('button', { name: 'Download' }).click()
  await dialog.getByText('Too many exports are running. Try again when one has ended.').waitFor()
})

test('the whole workspace is one archive', async (t) => {
  const page = await web.open(t, '/settings/workspace')
  const { name, bytes } = await downloaded(page, () =>
    page.getByRole('button', { name: 'Export everything' }).click(),
  )
  assert.match(name, /^workspace-[\d-]+\.tar\.gz$/)
  assert.deepEqual([...bytes.subarray(0, 2)], [0x1f, 0x8b])
})

test('the page of a list is not part of its export', () => {
  const query = {
    search: 'a',
    sort: '-id',
    page: 3,
    per_page: 50,
    details: 'true',
    custom_fields: { region: 'EMEA' },
  }
  assert.deepEqual(exportQuery(query), { search: 'a', sort: '-id', custom_fields: { region: 'EMEA' } })
  assert.deepEqual(exportQuery({ sort: '' }), {})
})
