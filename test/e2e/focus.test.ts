// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { before } from '../use.ts'
import { fillWorkspace } from '../web/records.ts'
import { untilEqual, useWeb, visit } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
before(() => fillWorkspace(web.rapport))

/** The focused element: its tag, and the id of its row or its own id. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = (globalThis as any).document.activeElement
    return [at.tagName, at.closest('[data-row-id]')?.dataset.rowId ?? at.id].filter(Boolean).join(' ')
  })
/** Waits until what has the focus is that. */
const waitForFocus = (page: Page, expected: string) =>
  page
    .waitForFunction((text: string) => {
      const at = (globalThis as any).document.activeElement
      return (
        [at.tagName, at.closest('[data-row-id]')?.dataset.rowId ?? at.id].filter(Boolean).join(' ') === text
      )
    }, expected)
    .catch(async () => assert.equal(await focused(page), expected))

test('the change of a note outlives another tab, and the focus stays beside what is closed or deleted', async (t) => {
  const id = await web.create('/contacts', {
    first_name: 'Nora',
    last_name: 'Noted',
    custom_fields: { size: 4 },
  })
  for (const body of ['Older', 'Newer']) await web.create(`/contacts/${id}/notes`, { body })
  const page = await web.open(t, `/contacts/${id}?tab=notes`)
  const name = (expected: string) =>
    page.waitForFunction(
      (text: string) => (globalThis as any).document.activeElement?.ariaLabel === text,
      expected,
    )
  await page.getByRole('button', { name: 'Edit the note' }).first().click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Newest')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('tab', { name: 'Notes' }).click()
  const edited = page.getByRole('textbox', { name: 'Edit the note' })
  await edited.waitFor()
  await untilEqual(() => edited.inputValue(), 'Newest')
  await edited.press('Escape')
  await name('Edit the note')
  await page.getByRole('button', { name: 'Delete the note' }).first().press('Enter')
  await page.getByText('Newer').waitFor({ state: 'detached' })
  await name('Edit the note')
  await page.getByRole('button', { name: 'Delete the note' }).press('Enter')
  await name('Write a note')
  await page.getByRole('button', { name: 'Remove the field size' }).press('Enter')
  const add = page.getByRole('button', { name: 'Add a field' })
  const has_focus = () => add.evaluate((one: any) => one === one.ownerDocument.activeElement)
  await page.getByText('Field size removed').waitFor()
  await until(has_focus, Boolean)
  await add.press('Enter')
  await page.keyboard.press('Escape')
  await add.waitFor()
  await until(has_focus, Boolean)
})

for (const [way, act] of [
  [
    'a bulk deletion by the keyboard',
    async (page: Page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await page.getByRole('region', { name: '1 selected' }).getByRole('button', { name: 'Delete' }).focus()
      await page.keyboard.press('Enter')
    },
  ],
  [
    'a deletion in the panel',
    async (page: Page) => {
      await page.locator('tbody tr').nth(1).locator('td').nth(4).click()
      const panel = page.getByRole('complementary').last()
      await panel.getByRole('button', { name: 'More actions' }).press('Enter')
      await page.getByRole('menuitem', { name: 'Delete contact' }).press('Enter')
    },
  ],
] as const)
  test(`after ${way} the focus is in the row that follows`, async (t) => {
    // Reads of it that are in flight at its deletion get 404.
    const page = await web.open(t, '/contacts', { allow: /status of 404/ })
    const rows = page.locator('tbody tr[data-row-id]')
    await rows.first().waitFor()
    const [gone, next] = await Promise.all([1, 2].map((at) => rows.nth(at).getAttribute('data-row-id')))
    await act(page)
    await page.locator(`tr[data-row-id="${gone}"]`).waitFor({ state: 'detached' })
    await waitForFocus(page, `A ${next}`)
  })

test('after a deletion in the panel the focus is in the row that follows, however late the next frame comes', async (t) => {
  const page = await web.open(t, '/contacts', { allow: /status of 404/, reusable: false })
  const rows = page.locator('tbody tr[data-row-id]')
  await rows.first().waitFor()
  const [gone, next] = await Promise.all([1, 2].map((at) => rows.nth(at).getAttribute('data-row-id')))
  await rows.nth(1).locator('td').nth(4).click()
  const panel = page.getByRole('complementary').last()
  await panel.getByRole('button', { name: 'More actions' }).press('Enter')
  const remove = page.getByRole('menuitem', { name: 'Delete contact' })
  await remove.focus()
  await page.evaluate('requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 3000)')
  await page.keyboard.press('Enter')
  await page.locator(`tr[data-row-id="${gone}"]`).waitFor({ state: 'detached' })
  await waitForFocus(page, `A ${next}`)
})

test('Escape gives the focus back: from the panel to its row, from the dialog to its button', async (t) => {
  const page = await web.open(t, '/contacts')
  const row = page.locator('tbody tr[data-row-id]').nth(2)
  await row.locator('td').nth(4).click()
  const panel = page.getByRole('complementary').last()
  await panel.getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Escape')
  await waitForFocus(page, `A ${await row.getAttribute('data-row-id')}`)

  await visit(page, '/booking-pages')
  const button = page.getByRole('button', { name: 'Create booking page' })
  await button.click()
  await page.getByRole('dialog').getByRole('textbox').first().fill('Demo')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.waitForFunction(() => (globalThis as any).document.activeElement?.tagName === 'BUTTON')
  await untilEqual(() => button.evaluate((one) => one === (globalThis as any).document.activeElement), true)
})

test('the way back closes a dialog first, then the record beside its list, and a record that was closed leaves no step of its own', async (t) => {
  const page = await web.open(t, '/', { viewport: { width: 390, height: 844 } })
  await page.getByRole('link', { name: 'Contacts' }).first().click()
  const row = page.locator('tbody tr[data-row-id]').first()
  const panel = page.locator('aside.panel')
  for (const leave of [() => page.goBack(), () => panel.getByRole('button', { name: 'Close' }).click()]) {
    await row.locator('td[data-phone]').nth(1).click()
    await panel.waitFor()
    await leave()
    await panel.waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).pathname, '/contacts')
  }
  // A dialog over the record.
  await row.locator('td[data-phone]').nth(1).click()
  await panel.waitFor()
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await page.keyboard.press('c')
  await dialog.waitFor()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Close' }).click()
  await panel.waitFor({ state: 'detached' })
  await page.goBack()
  await page.waitForURL((url) => url.pathname === '/')
})

test('the first stop of the keyboard is a link to the content, in the colours of the theme', async (t) => {
  const page = await web.open(t, '/contacts', { load: true })
  await page.locator('tbody tr[data-row-id]').first().waitFor()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to content' })
  const colours = () =>
    skip.evaluate((link) => {
      const { document, getComputedStyle } = globalThis as any
      const { color, outlineStyle } = getComputedStyle(link)
      return {
        focused: document.activeElement === link,
        own: color === getComputedStyle(document.body).color,
        outlineStyle,
      }
    })
  await untilEqual(colours, { focused: true, own: true, outlineStyle: 'solid' })
})

test('a click beside a dialog closes none in which something is written', async (t) => {
  const page = await web.open(t, '/contacts?create=1')
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'First name' })
  await name.fill('Ada')
  await page.mouse.click(5, 400)
  await page.mouse.click(5, 600)
  await untilEqual(() => name.inputValue(), 'Ada')
})

test('the focus stays on a booking page when the keys remove a day, save or discard', async (t) => {
  const id = await web.create('/booking-pages', {
    slug: 'keys',
    title: 'Keys',
    time_zone: 'Europe/Berlin',
    date_overrides: { '2030-01-01': [] },
  })
  const page = await web.open(t, `/booking-pages/${id}`)
  const focused = page.locator(':focus')
  await page.getByRole('button', { name: /^Remove 1 Jan/ }).press('Enter')
  await page.getByLabel('Day', { exact: true }).and(focused).waitFor()
  await page.getByRole('button', { name: 'Save changes' }).press('Enter')
  await page.getByText('Booking page saved').waitFor()
  await page.locator('#content').and(focused).waitFor()
  await page.getByRole('button', { name: 'Add question' }).press('Enter')
  await page.getByRole('button', { name: 'Discard changes' }).press('Enter')
  await page.locator('#content').and(focused).waitFor()
})

test('a list stays where it is when more of it is shown', async (t) => {
  const items = Array.from({ length: 120 }, (_, n) => ({ op: 'create', data: { name: `Company ${n}` } }))
  assert.equal((await web.rapport.call('POST', '/api/v1/companies/batch', { items })).status, 200)
  const page = await web.open(t, '/audit-log', { reusable: false })
  const more = page.getByRole('button', { name: 'Show older changes' })
  await more.focus()
  const { promise: come, resolve: letCome } = Promise.withResolvers<void>()
  await page.route(/cursor=/, async (route) => {
    await come
    await route.continue()
  })
  const isSeen = () =>
    more.evaluate(
      (button: any) => button.getBoundingClientRect().top < button.ownerDocument.defaultView.innerHeight,
    )
  assert.ok(await isSeen())
  await page.keyboard.press('Enter')
  await more.and(page.locator(':disabled')).waitFor()
  letCome()
  await more.and(page.locator(':focus')).waitFor()
  assert.equal(await isSeen(), false)
})
