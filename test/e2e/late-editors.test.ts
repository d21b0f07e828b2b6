// runs: once
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dataOf } from '../envelope.ts'
import { useWeb } from '../web.ts'
import { until } from '../webhooks.ts'

const web = useWeb()

const made = async (path: string, body: object): Promise<number> =>
  dataOf(await web.rapport.call('POST', `/api/v1/${path}`, body), 201).id
const stored = async (path: string) => (await web.rapport.call('GET', `/api/v1/${path}`)).body.data

async function typeOver(page: Page, text: string) {
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

/** Opens a record while a part of the program does not load; `come` lets it load. */
async function openWithout(page: Page, part: string, heading: string) {
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(new RegExp(`/assets/${part}-.*js`), async (route) => {
    await late
    await route.continue()
  })
  // An idle page has loaded the part already.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  return come
}

test('keys that come before the editor of a field replace its value, and Escape reverts', async (t) => {
  const id = await made('contacts', {
    first_name: 'Donald',
    last_name: 'Knuth',
    custom_fields: { volumes: 4 },
  })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'field-editor', 'Donald Knuth')
  const edit = page.getByRole('button', { name: 'volumes: Edit' })
  await edit.click()
  await typeOver(page, '7')
  await page.keyboard.press('Escape')
  await edit.click()
  await typeOver(page, '5')
  await page.keyboard.press('Enter')
  come()
  await until(
    async () => (await stored(`contacts/${id}`)).custom_fields.volumes,
    (volumes) => volumes === 5,
  )
  await edit.waitFor()
})

test('Escape before the form of a new field is there takes it back', async (t) => {
  const id = await made('contacts', { first_name: 'Barbara', last_name: 'Liskov' })
  const page = await web.open(t, `/contacts/${id}`)
  const come = await openWithout(page, 'new-field', 'Barbara Liskov')
  const add = page.getByRole('button', { name: 'Add a field' })
  await add.press('Enter')
  await page.keyboard.press('Escape')
  const loaded = page.waitForResponse(/\/assets\/new-field-/)
  come()
  await loaded
  await add.press('Enter')
  await page.getByLabel('Name', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await add.waitFor()
})
