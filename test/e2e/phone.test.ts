// runs: once
import { test } from 'node:test'
import { joinAs } from '../web/people.ts'
import { checkScreen, keepToasts, phone, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

test('on a phone, the bar searches and creates', async (t) => {
  const page = await web.open(t, '/contacts', phone)
  const bar = page.locator('.bottom')
  await bar.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await page.keyboard.press('Escape')
  await bar.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('menuitem', { name: 'Create deal' }).waitFor()
  await checkScreen(page)
  await page.getByRole('menuitem', { name: 'Create deal' }).click()
  await page.getByRole('dialog', { name: 'Create deal' }).getByLabel('Name').waitFor()
})

test('on a phone, somebody who may only read has nothing to create', async (t) => {
  const session = await joinAs(web.rapport, 'rita@example.test', 'read_only')
  const page = await web.open(t, '/contacts', { session, ...phone })
  await page.locator('.bottom').getByRole('button', { name: 'Search' }).waitFor()
  await untilEqual(() => page.locator('.bottom').getByRole('button', { name: 'Create' }).count(), 0)
  await checkScreen(page)
})

test('on a phone, an activity in the list shows whom it is about', async (t) => {
  const contact_id = await web.create('/contacts', { first_name: 'Ines', last_name: 'Kessel' })
  await web.create('/activities', { subject: 'Send the offer', contact_id, due_at: new Date().toISOString() })
  const page = await web.open(t, '/', phone)
  await visit(page, '/activities?show=all')
  await page
    .locator('tbody tr')
    .filter({ hasText: 'Send the offer' })
    .getByText('Ines Kessel')
    .first()
    .waitFor()
  await checkScreen(page)
})

test('on a phone, a message covers no choice of the menu above the bar', async (t) => {
  await web.create('/activities', { subject: 'Ring the bell', due_at: new Date().toISOString() })
  const page = await web.open(t, '/', { ...phone, reusable: false })
  await keepToasts(page)
  await page.getByRole('button', { name: 'Complete Ring the bell' }).click()
  await page.getByText('Ring the bell completed').waitFor()
  await page.locator('.bottom').getByRole('button', { name: 'Create' }).click()
  const last = page.getByRole('menuitem').last()
  await last.waitFor()
  const isOnTop = () =>
    last.evaluate((item) => {
      const { x, y, width, height } = item.getBoundingClientRect()
      return item.contains(item.ownerDocument.elementFromPoint(x + width / 2, y + height / 2))
    })
  await untilEqual(isOnTop, true)
  await last.click()
  await page.getByRole('dialog').waitFor()
})
