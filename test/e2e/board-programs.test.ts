// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import { useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(async () => {
  await fillWorkspace(web.rapport)
})

/** A page of the contacts that loads nothing while it is idle. `asked` notes the paths of all later requests. */
async function openContacts(t: Parameters<typeof web.open>[0], session?: string) {
  const page = await web.open(t, null, { reusable: false, ...(session && { session }) })
  await page.addInitScript('window.requestIdleCallback = () => 0')
  await page.goto(`${web.rapport.url}/contacts`)
  await page.getByRole('button', { name: 'Create contact' }).first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  return { page, asked }
}

const deals = (page: Page) => page.getByRole('link', { name: 'Deals', exact: true })
/** Resolves when the program of a page has come. */
const loaded = (asked: string[], name: string) =>
  until(
    async () => asked,
    (paths) => paths.some((path) => path.startsWith(`/assets/${name}-`)),
  )

test('a link under the pointer loads the program of its page, and no data', async (t) => {
  const { page, asked } = await openContacts(t)
  await deals(page).hover()
  await loaded(asked, 'board-page')
  await page.getByRole('link', { name: 'Companies', exact: true }).hover()
  await loaded(asked, 'companies-page')
  await page.getByRole('link', { name: 'Reports', exact: true }).hover()
  await loaded(asked, 'reports-page')
  const reads = asked.filter((path) => path.startsWith('/api/'))
  assert.deepEqual(
    reads.filter((path) => !/^\/api\/v1\/(views|view-tabs)$/.test(path)),
    [],
  )
  await deals(page).click()
  await page.locator('.board .card-link').first().waitFor()
  assert.ok(asked.includes('/api/v1/deals'))
})

test('deals that open as a table do not load the board, nor does a link to them under the pointer', async (t) => {
  const session = await joinAs(web.rapport, 'table@example.test', 'member')
  const { page: settings } = await openContacts(t, session)
  const view = { list: 'deals', name: 'As a table', query: 'view=table', visibility: 'private' }
  await settings.evaluate(async (view) => {
    const send = async (method: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.json()) as { data: { id: string } }
    }
    const { data } = await send('POST', '/views', view)
    await send('PATCH', '/view-tabs/deals', { default_tab: data.id })
  }, view)
  const { page, asked } = await openContacts(t, session)
  await deals(page).hover()
  await loaded(asked, 'deals-table')
  await deals(page).click()
  await page.getByRole('table', { name: 'Deals' }).locator('tbody a').first().waitFor()
  assert.deepEqual(
    asked.filter((path) => path.includes('board-page')),
    [],
  )
})
