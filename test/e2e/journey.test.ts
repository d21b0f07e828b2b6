import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { useReceiver } from '../receiver.ts'
import { heading, owner, pressTogether, useWeb } from '../web.ts'

const web = useWeb({ set_up: false })
const receiver = useReceiver()

/** Types what each labelled field is to hold, going from one to the next by Tab. */
async function fill(page: Page, fields: Record<string, string>) {
  for (const [label, text] of Object.entries(fields)) {
    for (let steps = 0; steps < 15; steps++) {
      const here = page.getByLabel(new RegExp(`^${label}( \\*)?$`))
      if (await here.evaluate((field) => field === field.ownerDocument.activeElement)) break
      await page.keyboard.press('Tab')
      assert.ok(steps < 14, `${label} is not reached by Tab`)
    }
    await page.keyboard.type(text)
  }
}

/** Presses Tab until the element with this role and name has the focus. */
async function tabTo(page: Page, role: 'button' | 'link' | 'tab', name: string | RegExp) {
  const wanted = page.getByRole(role, { name }).first()
  await wanted.waitFor()
  for (let steps = 0; steps < 60; steps++) {
    if (await wanted.evaluate((one) => one === one.ownerDocument.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${name} is not reached by Tab`)
}

/** Waits for an event at the receiver. */
const arrives = (event: string) =>
  receiver.waitFor((all) => all.some(({ headers }) => headers['x-service-event'] === event))

test('from the link of the terminal to a won deal at a receiver, a note, the trash and back: by keyboard alone', async (t) => {
  const { rapport } = web
  const events = ['deal.won', 'contact.deleted', 'contact.updated']
  const hook = { name: 'Billing', url: receiver.url, events }
  assert.equal((await rapport.call('POST', '/api/v1/webhooks', hook)).status, 201)

  const setup = new URL(rapport.setup_url ?? '')
  // Reads of the contact that are in flight at its deletion get 404.
  const page = await web.open(t, setup.pathname + setup.hash, { session: null, allow: /status of 404/ })

  await heading(page, /./)
  const { name, email, password, workspace_name } = owner
  await fill(page, {
    'Your name': name,
    'E-mail': email,
    Password: password,
    'Name of the workspace': workspace_name,
  })
  assert.equal(new URL(page.url()).hash, '', 'the token stays in no address')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: `Workspace: ${workspace_name}` }).waitFor()

  // A contact.
  await pressTogether(page, 'g', 'c')
  await heading(page, 'Contacts')
  await page.keyboard.press('c')
  await fill(page, { 'First name': 'Ada', 'Last name': 'Lovelace', 'E-mail': 'ada@example.test' })
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('Ada Lovelace').first().waitFor()

  // A deal, won.
  await pressTogether(page, 'g', 'd')
  await heading(page, 'Deals')
  await page.keyboard.press('c')
  await fill(page, { Name: 'First order', Value: '1200.5' })
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await tabTo(page, 'link', 'First order')
  await page.keyboard.press('m')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.keyboard.type('Won')
  const chosen = page.getByRole('menuitem', { name: 'Won' })
  for (let steps = 0; steps < 10; steps++) {
    if (await chosen.evaluate((one) => one === one.ownerDocument.activeElement)) break
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
  const [won] = await arrives('deal.won')
  assert.equal(JSON.parse(won?.body ?? '{}').data.name, 'First order')

  // The contact again, by the palette; a note on it.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type('lovelace')
  await page.getByRole('option', { name: /Ada Lovelace/ }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, /Ada Lovelace/)
  await page.keyboard.press('n')
  await page.keyboard.type('Wants an offer.')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Wants an offer.').first().waitFor()

  // To the trash and back.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type('delete contact')
  await page.getByRole('option', { name: 'Delete contact' }).waitFor()
  await page.keyboard.press('Enter')
  await arrives('contact.deleted')
  await pressTogether(page, 'g', 't')
  await heading(page, 'Trash')
  await tabTo(page, 'button', /Restore/)
  await page.keyboard.press('Enter')
  await arrives('contact.updated')
  const { body } = await rapport.call('GET', '/api/v1/contacts?search=lovelace')
  assert.equal(body.meta.total, 1)
  const { body: notes } = await rapport.call('GET', `/api/v1/contacts/${body.data[0].id}/notes`)
  assert.equal(notes.data[0].body, 'Wants an offer.')
})
