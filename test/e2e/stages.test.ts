// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { stages } from '../../src/resources/deals/stages.ts'
import { mergeTexts } from '../../web/src/settings/merge-texts.ts'
import { joinAs } from '../web/people.ts'
import { checkScreen, phone, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

test('an administrator names, orders and colours the stages, and every screen follows', async (t) => {
  const id = await web.create('/deals', { name: 'Crane', stage: 'proposal', value: 100 })
  const page = await web.open(t, '/settings/stages', { reusable: false })
  await page.getByLabel('Name of Proposal').fill('Offer sent')
  await page.getByLabel('Probability of Offer sent, in percent').fill('45')
  await page.getByLabel('Days after which Offer sent stands still').fill('30')
  await page.getByRole('button', { name: 'Move Offer sent up' }).click()
  await page.getByLabel('Colour of Offer sent').fill('#123456')
  await page.getByLabel('Reasons of a loss').fill('Too dear\n\n No need ')
  await page.getByLabel('Stages of contacts').fill('lead\ncustomer')
  await checkScreen(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const saved = await web.read('/workspace/stages')
  assert.deepEqual(saved.lost_reasons, ['Too dear', 'No need'])
  assert.deepEqual(saved.deal_stages[2], {
    stage: 'proposal',
    label: 'Offer sent',
    colour: '#123456',
    probability: 45,
    stale_after_days: 30,
  })

  await visit(page, '/deals')
  const heads = page.locator('.column-name, .column h2')
  await page.getByText('Offer sent').first().waitFor()
  const order = await heads.allTextContents()
  assert.ok(
    order.findIndex((name) => /Offer sent/.test(name)) < order.findIndex((name) => /^Demo/.test(name)),
    order.join(),
  )
  await visit(page, `/deals/${id}`)
  await page.getByText('45%').waitFor()
  await page.locator('.steps').getByText('Offer sent').first().waitFor()

  // A loss is one click on a kept reason.
  await page.locator('.steps').getByRole('button', { name: 'Lost' }).click()
  await page.getByRole('button', { name: 'Too dear' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await untilEqual(async () => (await web.read(`/deals/${id}`)).lost_reason, 'Too dear')

  // A contact gets one of the kept stages.
  await visit(page, '/contacts')
  await page.getByRole('button', { name: 'Create contact' }).first().click()
  await page.getByRole('dialog').getByLabel('Stage', { exact: true }).click()
  await untilEqual(() => page.getByRole('option').allTextContents(), ['lead', 'customer'])
})

test('on a phone and in the dark, the settings of the stages fit', async (t) => {
  const page = await web.open(t, '/settings/stages', { ...phone, colorScheme: 'dark' })
  await page.getByLabel('Name of Demo').waitFor()
  await checkScreen(page)
})

test('a member sees the settings of the stages, and cannot change them', async (t) => {
  const session = await joinAs(web.rapport, 'mia@example.test', 'member')
  const page = await web.open(t, '/settings/stages', { session })
  assert.ok(await page.getByLabel('Name of Demo').isDisabled())
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
})

test('the keyboard stays at a stage that is moved to an end or gets its usual colour', async (t) => {
  const page = await web.open(t, '/settings/stages')
  const press = async (name: string) => {
    await page.getByRole('button', { name }).focus()
    await page.keyboard.press('Enter')
  }
  await press('Move Qualification up')
  await page.locator('.stages tbody tr').first().getByLabel('Name of Qualification').waitFor()
  await page
    .getByRole('button', { name: 'Move Qualification up', disabled: true })
    .and(page.locator(':focus'))
    .waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.stages tbody tr').first().getByLabel('Name of Qualification').waitFor()
  await press('Move Qualification down')
  await page.getByLabel('Colour of Demo').fill('#123456')
  await press('Usual colour of Demo')
  await page.getByLabel('Colour of Demo').and(page.locator(':focus')).waitFor()
})

test('a refused setting of a stage gets the focus', async (t) => {
  const page = await web.open(t, '/settings/stages', { allow: /status of 422/ })
  const probability = page.getByLabel(/Probability of .*Demo.*, in percent/)
  await probability.fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await probability.and(page.locator(':focus')).waitFor()
})

test('two people who change the stages and the lists at once lose nothing of each other', async (t) => {
  const body = { deal_stages: stages.map((stage) => ({ stage })), lost_reasons: ['Price'] }
  await web.rapport.call('PUT', '/api/v1/workspace/stages', body)
  const session = await joinAs(web.rapport, 'ana@example.test', 'admin')
  const page = await web.open(t, '/settings/stages', { load: true })
  const other = await web.open(t, '/settings/stages', { session })
  const save = async (one: Page) => {
    await one.getByRole('button', { name: 'Save' }).click()
    await one.getByText('Saved', { exact: true }).waitFor()
  }
  await page.getByLabel('Name of Proposal').fill('Offer sent')
  await page.getByLabel('Reasons of a loss').fill('Price\nTiming')
  await other.getByLabel('Name of Demo').fill('Show')
  await other.getByLabel('Probability of Proposal, in percent').fill('45')
  await other.getByRole('button', { name: 'Move Qualification up' }).click()
  await other.getByLabel('Reasons of a loss').fill('No budget')
  await other.getByLabel('Stages of contacts').fill('lead')
  await save(other)
  // A window that gets the focus reads what others have saved, and keeps what is written.
  const contact_stages = page.getByLabel('Stages of contacts')
  await untilEqual(async () => {
    await page.evaluate("dispatchEvent(new Event('focus'))")
    return contact_stages.inputValue()
  }, 'lead')
  await save(page)
  await untilEqual(() => page.getByLabel('Name of Show').inputValue(), 'Show')
  const { deal_stages, lost_reasons } = await web.read('/workspace/stages')
  assert.deepEqual(
    deal_stages
      .slice(0, 4)
      .map(({ stage, label, probability }: Record<string, unknown>) => [stage, label, probability]),
    [
      ['qualification', null, 20],
      ['new_lead', null, 10],
      ['demo', 'Show', 40],
      ['proposal', 'Offer sent', 45],
    ],
  )
  assert.deepEqual(lost_reasons, ['No budget', 'Timing'])
})

test('a reason of a loss that is too long says so at its list', async (t) => {
  const page = await web.open(t, '/settings/stages', { allow: /status of 422/ })
  const reasons = page.getByLabel('Reasons of a loss')
  await reasons.fill(`Price\n${'x'.repeat(300)}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('At most 255').waitFor()
  await reasons.and(page.locator(':focus')).waitFor()
  await reasons.fill('Price')
  await page.getByText('At most 255').waitFor({ state: 'detached' })
})

test('of two people, one sorts a list of texts and the other one extends it: both are kept', () => {
  const base = ['Price', 'Timing', 'Other']
  const sorted = ['Other', 'Price', 'Timing']
  assert.deepEqual(mergeTexts(base, sorted, [...base, 'No budget']), [...sorted, 'No budget'])
  const shorter = ['Price', 'Other']
  assert.deepEqual(mergeTexts(base, sorted, shorter), ['Other', 'Price'])
  assert.deepEqual(mergeTexts(base, ['Price', 'Taste', 'Timing', 'Other'], shorter), [...shorter, 'Taste'])
})
