// runs: once, long
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { browser, join } from '../people.ts'
import { before } from '../use.ts'
import { untilEqual, useWeb, visit } from '../web.ts'
import { fillWorkspace } from '../web-records.ts'
import { until } from '../webhooks.ts'

const web = useWeb()
let ids: Awaited<ReturnType<typeof fillWorkspace>>
before(async () => {
  ids = await fillWorkspace(web.rapport)
})

const search = (page: Page) => new URL(page.url()).search
/** What has the focus: its tag, and its row or name. */
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

/** Holds each request to a path until the test releases it. */
async function hold(page: Page, path: string, method = 'POST'): Promise<() => void> {
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() === method) await held
    await route.continue()
  })
  return go
}

for (const [noun, path, labels, other] of [
  ['contact', '/contacts', ['First name', 'Last name'], 'Companies'],
  ['company', '/companies', ['Name'], 'Contacts'],
  ['deal', '/deals?view=table', ['Name'], 'Contacts'],
] as const)
  test(`an answer that comes after the ${noun}'s dialog is closed changes no address and no other dialog`, async (t) => {
    const page = await web.open(t, path)
    const [list = ''] = path.split('?')
    await page.getByRole('table').locator('tbody a').first().waitFor()
    const go = await hold(page, list)
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    const dialog = page.getByRole('dialog', { name: `Create ${noun}` })
    await page.keyboard.press('c')
    for (const name of labels) await dialog.getByRole('textbox', { name }).fill('Late')
    await page.keyboard.press('Enter')
    await posted
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('navigation').getByRole('link', { name: other, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: other }).waitFor()
    await page.keyboard.press('c')
    const next = page.getByRole('dialog')
    await next.getByRole('textbox').first().fill('Next')
    go()
    await answered
    await page.getByText(/Late created/).waitFor()
    assert.equal(search(page), '?create=1')
    await untilEqual(() => next.getByRole('textbox').first().inputValue(), 'Next')
  })

test('an answer that comes after its dialog was opened anew leaves what is typed there', async (t) => {
  const page = await web.open(t, '/companies')
  await page.getByRole('table').locator('tbody a').first().waitFor()
  const go = await hold(page, '/companies')
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
  await page.keyboard.press('c')
  await name.fill('First')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await name.waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  await name.fill('Second')
  go()
  await page.getByText('First created').waitFor()
  assert.equal(search(page), '?create=1')
  await untilEqual(() => name.inputValue(), 'Second')
})

test('a note that is not saved is still there after another tab, another page and a reload, for its contact alone', async (t) => {
  const [one, two] = ids.contacts
  const page = await web.open(t, `/contacts/${one}?tab=notes`)
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('Half a thought')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await note.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Notes' }).click()
  await untilEqual(() => note.inputValue(), 'Half a thought')
  await visit(page, `/contacts/${two}?tab=notes`)
  await note.waitFor()
  await untilEqual(() => note.inputValue(), '')
  await visit(page, `/contacts/${one}?tab=notes`)
  await note.waitFor()
  await untilEqual(() => note.inputValue(), 'Half a thought')
  await page.getByRole('button', { name: 'Save note' }).click()
  await page.getByRole('listitem').getByText('Half a thought').waitFor()
  await page.reload()
  await note.waitFor()
  await untilEqual(() => note.inputValue(), '')
})

test('what is changed and typed while tags and notes are being stored is stored, too', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Quick', last_name: 'Hand', tags: ['a', 'b', 'c'] })
  const page = await web.open(t, `/contacts/${id}?tab=notes`)
  const putNow = await hold(page, `/contacts/${id}`, 'PUT')
  for (const tag of ['a', 'b']) await page.getByRole('button', { name: `Remove the tag ${tag}` }).click()
  await page.getByRole('textbox', { name: 'Add tag' }).focus()
  await page.keyboard.type('vip')
  await page.keyboard.press('Enter')
  await page.keyboard.type('hot')
  await page.keyboard.press('Enter')
  const last = page.waitForResponse(
    async (one) => one.request().method() === 'PUT' && (await one.text()).includes('"hot"'),
  )
  putNow()
  assert.deepEqual((await (await last).json()).data.tags, ['c', 'vip', 'hot'])

  const postNow = await hold(page, `/contacts/${id}/notes`)
  const note = page.getByRole('textbox', { name: 'Write a note' })
  await note.fill('The first')
  await page.keyboard.press('Control+Enter')
  await page.keyboard.type('The second')
  postNow()
  await page.getByRole('listitem').getByText('The first').waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('listitem').getByText('The second').waitFor()
  await untilEqual(() => note.inputValue(), '')
})

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

test('rows that no longer fit the filter are marked as busy, and cannot be selected', async (t) => {
  const page = await web.open(t, '/contacts')
  await page.locator('tbody tr[data-row-id]').first().waitFor()
  const go = await hold(page, '/contacts?**search=quick**', 'GET')
  await page.getByRole('searchbox', { name: 'Search' }).fill('quick')
  const busy = page.locator('table[aria-busy=true]')
  await busy.waitFor()
  const all = page.getByRole('checkbox', { name: 'Select all on this page' })
  await all.click()
  await page.keyboard.press('Escape')
  await untilEqual(() => all.isChecked(), false)
  go()
  await busy.waitFor({ state: 'detached' })
  await page.getByRole('status').filter({ hasText: '1 found' }).waitFor({ state: 'attached' })
  await untilEqual(() => page.getByRole('region', { name: /selected/ }).count(), 0)
})

test('the way back closes the record beside its list, and a record that was closed leaves no step of its own', async (t) => {
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
  await page.goBack()
  await page.waitForURL((url) => url.pathname === '/')
})

test('a click beside a dialog closes none in which something is written', async (t) => {
  const page = await web.open(t, '/contacts?create=1')
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'First name' })
  await name.fill('Ada')
  await page.mouse.click(5, 400)
  await page.mouse.click(5, 600)
  await untilEqual(() => name.inputValue(), 'Ada')
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

for (const spaced of [false, true])
  test(`long amounts stay in their card${spaced ? ', with the text spaced out too' : ''}`, async (t) => {
    const deal = await web.create('/deals', { name: 'The large one', value: 8_888_888_888.88 })
    t.after(async () => void (await web.rapport.call('DELETE', `/api/v1/deals/${deal}`)))
    const page = await web.open(t, '/')
    const table = page.getByRole('table', { name: 'Pipeline by stage' })
    await table.waitFor()
    await page.evaluate((wide) => {
      if (!wide) return
      const { document } = globalThis as any
      for (const one of document.querySelectorAll('body *'))
        Object.assign(one.style, { letterSpacing: '0.12em', wordSpacing: '0.16em', lineHeight: '1.5' })
    }, spaced)
    const out = await page.evaluate(() => {
      const { document } = globalThis as any
      const card = document.querySelector('.home-pipeline').getBoundingClientRect()
      const scroll = document.querySelector('.home-pipeline-scroll')
      return {
        px: scroll.getBoundingClientRect().right - card.right,
        scrolls: scroll.scrollWidth > scroll.clientWidth,
      }
    })
    assert.ok(out.px <= 0, `${out.px} px outside`)
    // Only where the text is wider than usual are there columns to scroll to.
    assert.ok(spaced || !out.scrolls)
    assert.equal(
      await table
        .getByTitle(/^€8,888,8/)
        .first()
        .innerText(),
      '€8.9bn',
    )
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
      await panel.getByRole('button', { name: 'Delete' }).focus()
      await page.keyboard.press('Enter')
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

test('a long name ends in an ellipsis in lists and takes two lines on its page; an emoji is one initial', async (t) => {
  const name = 'Wolfeschlegelsteinhausenbergerdorff '.repeat(5).trim()
  const company = await web.create('/companies', { name })
  await web.create('/companies', { name: '👩‍💻 🦄 works 🚀' })
  const page = await web.open(t, '/companies')
  await page.locator('.initials[data-initials="👩‍💻🚀"]').waitFor()
  const cell = await page.locator(`tr[data-row-id="${company}"] [data-row-link]`).evaluate((one: any) => ({
    cut: one.scrollWidth > one.clientWidth,
    overflow: (globalThis as any).getComputedStyle(one).textOverflow,
    title: one.title,
  }))
  assert.deepEqual(cell, { cut: true, overflow: 'ellipsis', title: name })
  await visit(page, `/companies/${company}`)
  const title = page.getByRole('heading', { level: 1, name })
  await untilEqual(() => title.getAttribute('title'), name)
  assert.ok(((await title.boundingBox())?.height ?? 99) < 60)
  await visit(page, '/')
  const told = page.locator('.home-row-text').filter({ hasText: 'Wolfeschlegel' }).first()
  await told.waitFor()
  assert.ok((await told.getAttribute('title'))?.includes(name))
  assert.ok(((await told.boundingBox())?.height ?? 99) < 50)
})
