// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browser, join } from '../people.ts'
import { before } from '../use.ts'
import { fillWorkspace } from '../web/records.ts'
import { untilEqual, useWeb } from '../web.ts'

const web = useWeb()
let ids: Awaited<ReturnType<typeof fillWorkspace>>
before(async () => {
  ids = await fillWorkspace(web.rapport)
})

for (const path of [
  '/contacts?company_id=abc&created_from=2026-99-99&created_to=x&sort=bogus&page=1.5',
  '/companies?sort=-nothing&created_from=0&page=-1',
  '/deals?view=table&contact_id=-1&sort=value,bogus',
  '/deals?company_id=NaN&sort=bogus',
  '/activities?show=all&contact_id=x&sort=name',
  '/booking-pages?sort=slug',
  '/settings/keys?page=-1',
  '/settings/members?page=1.5',
])
  test(`what ${path} says wrong is as if it were not there`, async (t) => {
    const page = await web.open(t, path)
    const rows = page.locator('tbody tr[data-row-id], .card-link')
    await rows.first().waitFor()
    await untilEqual(() => page.locator('.chip').count(), 0)
    await untilEqual(() => page.getByRole('button', { name: 'Clear filters' }).count(), 0)
    await untilEqual(() => page.getByRole('alert').count(), 0)
  })

for (const date of ['foo', '9999999-01-01', '9999-12-31', '0000-01-01', '2026-02-31', ''])
  test(`the calendar shows today where the address says ${date || 'nothing'}`, async (t) => {
    const page = await web.open(t, `/calendar?show=day&date=${date}`)
    const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Europe/Berlin' })
    await page.locator('.calendar-title').getByText(today.format(new Date())).waitFor()
  })

test('dialogs that create open for nobody who may not write', async (t) => {
  const owners = browser(web.rapport.url)
  owners.plant(web.cookie)
  for (const role of ['read_only', 'member'] as const) {
    const session = (await join(owners, web.rapport.url, role)).call.cookie()
    const page = await web.open(t, '/', { session, allow: /status of 403/ })
    const paths = ['/settings/webhooks', ...(role === 'member' ? [] : ['/activities', '/contacts', '/deals'])]
    for (const path of paths) {
      await page.goto(`${web.rapport.url}${path}?create=1`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle').catch(() => {})
      await untilEqual(() => page.getByRole('dialog').count(), 0, `${role} ${path}`)
    }
  }
})

test('what is to be copied is copied over plain http too; where nothing may copy, it is said and selected', async (t) => {
  const page = await web.open(t, null, { permissions: ['clipboard-read'], reusable: false })
  const address = `${web.rapport.url}/book/demo`
  await page.addInitScript(() => {
    Object.defineProperty(Object.getPrototypeOf((globalThis as any).navigator), 'clipboard', {
      value: undefined,
    })
  })
  await page.goto(`${web.rapport.url}/booking-pages`)
  await page.getByRole('button', { name: 'Copy address' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.goto(`${web.rapport.url}/contacts`)
  await page.getByRole('searchbox', { name: 'Search' }).focus()
  await page.keyboard.press('Control+V')
  await untilEqual(() => page.getByRole('searchbox', { name: 'Search' }).inputValue(), address)

  await page.addInitScript(() => {
    ;(globalThis as any).document.execCommand = () => false
  })
  await page.goto(`${web.rapport.url}/booking-pages/${ids.booking_page}`)
  await page.getByRole('button', { name: 'Copy address' }).click()
  await page.getByText('The browser does not allow copying here.').waitFor()
  assert.equal(await page.evaluate(() => String((globalThis as any).getSelection())), address)
})
