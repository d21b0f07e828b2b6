// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settled, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

test('a click with Shift selects all rows between, and clears them again', async (t) => {
  for (const last_name of ['One', 'Two', 'Three', 'Four', 'Five'])
    await web.rapport.call('POST', '/api/v1/contacts', { first_name: 'Range', last_name })
  const page = await web.open(t, '/contacts?search=Range&sort=id')
  const boxes = page.locator('tbody').getByRole('checkbox')
  const checked = () =>
    boxes.evaluateAll((all) => all.map((one) => (one as unknown as { checked: boolean }).checked))
  await boxes.nth(4).waitFor()
  await boxes.nth(1).click()
  await boxes.nth(3).click({ modifiers: ['Shift'] })
  assert.deepEqual(await checked(), [false, true, true, true, false])
  await boxes.nth(2).click({ modifiers: ['Shift'] })
  assert.deepEqual(await checked(), [false, true, false, false, false])
  const ids = (await web.read('/contacts')).map(({ id }: { id: number }) => id)
  for (const id of ids) await web.rapport.call('DELETE', `/api/v1/contacts/${id}`)
})

test('what was just created is opened from its toast, by the key o, though no list shows it', async (t) => {
  const page = await web.open(t, '/calendar')
  await settled(page)
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create appointment' })
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Yearly review')
  await dialog.getByRole('textbox', { name: 'Start' }).fill('+7d 10:00')
  await page.keyboard.press('Enter')
  const toast = page.getByRole('alert').filter({ hasText: 'Yearly review created' })
  const [{ id, start_at }] = await web.read('/appointments').then(async (found) => {
    await toast.waitFor()
    return found.length ? found : web.read('/appointments')
  })
  assert.ok(Date.parse(start_at) > Date.now() + 5 * 86_400_000, start_at)
  await untilEqual(() => toast.getByRole('link', { name: 'Open' }).getAttribute('href'), `/calendar/${id}`)
  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 1, name: 'Yearly review' }).waitFor()
  await toast.waitFor({ state: 'detached' })

  await visit(page, '/deals')
  await settled(page)
  await page.keyboard.press('c')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Far away')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Value' }).fill('€12.5k')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByRole('link', { name: 'Open' }).click()
  await page.getByRole('heading', { level: 1, name: 'Far away' }).waitFor()
  assert.equal((await web.read('/deals?search=Far'))[0].value, 12_500)
})

test('the dialog of a contact creates its company, which Enter on the marked line chooses', async (t) => {
  const page = await web.open(t, '/contacts')
  await settled(page)
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.getByLabel('First name').fill('Wile')
  await dialog.getByLabel('Last name').fill('Coyote')
  await dialog.getByLabel('E-mail').fill('wile@example.test')
  await dialog.getByLabel('Phone').fill('+49 30 5550100')
  await dialog.getByRole('combobox', { name: 'Company' }).fill('Acme')
  await page.locator('[role=option][data-combobox-selected]', { hasText: 'Create company “Acme”' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Acme created').waitFor()
  await dialog.getByRole('button', { name: 'Create contact' }).click()
  await dialog.waitFor({ state: 'detached' })
  const [contact] = await web.read('/contacts')
  assert.equal(contact.company.name, 'Acme')

  // On its page, too, by the mouse.
  await visit(page, `/contacts/${contact.id}`)
  const phone = page.getByRole('link', { name: 'Call +49 30 5550100' })
  await untilEqual(() => phone.getAttribute('href'), 'tel:+49305550100')
  const email = page.getByRole('link', { name: 'Write an e-mail to wile@example.test' })
  await untilEqual(() => email.getAttribute('href'), 'mailto:wile@example.test')
  await page.getByRole('button', { name: 'Company: Edit' }).click()
  await page.getByRole('combobox', { name: 'Company' }).fill('Roadrunner Ltd')
  await page.getByRole('option', { name: 'Create company “Roadrunner Ltd”' }).click()
  await page.getByRole('link', { name: 'Roadrunner Ltd' }).first().waitFor()
  assert.equal((await web.read(`/contacts/${contact.id}`)).company.name, 'Roadrunner Ltd')
})

test('a company is not offered as a new one before the search has answered, nor after it has failed', async (t) => {
  const company_id = await web.create('/companies', { name: 'Harbour Ltd' })
  await web.create('/companies', { name: 'Lighthouse Ltd' })
  const id = await web.create('/contacts', { first_name: 'Grace', last_name: 'Darling', company_id })
  const page = await web.open(t, `/contacts/${id}`, { allow: /status of 500/ })
  const search = /\/api\/v1\/companies\?/
  const { promise: late, resolve: fail } = Promise.withResolvers<void>()
  await page.route(search, async (route) => {
    await late
    await route.fulfill({ status: 500, json: { success: false, error: { code: 'internal_error' } } })
  })
  await page.getByRole('button', { name: 'Company: Edit' }).click()
  const field = page.getByRole('combobox', { name: 'Company' })
  await field.and(page.locator(':focus')).waitFor()
  const asked = page.waitForRequest((request) => request.url().includes('Lighthouse'))
  await page.keyboard.type('Lighthouse')
  await asked
  // Typing has replaced the name.
  assert.equal(await field.inputValue(), 'Lighthouse')
  const create = page.getByRole('option', { name: /^Create company/ })
  assert.equal(await create.count(), 0)
  fail()
  await page.getByRole('alert').getByText('Something went wrong in the service').waitFor()
  assert.equal(await create.count(), 0)
  await page.unroute(search)
  await page.keyboard.type(' L')
  await page.getByRole('option', { name: 'Lighthouse Ltd' }).waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('typing after a click into a field for a record replaces the chosen record', async (t) => {
  await web.create('/companies', { name: 'Anchor Ltd' })
  const page = await web.open(t, '/contacts?create=1')
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  const field = dialog.getByRole('combobox', { name: 'Company' })
  await field.fill('Anchor')
  await page.getByRole('option', { name: 'Anchor Ltd' }).click()
  await dialog.getByLabel('First name').click()
  await field.click()
  await page.keyboard.type('Buoy')
  assert.equal(await field.inputValue(), 'Buoy')
})

test('the header of a record starts a note, a deal and an appointment for it', async (t) => {
  const create = async (path: string, body: object) =>
    (await web.rapport.call('POST', `/api/v1${path}`, body)).body.data.id as number
  const contact_id = await create('/contacts', { first_name: 'Zoë', last_name: "O'Neil-Ångström" })
  const page = await web.open(t, `/contacts/${contact_id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: "Add deal for Zoë O'Neil-Ångström" }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Pilot')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const [deal] = await web.read('/deals?search=Pilot')
  assert.equal(deal.contact_id, contact_id)
  await page.getByRole('button', { name: 'Write a note' }).click()
  await page.keyboard.type('Prefers mornings')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('listitem').filter({ hasText: 'Prefers mornings' }).waitFor()

  // An appointment is with the contact of the deal.
  await visit(page, `/deals/${deal.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Add appointment for Pilot' }).click()
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Kick-off')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const [appointment] = await web.read(`/appointments?contact_id=${contact_id}`)
  assert.equal(appointment.title, 'Kick-off')
})
