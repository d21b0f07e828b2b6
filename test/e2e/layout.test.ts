// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: what the page says is only looked at here
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { joinAs } from '../web/people.ts'
import { makeScreens } from '../web/screens.ts'
import { fits, phone, settled, startWeb, untilEqual, visit, type Web } from '../web.ts'

const folder = fileURLToPath(new URL('../../screenshots', import.meta.url))
const takesPictures = process.env.SCREENSHOTS === '1'
const names = [
  'home',
  'contacts',
  'contacts-panel',
  'deals',
  'deals-table',
  'calendar',
  'contact',
  'deal',
  'webhooks',
  'deliveries',
]
const wide = { viewport: { width: 1440, height: 900 } }
const long_name = 'Preferred-delivery-window-and-warehouse-of-the-purchasing-department'

let web: Web
let screens: [name: string, path: string][]
let contact: number
let delivery: string | undefined
before(async () => {
  if (takesPictures) mkdirSync(folder, { recursive: true })
  web = await startWeb()
  const all = await makeScreens(web.rapport)
  screens = names.map((name) => [name, all[name] as string])
  contact = Number(all.contact?.split('/').at(-1))
  delivery = all.delivery?.split('/').at(-1)
  const definition = { resource: 'contacts', key: 'window', label: long_name, type: 'text' }
  const made = await web.rapport.call('POST', '/api/v1/custom-fields', definition)
  assert.equal(made.status, 201, made.text)
})
after(() => web?.close())

async function show(page: Page, name: string, path: string, variant: string) {
  await visit(page, path)
  await settled(page)
  if (takesPictures) await page.screenshot({ path: `${folder}/layout-${name}-${variant}.png` })
}

/** Texts that lie over each other: pairs of boxes of visible text with no common scroll or cover. */
const overlaps = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { document, NodeFilter, getComputedStyle } = globalThis as any
    const walker = document.createTreeWalker(document.querySelector('#app'), NodeFilter.SHOW_TEXT)
    /** The part of a box that its ancestors do not clip. */
    function seen({ left, right, top, bottom }: any, element: any) {
      const box = { left, right, top, bottom }
      for (let one = element; one; one = one.parentElement) {
        if (getComputedStyle(one).overflowX === 'visible') continue
        const clip = one.getBoundingClientRect()
        box.left = Math.max(box.left, clip.left)
        box.right = Math.min(box.right, clip.right)
        box.top = Math.max(box.top, clip.top)
        box.bottom = Math.min(box.bottom, clip.bottom)
      }
      return box
    }
    const found: { text: string; box: any; element: any }[] = []
    while (walker.nextNode()) {
      const node = walker.currentNode
      const element = node.parentElement
      if (!node.data.trim() || element.closest('.unseen, .skip, [aria-hidden=true]')) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const rect of range.getClientRects()) {
        const box = seen(rect, element)
        if (box.right <= box.left || box.bottom <= box.top) continue
        const x = (box.left + box.right) / 2
        const y = (box.top + box.bottom) / 2
        const top = document.elementFromPoint(x, y)
        // An element that is scrolled away, clipped, or under something that floats is not seen there.
        if (!top || !(top === element || element.contains(top) || top.contains(element))) continue
        if (getComputedStyle(element).visibility !== 'visible') continue
        found.push({ text: node.data.trim().slice(0, 40), box, element })
      }
    }
    const pairs: string[] = []
    const slack = 3
    for (const [index, one] of found.entries())
      for (const other of found.slice(index + 1)) {
        const [a, b] = [one.box, other.box]
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left)
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
        const half = Math.min(a.bottom - a.top, b.bottom - b.top) / 2
        if (across > slack && down > half && one.element !== other.element)
          pairs.push(`${one.text} | ${other.text}`)
      }
    return pairs
  })

/** Texts that do not grow with the text size: smaller than 17 px where the smallest one is twice 9. */
const small = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any
    const all: any[] = [...document.querySelectorAll('#app *:not(svg, svg *)')]
    const own = (one: any) => [...one.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim())
    return all
      .filter((one) => own(one) && Number.parseFloat(getComputedStyle(one).fontSize) < 17)
      .map((one) => `${one.className}: ${one.textContent}`.slice(0, 80))
  })

/** The buttons of the page's line whose labels are cut. */
const cut = (page: Page): Promise<string[]> =>
  page
    .locator('.page-line :is(.mantine-Button-label, .mantine-SegmentedControl-root)')
    .evaluateAll((all: any[]) =>
      all
        .filter(
          (one) =>
            one.scrollWidth > one.parentElement.clientWidth + 1 || one.scrollWidth > one.clientWidth + 1,
        )
        .map((one) => one.textContent),
    )

test('at twice the text size nothing is wider than the screen, and no text lies over another', async (t) => {
  const page = await web.open(t, '/', { ...wide, reusable: false })
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  const found: string[] = []
  for (const [name, path] of screens) {
    await show(page, name, path, '200')
    await fits(page)
    for (const pair of await overlaps(page)) found.push(`${name}: ${pair}`)
    for (const label of await cut(page)) found.push(`${name}: ${label} is cut`)
    for (const text of await small(page)) found.push(`${name}: ${text}`)
  }
  assert.deepEqual(found, [])
})

test('nothing is wider than the screen, and beside the panel the list keeps its pager and its actions', async (t) => {
  // Its size changes.
  const page = await web.open(t, '/', { ...wide, reusable: false })
  const found: string[] = []
  const filters = ['stage=customer', 'source=fair', 'email=x', 'phone=1', 'tag=a', 'created_from=2026-01-01']
  for (const width of [1440, 1024, phone.viewport.width]) {
    await page.setViewportSize({ width, height: 844 })
    await show(page, 'filters', `/contacts?${filters.join('&')}`, String(width))
    await fits(page)
    for (const pair of await overlaps(page)) found.push(`filters at ${width}: ${pair}`)
    for (const [name, path] of screens) {
      await show(page, name, path, String(width))
      await fits(page)
      for (const pair of await overlaps(page)) found.push(`${name} at ${width}: ${pair}`)
    }
    if (width === phone.viewport.width) continue
    await show(page, 'panel', `/contacts?per_page=5&open=${contact}`, String(width))
    const left = await page.locator('.panel').evaluate((one) => one.getBoundingClientRect().left)
    const isBeside = async (name: string) => {
      const box = await page.getByRole('button', { name }).first().boundingBox()
      assert.ok(box && box.x + box.width <= left, `${name} at ${width}: ${JSON.stringify(box)}, ${left}`)
    }
    for (const name of ['Create contact', 'Columns']) await isBeside(name)
    await show(page, 'delivery', `/settings/deliveries?open=${delivery}`, String(width))
    await page.locator('.panel').waitFor()
    await isBeside('Resend failed…')
  }
  assert.deepEqual(found, [])
})

test('the usual columns of every list fit a window of 1440 px', async (t) => {
  const page = await web.open(t, '/', wide)
  for (const path of ['/contacts', '/companies', '/deals?view=table', '/activities']) {
    await visit(page, path)
    await settled(page)
    const [needed, there] = await page
      .locator('.table-scroll')
      .evaluate(({ scrollWidth, clientWidth }: any) => [scrollWidth, clientWidth])
    assert.equal(needed, there, path)
  }
})

test('on a phone the actions of a list are beside its title, names beside their boxes, and due dates in full', async (t) => {
  const due_at = new Date(Date.now() + 60_000).toISOString()
  const made = await web.rapport.call('POST', '/api/v1/activities', { subject: 'Look at the list', due_at })
  assert.equal(made.status, 201, made.text)
  const page = await web.open(t, '/', phone)
  for (const path of ['/contacts', '/companies', '/deals?view=table', '/activities?show=all']) {
    await visit(page, path)
    await settled(page)
    const left = await page
      .locator('tbody td[data-first]')
      .first()
      .evaluate((one) => one.getBoundingClientRect().left)
    const controls = path.startsWith('/activities') ? 80 : 40
    assert.ok(left <= controls, `${path}: ${left}`)
    const [title, action] = await Promise.all(
      [
        page.getByRole('heading', { level: 1 }),
        page
          .locator('main')
          .getByRole('button', { name: /^Create/ })
          .first(),
      ].map((one) => one.boundingBox()),
    )
    assert.ok(title && action && action.y < title.y + title.height, `${path}: ${JSON.stringify(action)}`)
  }
  const due = page.locator('.activity-due').first()
  const { right } = await due.evaluate((one) => one.getBoundingClientRect().toJSON())
  assert.ok(right <= phone.viewport.width, `${await due.innerText()} ends at ${right}`)
})

test('a value that is too long for its column is rounded, not cut', async (t) => {
  const made = await web.rapport.call('POST', '/api/v1/deals', { name: 'Airport', value: 987654321.98 })
  assert.equal(made.status, 201, made.text)
  for (const screen of [wide, phone]) {
    const page = await web.open(t, '/deals?view=table&search=airport', screen)
    const [needed, there] = await page
      .getByRole('cell', { name: '€987,654,322' })
      .evaluate((one: any) => [one.scrollWidth, one.clientWidth])
    assert.equal(needed, there)
  }
})

test('a long name of an owner ends in dots inside its column', async (t) => {
  const name = 'Maximilian Alexander von Hohenstaufen-Wittelsbach'
  await joinAs(web.rapport, 'max@example.test', 'member', { name })
  const { data } = (await web.rapport.call('GET', '/api/v1/members')).body
  const owner_id = data.find((one: any) => one.name === name).id
  await web.rapport.call('PUT', `/api/v1/contacts/${contact}`, { owner_id })
  const page = await web.open(t, '/contacts', wide)
  const shown = page.locator('.owner-name .one-line').filter({ hasText: name }).first()
  const [inner, outer] = await shown.evaluate((one: any) =>
    [one, one.closest('td')].map((each) => each.getBoundingClientRect().right),
  )
  assert.ok(inner <= outer, `${inner} > ${outer}`)
})

test('the columns of a list are as wide with other rows', async (t) => {
  const page = await web.open(t, '/contacts', wide)
  const widths = () =>
    page
      .getByRole('columnheader')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)))
  await settled(page)
  const before = await widths()
  await visit(page, '/contacts?search=Ada')
  await page.locator('tbody tr[data-row-id]').nth(1).waitFor({ state: 'detached' })
  assert.deepEqual(await widths(), before)
})

test('the first column of a table is in line with the title above it, or with the heading below', async (t) => {
  const invitation = { email: 'new@example.test', role: 'member' }
  const made = await web.rapport.call('POST', '/api/v1/invitations', invitation)
  assert.equal(made.status, 201, made.text)
  const leftOf = (element: any) => {
    const { document } = globalThis as any
    const range = document.createRange()
    range.selectNodeContents(element)
    return Math.round(range.getBoundingClientRect().left)
  }
  for (const view of [wide, phone]) {
    const page = await web.open(t, '/settings/members', view)
    await settled(page)
    const below = await page.getByRole('heading', { name: 'Open invitations' }).evaluate(leftOf)
    assert.equal(await page.getByRole('columnheader').first().evaluate(leftOf), below)
    for (const path of ['/contacts', '/booking-pages']) {
      await visit(page, path)
      await settled(page)
      const title = await page.getByRole('heading', { level: 1 }).evaluate(leftOf)
      const column = page.getByRole('columnheader').first()
      assert.equal(await column.evaluate(leftOf), title, path)
    }
  }
})

test('in the dark, a dialog and a badge are told from the page, and an arrow at its end is not filled', async (t) => {
  const page = await web.open(t, '/contacts', { ...wide, colorScheme: 'dark' })
  const style = (selector: string, property: string): Promise<string> =>
    page
      .locator(selector)
      .first()
      .evaluate((one, property) => (globalThis as any).getComputedStyle(one)[property], property)
  await settled(page)
  const lightness = (colour: string) =>
    (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, one) => sum + Number(one), 0)
  const paper = lightness(await style('body', 'backgroundColor'))
  assert.ok(lightness(await style('td .badge', 'backgroundColor')) > paper + 30)
  await page.getByRole('button', { name: 'Create contact' }).click()
  await page.getByRole('dialog').waitFor()
  assert.equal(await style('.mantine-Modal-content', 'borderTopWidth'), '1px')
  await visit(page, '/settings/fields')
  await page.locator('.mantine-ActionIcon-root[data-disabled]').first().waitFor()
  assert.equal(await style('.mantine-ActionIcon-root[data-disabled]', 'backgroundColor'), 'rgba(0, 0, 0, 0)')
})

test('in forced colours, what is selected, current or chosen is seen by lines and system colours', async (t) => {
  const page = await web.open(t, '/', { ...wide, forcedColors: 'active' })
  if (takesPictures) for (const [name, path] of screens) await show(page, name, path, 'forced')
  const styleOf = (selector: string, property: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((one, property) => (globalThis as any).getComputedStyle(one)[property], property)
  await visit(page, '/contacts')
  await settled(page)
  await page.getByRole('checkbox').nth(1).check()
  const row = 'tbody tr[data-selected]'
  assert.equal(await styleOf(`${row} td`, 'borderTopWidth'), '2px')
  assert.equal(await styleOf('.rail-link[aria-current=page]', 'outlineStyle'), 'solid')
  const box = `${row} input`
  const paper = await styleOf('body', 'backgroundColor')
  assert.notEqual(await styleOf(box, 'backgroundColor'), paper)
  // The line is transparent in other colours.
  assert.equal(await styleOf('.badge', 'borderTopWidth'), '1px')
  assert.equal(await styleOf('.badge', 'borderTopColor'), await styleOf('.badge', 'color'))
  await visit(page, '/contacts?create=1')
  await page.getByRole('dialog').waitFor()
  assert.equal(await styleOf('.mantine-Modal-content', 'borderTopWidth'), '1px')
  await visit(page, '/settings/fields')
  await page.locator('.mantine-ActionIcon-root[data-disabled]').first().waitFor()
  const arrow = '.settings-body .mantine-ActionIcon-root'
  assert.notEqual(
    await styleOf(`${arrow}[data-disabled]`, 'color'),
    await styleOf(`${arrow}:not([data-disabled])`, 'color'),
  )
  await visit(page, '/')
  await settled(page)
  assert.notEqual(await styleOf('.home-bar-value', 'outlineStyle'), 'none')
  await visit(page, `/contacts/${contact}`)
  await settled(page)
  const [chosen, other] = ['[data-active]', ':not([data-active])'].map((which) => `[role=tab]${which}`)
  assert.notEqual(
    await styleOf(chosen as string, 'borderBottomColor'),
    await styleOf(other as string, 'borderBottomColor'),
  )
})

test('a long name ends in an ellipsis in lists and takes two lines on its page; an emoji is one initial', async (t) => {
  const name = 'Wolfeschlegelsteinhausenbergerdorff '.repeat(5).trim()
  const company = await web.create('/companies', { name })
  await web.create('/companies', { name: '👩‍💻 🦄 works 🚀' })
  const page = await web.open(t, '/companies')
  await page.locator('.initials[data-initials="👩‍💻🚀"]').waitFor()
  const cell = await page.locator(`tr[data-row-id="${company}"] [data-row-link]`).evaluate((one: any) => {
    const line = one.querySelector('.one-line')
    return {
      cut: line.scrollWidth > line.clientWidth,
      overflow: (globalThis as any).getComputedStyle(line).textOverflow,
      title: one.title,
    }
  })
  assert.deepEqual(cell, { cut: true, overflow: 'ellipsis', title: name })
  await visit(page, `/companies/${company}`)
  const title = page.getByRole('heading', { level: 1, name })
  await untilEqual(() => title.getAttribute('title'), name)
  assert.ok(((await title.boundingBox())?.height ?? 99) < 60)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete company' }).click()
  const undo = page.getByRole('button', { name: 'Undo' })
  assert.equal(await undo.evaluate((one: any) => one.scrollWidth - one.clientWidth), 0)
  await undo.click()
  await page.locator(`tr[data-row-id="${company}"]`).waitFor()
  await visit(page, '/')
  const told = page.locator('.home-row-text').filter({ hasText: 'Wolfeschlegel' }).first()
  await told.waitFor()
  assert.ok((await told.getAttribute('title'))?.includes(name))
  assert.ok(((await told.boundingBox())?.height ?? 99) < 50)
})
