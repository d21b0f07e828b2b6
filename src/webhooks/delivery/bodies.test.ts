// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, createBodies } from '../../app.ts'

const build = createBodies('https://crm.example')
const payloadOf = (event: string, data: object, more: object = {}) => ({
  seq: 7,
  payload: JSON.stringify({
    id: 'evt_1',
    event,
    timestamp: '2026-11-21T08:30:00.000Z',
    sequence: 0,
    data,
    ...more,
  }),
})
const deal = { id: 42, name: 'Relaunch' }
const moved = { ...deal, previous_stage: 'new_lead', new_stage: 'verbal_commitment' }
const actor = { kind: 'person', id: 'usr_1', name: 'Ana Ruiz' }

const slackOf = (...args: Parameters<typeof payloadOf>) =>
  JSON.parse(build(payloadOf(...args), 'wh_1', 'slack'))
const teamsOf = (...args: Parameters<typeof payloadOf>) =>
  JSON.parse(build(payloadOf(...args), 'wh_1', 'teams')).attachments[0].content
const textOf = (event: string, data: object, more?: object) => slackOf(event, data, more).text

test('a message is a sentence with the name of the record, its change, its author and a link', () => {
  const stage =
    'Deal Relaunch moved from new lead to verbal commitment by Ana Ruiz. https://crm.example/deals/42'
  assert.equal(textOf('deal.stage_changed', moved, { actor }), stage)
  const changed = { changed_fields: ['value', 'expected_close_date'], previous: {} }
  assert.equal(
    textOf('deal.updated', deal, changed),
    'Deal Relaunch was changed: value, expected close date. https://crm.example/deals/42',
  )
  assert.equal(
    textOf('contact.created', { id: 7, first_name: 'Ana', last_name: 'Ruiz' }),
    'Contact Ana Ruiz was created. https://crm.example/contacts/7',
  )
  assert.match(textOf('appointment.created', { id: 3, title: 'Demo' }), /\/calendar\/3$/)
  assert.equal(textOf('deal.deleted', deal), 'Deal Relaunch was deleted.')
  assert.equal(
    textOf('deal.won', { id: 42 }, { test: true }),
    'Test: Deal 42 was won. https://crm.example/deals/42',
  )
  assert.equal(textOf('ping', { message: 'pong' }), 'This is a test of your webhook.')
})

test('every event of the catalogue has a sentence', () => {
  for (const { name, example } of catalogue) {
    const text = textOf(name, example)
    assert.match(text, /^[A-Z][a-z]+ .+ (was|moved) .*\./, `${name}: ${text}`)
    assert.ok(!text.includes('new event'), name)
  }
})

test('without a public address there is no link', () => {
  const body = createBodies(null)(payloadOf('deal.won', deal), 'wh_1', 'teams')
  assert.ok(!body.includes('http://crm') && !body.includes('Action.OpenUrl'))
})

const hostile = '*Bold* <!channel> <https://evil.example|click> & `x`\n_new_ [line](https://evil.example)'
const in_one_line = hostile.replace('\n', ' ')

test('markup in names is text: for Slack in parts without markup, with entities beside them', () => {
  const { text, mrkdwn, blocks } = slackOf('deal.won', { ...deal, name: hostile })
  assert.deepEqual(blocks[0].elements[0].elements, [
    { type: 'text', text: 'Deal ' },
    { type: 'link', url: 'https://crm.example/deals/42', text: in_one_line },
    { type: 'text', text: ' was won.' },
  ])
  assert.equal(mrkdwn, false)
  assert.ok(text.includes('*Bold* &lt;!channel&gt; &lt;https://evil.example|click&gt; &amp; `x` _new_'), text)
})

test('markup in names is text: for Teams in runs of an Adaptive Card', () => {
  const card = teamsOf('deal.won', { ...deal, name: hostile })
  assert.deepEqual([card.type, card.version, card.body.length], ['AdaptiveCard', '1.4', 1])
  assert.deepEqual(card.body[0], {
    type: 'RichTextBlock',
    inlines: [
      { type: 'TextRun', text: 'Deal ' },
      { type: 'TextRun', text: in_one_line, weight: 'Bolder' },
      { type: 'TextRun', text: ' was won.' },
    ],
  })
  assert.deepEqual(card.actions, [
    { type: 'Action.OpenUrl', title: 'Open', url: 'https://crm.example/deals/42' },
  ])
})

test('a long name is cut between characters', () => {
  const { blocks } = slackOf('deal.won', { ...deal, name: '💡'.repeat(255) })
  assert.equal(blocks[0].elements[0].elements[1].text, `${'💡'.repeat(150)}…`)
})

test('the envelope is the payload with the webhook and the sequence', () => {
  const { sequence, webhook_id, data } = JSON.parse(build(payloadOf('deal.won', deal), 'wh_1', null))
  assert.deepEqual([sequence, webhook_id, data], [7, 'wh_1', deal])
})
