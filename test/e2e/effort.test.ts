// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { settled, useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

// Does the tasks of a day by mouse and by keyboard, and counts. docs/web-app.md has the table.

const web = useWeb()

const call = async (method: string, path: string, body?: object) =>
  dataOf(await web.rapport.call(method, `/api/v1${path}`, body))
const contact = (last_name: string): Promise<{ id: number }> =>
  call('POST', '/contacts', { first_name: 'Ana', last_name })
const deal = (name: string): Promise<{ id: number }> => call('POST', '/deals', { name, value: 753_505.2402 })

/** A hand at a page, which counts its clicks and keys. A text counts apart, however long it is. */
function handOf(page: Page) {
  let [clicks, keys, texts] = [0, 0, 0]
  return {
    async click(target: Locator) {
      await target.click()
      clicks++
    },
    async press(...names: string[]) {
      for (const name of names) await page.keyboard.press(name)
      keys += names.length
    },
    async type(text: string) {
      await page.keyboard.type(text)
      texts++
    },
    effort() {
      const some = (count: number, one: string) => (count ? [`${count} ${one}${count > 1 ? 's' : ''}`] : [])
      return [...some(clicks, 'click'), ...some(keys, 'key'), ...some(texts, 'text')].join(', ')
    },
  }
}
type Hand = ReturnType<typeof handOf>
type Way = (page: Page, hand: Hand, name: string) => Promise<unknown>
type Task = {
  name: string
  /** Makes the records of one run; returns where it begins. `name` is their own. */
  given: (name: string) => Promise<string>
  mouse: Way
  keys: Way
  done: (name: string) => Promise<boolean>
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const dialogOf = (page: Page) => page.getByRole('dialog')
const focused = (target: Locator) =>
  until(
    () => target.evaluate((one) => one === one.ownerDocument.activeElement),
    (is) => is,
  )
const found = async (path: string) => (await call('GET', path)) as Record<string, unknown>[]

const tasks: Task[] = [
  {
    name: 'log a call, from the record',
    given: async (name) => `/contacts/${(await contact(name)).id}`,
    async mouse(page, hand, name) {
      await hand.click(button(page, `Log a call or meeting: Ana ${name}`))
      await focused(dialogOf(page).getByLabel('Outcome'))
      await hand.type('Wants the offer by Friday')
      await hand.click(dialogOf(page).getByRole('button', { name: 'Log', exact: true }))
    },
    async keys(page, hand) {
      await hand.press('l')
      await focused(dialogOf(page).getByLabel('Outcome'))
      await hand.type('Wants the offer by Friday')
      await hand.press('Enter')
    },
    done: async (name) =>
      (await found(`/activities?search=${name}`)).some(({ completed_at }) => completed_at),
  },
  {
    name: 'write a note, from the record',
    given: async (name) => `/contacts/${(await contact(name)).id}`,
    async mouse(page, hand) {
      await hand.click(button(page, 'Write a note'))
      await hand.type('Prefers mornings')
      await hand.click(button(page, 'Save note'))
    },
    async keys(_page, hand) {
      await hand.press('n')
      await hand.type('Prefers mornings')
      await hand.press('Control+Enter')
    },
    async done(name) {
      const [{ id } = {}] = await found(`/contacts?search=${name}`)
      return (await found(`/contacts/${id}/notes`)).length === 1
    },
  },
  {
    name: 'complete what is due, on Home, and say what came of it',
    async given(name) {
      const due_at = new Date(Date.now() - 48 * 3_600_000).toISOString()
      await call('POST', '/activities', { subject: name, due_at })
      return '/'
    },
    async mouse(page, hand, name) {
      await hand.click(button(page, `Complete ${name}`))
      await focused(page.getByRole('textbox', { name: `What came of ${name}?` }))
      await hand.type('Signs on Friday')
      await hand.press('Enter')
    },
    async keys(page, hand, name) {
      // The focus is there after the one before.
      await button(page, `Complete ${name}`).focus()
      await hand.press('Enter')
      await focused(page.getByRole('textbox', { name: `What came of ${name}?` }))
      await hand.type('Signs on Friday')
      await hand.press('Enter')
    },
    done: async (name) => (await found(`/activities?search=${name}`)).some(({ outcome }) => outcome),
  },
  {
    name: 'plan the next step of a deal, on Home',
    async given(name) {
      await deal(name)
      return '/'
    },
    async mouse(page, hand, name) {
      await hand.click(button(page, `Plan the next step of ${name}`))
      await focused(dialogOf(page).getByLabel('Subject'))
      await hand.type(`Send the offer of ${name}`)
      await hand.click(button(page, 'Create activity'))
    },
    async keys(page, hand, name) {
      await button(page, `Plan the next step of ${name}`).focus()
      await hand.press('Enter')
      await focused(dialogOf(page).getByLabel('Subject'))
      await hand.type(`Send the offer of ${name}`)
      await hand.press('Enter')
    },
    done: async (name) => (await found(`/activities?search=${name}`)).length === 1,
  },
  {
    name: 'assign a record of a list to a colleague',
    given: async (name) => {
      const { id } = await contact(name)
      await call('PUT', `/contacts/${id}`, { owner_id: null })
      return `/contacts?search=${name}`
    },
    async mouse(page, hand, name) {
      await hand.click(page.getByRole('row', { name: new RegExp(name) }).getByRole('checkbox'))
      await hand.click(
        page.getByRole('region', { name: '1 selected' }).getByRole('button', { name: 'Assign' }),
      )
      await hand.click(page.getByRole('option').first())
    },
    async keys(page, hand, name) {
      await page.getByRole('row', { name: new RegExp(name) }).waitFor()
      await hand.press('j', 'a')
      await page.getByRole('option').first().waitFor()
      await hand.press('Enter')
    },
    done: async (name) => (await found(`/contacts?search=${name}`)).some(({ owner_id }) => owner_id !== null),
  },
  {
    name: 'create a deal with its value',
    given: async () => '/deals',
    async mouse(page, hand, name) {
      await hand.click(button(page, 'Create deal'))
      await focused(dialogOf(page).getByRole('textbox', { name: 'Name' }))
      await hand.type(name)
      await hand.click(dialogOf(page).getByRole('textbox', { name: 'Value' }))
      await hand.type('€12.5k')
      await hand.click(dialogOf(page).getByRole('button', { name: 'Create deal' }))
    },
    async keys(page, hand, name) {
      await hand.press('c')
      await focused(dialogOf(page).getByRole('textbox', { name: 'Name' }))
      await hand.type(name)
      await hand.press('Tab')
      await focused(dialogOf(page).getByRole('textbox', { name: 'Value' }))
      await hand.type('€12.5k')
      await hand.press('Enter')
    },
    done: async (name) => (await found(`/deals?search=${name}`)).some(({ value }) => value === 12_500),
  },
  {
    name: 'find and open a contact, from anywhere',
    async given(name) {
      await contact(name)
      return '/'
    },
    async mouse(page, hand, name) {
      await hand.click(page.getByRole('button', { name: /^Search/ }).first())
      await hand.type(name)
      await hand.click(page.getByRole('option', { name: `Ana ${name}` }))
      await page.getByRole('heading', { level: 1, name: `Ana ${name}` }).waitFor()
    },
    async keys(page, hand, name) {
      await hand.press('Control+k')
      await hand.type(name)
      await page.getByRole('option', { name: `Ana ${name}`, selected: true }).waitFor()
      await hand.press('Enter')
      await page.getByRole('heading', { level: 1, name: `Ana ${name}` }).waitFor()
    },
    done: async () => true,
  },
]

const words = readFileSync(new URL('../../docs/web-app.md', import.meta.url), 'utf8')
const [, table = ''] = /\n\| Task \| Mouse \| Keyboard \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/.exec(words) ?? []

/** Does a task in one way, and returns what it took. */
async function effortOf(t: TestContext, task: Task, way: 'mouse' | 'keys', name: string): Promise<string> {
  const page = await web.open(t, await task.given(name))
  await settled(page)
  const hand = handOf(page)
  await task[way](page, hand, name)
  await until(
    () => task.done(name),
    (done) => done,
  )
  return hand.effort()
}

test('the tasks of a day take the clicks and keys that the table of the web app states', async (t) => {
  const measured: string[] = []
  for (const [at, task] of tasks.entries()) {
    const efforts: string[] = []
    for (const way of ['mouse', 'keys'] as const) {
      const name = `${way === 'mouse' ? 'Belovsky' : 'Marchetti'}${String.fromCharCode(97 + at)}`
      // A page of its own: what happens on one is read by all that are open.
      await t.test(`${task.name}, by ${way}`, async (t) => {
        efforts.push(await effortOf(t, task, way, name))
      })
    }
    measured.push(`| ${task.name} | ${efforts.join(' | ')} |`)
  }
  assert.deepEqual(measured, table.trim().split('\n'))
})
