// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinAs } from '../web/people.ts'
import { untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

test('Enter takes the first match of a choice that is searched, in a fact and in a form', async (t) => {
  await joinAs(web.rapport, 'hanna@example.test', 'member', { name: 'Hanna Host' })
  const id = await web.create('/contacts', { first_name: 'Mary', last_name: 'Owned' })
  const page = await web.open(t, `/contacts/${id}`)
  await page.getByRole('button', { name: /^Owner: Edit/ }).click()
  const owner = page.getByRole('combobox', { name: 'Owner' })
  await owner.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('hann')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Owner: Edit Hanna Host' }).waitFor()

  await visit(page, '/contacts')
  await page.getByRole('button', { name: 'Create contact' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create contact' })
  await dialog.getByLabel('First name').fill('Katherine')
  await dialog.getByLabel('Last name').fill('Owned')
  const other = dialog.getByRole('combobox', { name: 'Owner' })
  await other.fill('nobody')
  await other.press('Enter')
  await other.fill('hann')
  await other.press('Enter')
  await untilEqual(() => other.inputValue(), 'Hanna Host')
  await other.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const [first, second] = await web.read('/contacts?search=owned')
  assert.deepEqual([first.owner_id, typeof second.owner_id], [second.owner_id, 'string'])
})

test('Enter takes the marked choice of a list that opens with a text of one event, such as a pasted one', async (t) => {
  await joinAs(web.rapport, 'pia@example.test', 'member', { name: 'Pia Pasted' })
  const page = await web.open(t, '/contacts')
  await page.getByRole('button', { name: 'Create contact' }).click()
  const owner = page.getByRole('dialog', { name: 'Create contact' }).getByRole('combobox', { name: 'Owner' })
  await owner.focus()
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  await owner.fill('pia')
  await page.getByRole('option', { name: 'Pia Pasted' }).waitFor()
  await owner.press('Enter')
  await untilEqual(() => owner.inputValue(), 'Pia Pasted')
  // The list is closed, and opens with the next text.
  await untilEqual(() => page.getByRole('option').count(), 0)
  await owner.fill('olivia')
  await owner.press('Enter')
  await untilEqual(() => owner.inputValue(), 'Olivia Owner (you)')
})

test('Enter waits for the answer to what is typed, and takes the choice that is marked', async (t) => {
  for (const name of ['Marked Alpha', 'Marked Charlie', 'Marked Delta'])
    await web.create('/companies', { name })
  const page = await web.open(t, '/deals?view=table')
  let answer = Promise.withResolvers<void>()
  await page.route(/\/companies\?/, async (route) => {
    await answer.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Create deal' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create deal' })
  const company = dialog.getByRole('combobox', { name: 'Company' })
  await company.fill('marked delt')
  await company.press('Enter')
  answer.resolve()
  await untilEqual(() => company.inputValue(), 'Marked Delta')

  await company.fill('marked')
  const choices = page.getByRole('option', { name: /^Marked/ })
  await untilEqual(() => choices.allInnerTexts(), ['Marked Alpha', 'Marked Charlie', 'Marked Delta'])
  // It is offered when the answer has come.
  await page.getByRole('option', { name: /^Create/ }).waitFor()
  await web.create('/companies', { name: 'Marked Bravo' })
  answer = Promise.withResolvers<void>()
  const asked = page.waitForRequest(/search=mark$|search=mark&/)
  await company.press('Backspace')
  await company.press('Backspace')
  await asked
  await company.press('ArrowDown')
  await company.press('ArrowDown')
  const marked = page.locator('[data-combobox-selected]')
  await untilEqual(() => marked.innerText(), 'Marked Delta')
  answer.resolve()
  await untilEqual(
    () => choices.allInnerTexts(),
    ['Marked Alpha', 'Marked Bravo', 'Marked Charlie', 'Marked Delta'],
  )
  assert.equal(await marked.innerText(), 'Marked Delta')
  await company.press('Enter')
  await untilEqual(() => company.inputValue(), 'Marked Delta')
})

test('an Enter that ends a composition adds no tag', async (t) => {
  const id = await web.create('/contacts', { first_name: 'Yoko', last_name: 'Composed' })
  const page = await web.open(t, `/contacts/${id}`)
  const tag = page.getByRole('textbox', { name: 'Add tag' })
  await tag.click()
  const keyboard = await page.context().newCDPSession(page)
  const text = 'えいぎょう'
  await keyboard.send('Input.imeSetComposition', { text, selectionStart: 5, selectionEnd: 5 })
  await untilEqual(() => tag.inputValue(), text)
  await page.keyboard.press('Enter')
  assert.equal(await tag.inputValue(), text)
  await keyboard.send('Input.insertText', { text: '営業' })
  await keyboard.detach()
  await untilEqual(() => tag.inputValue(), '営業')
  // Safari sends this Enter behind the composition, with the key code alone.
  await tag.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 })
  assert.equal(await tag.inputValue(), '営業')
  await page.keyboard.press('Enter')
  await untilEqual(async () => (await web.read(`/contacts/${id}`)).tags, ['営業'])
})
