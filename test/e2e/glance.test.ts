// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkScreen, phone, untilEqual, useWeb, visit } from '../web.ts'

const web = useWeb()

const factOf = (page: Page, label: string) =>
  page
    .locator('.glance > div')
    .filter({ has: page.locator('dt').getByText(label, { exact: true }) })
    .locator('dd')
const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

/** A company with a contact, two open deals, a call three days ago and a task to come. */
async function fill() {
  const company_id = await web.create('/companies', { name: 'Kessel AG' })
  const contact_id = await web.create('/contacts', { first_name: 'Ines', last_name: 'Kessel', company_id })
  const of = { company_id, contact_id }
  const deal_id = await web.create('/deals', { name: 'Kessel AG: Renewal', value: 1200, ...of })
  await web.create('/deals', { name: 'Kessel AG: Training', value: 300, ...of })
  const done = { type: 'call', completed_at: ago(3) }
  await web.create('/activities', {
    subject: 'Talk',
    outcome: 'Asked for a new offer',
    ...done,
    ...of,
    deal_id,
  })
  await web.create('/activities', { subject: 'Call with Ines Kessel', ...done, ...of })
  await web.create('/activities', { subject: 'Send the offer', due_at: ago(-5), ...of, deal_id })
  return { company_id, contact_id, deal_id }
}

test('a record says at a glance what is open, what is next, when somebody was reached, and whose it is', async (t) => {
  const { company_id, contact_id, deal_id } = await fill()
  const page = await web.open(t)
  for (const path of [`/contacts/${contact_id}`, `/companies/${company_id}`, `/deals/${deal_id}`]) {
    await visit(page, path)
    if (path.startsWith('/deals')) await untilEqual(() => factOf(page, 'Value').innerText(), '€1,200')
    else await untilEqual(() => factOf(page, 'Deals').innerText(), '2 open deals · €1,500')
    await factOf(page, 'Next step').getByRole('link', { name: 'Send the offer' }).waitFor()
    await untilEqual(() => factOf(page, 'Last contact').innerText(), '3 days ago')
    await page.getByRole('tab', { name: /^Activities \d$/ }).waitFor()
    await checkScreen(page)
  }
})

test('a timeline separates planned from past, writes sentences, and does not repeat the name of its record', async (t) => {
  const { company_id, contact_id, deal_id } = await fill()
  for (const stage of ['qualification', 'demo', 'proposal', 'negotiation'])
    await web.rapport.call('PUT', `/api/v1/deals/${deal_id}`, { stage })
  const page = await web.open(t, `/contacts/${contact_id}`)
  const past = page.getByRole('list', { name: 'Timeline' })
  await page.getByRole('list', { name: 'Planned' }).getByText('Task · Send the offer').waitFor()
  await past.getByText('Call · Asked for a new offer').waitFor()
  assert.equal(await past.getByText('Send the offer').count(), 0)
  await past.getByRole('link', { name: 'Call', exact: true }).waitFor()
  assert.equal(await past.getByText('Call with Ines Kessel').count(), 0)

  await visit(page, `/companies/${company_id}`)
  await past.getByText('Deal created · Renewal').waitFor()
  await visit(page, `/deals/${deal_id}`)
  await past.getByText('from New lead to Negotiation').waitFor()
  assert.equal(await past.getByRole('listitem').filter({ hasText: 'moved it' }).count(), 1)
  await past.getByText('4 moves').click()
  await past.getByText('from Demo to Proposal').waitFor()
})

test('on a phone, a record begins with its actions and what is next, and its facts are folded', async (t) => {
  const { contact_id } = await fill()
  const page = await web.open(t, `/contacts/${contact_id}`, phone)
  const task = page.getByRole('button', { name: 'Plan a task for Ines Kessel' })
  await task.waitFor()
  await factOf(page, 'Next step').getByRole('link', { name: 'Send the offer' }).waitFor()
  const facts = page.getByRole('region', { name: 'Facts' })
  await facts.waitFor({ state: 'hidden' })
  await checkScreen(page)
  await page.getByRole('button', { name: 'Facts' }).click()
  await facts.getByText('Ines', { exact: true }).waitFor()
  await task.click()
  await page.getByRole('dialog').getByLabel('Subject').waitFor()
})

test('a record shows the last contact and the open value of another person within seconds', async (t) => {
  const { company_id, contact_id, deal_id } = await fill()
  const page = await web.open(t, `/contacts/${contact_id}`)
  await untilEqual(() => factOf(page, 'Last contact').innerText(), '3 days ago')
  const call = { type: 'call', subject: 'Talk', completed_at: ago(0), company_id, contact_id }
  await web.create('/activities', call)
  await untilEqual(() => factOf(page, 'Last contact').innerText(), 'Today')
  await web.rapport.call('PUT', `/api/v1/deals/${deal_id}`, { value: 2200 })
  await untilEqual(() => factOf(page, 'Deals').innerText(), '2 open deals · €2,500')
})

test('a record asks for its tabs only, and its facts follow from them and from itself', async (t) => {
  const { contact_id, deal_id } = await fill()
  const page = await web.open(t)
  const reads: string[] = []
  page.on('request', (request) => reads.push(request.url().replace(/^.*\/api\/v1/, '')))
  // The news of the records that were just made may repeat a request.
  const asked = (what: RegExp) => [...new Set(reads.filter((path) => what.test(path)))]
  await visit(page, `/contacts/${contact_id}?tab=notes`)
  await untilEqual(() => factOf(page, 'Last contact').innerText(), '3 days ago')
  await untilEqual(() => factOf(page, 'Deals').innerText(), '2 open deals · €1,500')
  await factOf(page, 'Next step').getByRole('link', { name: 'Send the offer' }).waitFor()
  assert.deepEqual(asked(/\/timeline/), [])
  // Home may still ask when news come.
  assert.equal(asked(/^\/activities\?.*contact_id=/).length, 1)
  assert.equal(asked(/^\/deals\?.*contact_id=/).length, 1)

  reads.length = 0
  await visit(page, `/deals/${deal_id}?tab=notes`)
  await untilEqual(() => factOf(page, 'Last contact').innerText(), '3 days ago')
  assert.deepEqual(asked(/\/timeline/), [])
  // The page of the contact may still ask when news come.
  assert.equal(asked(/^\/activities\?.*deal_id=/).length, 1)
})

test('the last contact of a deal is found behind any number of later entries', async (t) => {
  const deal_id = await web.create('/deals', { name: 'Long talks' })
  await web.create('/activities', { subject: 'First call', type: 'call', completed_at: ago(2), deal_id })
  await web.create('/activities', { subject: 'Earlier', type: 'email', completed_at: ago(9), deal_id })
  for (let n = 0; n < 30; n++)
    await web.create('/activities', { subject: `Task ${n}`, due_at: ago(-n), deal_id })
  const page = await web.open(t, `/deals/${deal_id}`)
  await untilEqual(() => factOf(page, 'Last contact').innerText(), '2 days ago')
  await factOf(page, 'Next step').getByRole('link', { name: 'Task 0' }).waitFor()
})

test('on a phone, entries of a timeline have no button that explains them', async (t) => {
  const { contact_id } = await fill()
  const page = await web.open(t, `/contacts/${contact_id}`, phone)
  const entry = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').first()
  await entry.waitFor()
  assert.equal(await entry.getByRole('button').count(), 0)
})
