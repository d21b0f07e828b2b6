// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type DealState, decide, isStage } from '../src/resources/deals/stages.ts'
import { type DemoData, readDemoData } from './data.ts'
import { dataFile, generateDemoData, toLines } from './generate.ts'

const data = readDemoData()
const now = '2026-11-23T09:00:00.000Z'

test('the shipped rows are byte for byte what the generator makes', () => {
  for (const [kind, rows] of Object.entries(generateDemoData()) as [keyof DemoData, object[]][]) {
    assert.equal(readFileSync(dataFile(kind), 'utf8'), toLines(rows), kind)
  }
})

test('every reference names a row of the files, and a contact belongs to the company of its deal', () => {
  const companies = new Set(data.companies.map(({ key }) => key))
  const contacts = new Map(data.contacts.map((contact) => [contact.key, contact]))
  assert.equal(companies.size, data.companies.length)
  assert.equal(contacts.size, data.contacts.length)
  assert.equal(new Set(data.deals.map(({ key }) => key)).size, data.deals.length)
  for (const { company } of data.contacts) assert.ok(company === undefined || companies.has(company))
  for (const { key, company, contact } of data.deals) {
    assert.ok(company ?? contact, key)
    if (company) assert.ok(companies.has(company), key)
    if (contact) assert.equal(contacts.get(contact)?.company, company, key)
  }
})

test('every deal can go through its stage moves, each of which changes the stage', () => {
  for (const { key, body, moves } of data.deals) {
    const created = decide(null, { stage: body.stage }, { now, operation: 'create' })
    assert.ok(created.problems === undefined, key)
    let state: DealState = created.state
    for (const move of moves) {
      const moved = decide(state, move, { now, operation: 'change_stage' })
      assert.ok(moved.problems === undefined, `${key} ${JSON.stringify(move)}`)
      assert.equal(moved.previous_stage, state.stage, key)
      assert.ok(isStage(move.stage))
      state = moved.state
    }
  }
})

test('every value is inside the limits of the contract', () => {
  for (const { body } of [...data.companies, ...data.contacts, ...data.deals]) {
    for (const [field, value] of Object.entries(body)) {
      if (typeof value !== 'string') continue
      const limit = field === 'phone' || field === 'mobile' || field === 'stage' ? 64 : 255
      assert.ok(value === value.trim() && value !== '' && [...value].length <= limit, `${field}: ${value}`)
    }
  }
  for (const { body } of data.contacts) {
    if (body.email) assert.match(String(body.email), /^[a-z0-9.-]+@([a-z0-9-]+\.example|example\.com)$/)
  }
  for (const { key, body, moves } of data.deals) {
    assert.match(String(body.expected_close_date), /^202[67]-\d\d-\d\d$/)
    const { value = 0, probability = 0 } = body as { value?: number; probability?: number }
    assert.ok(value >= 0 && value <= 99_999_999_999.9999, key)
    assert.match(String(value), /^\d+(\.\d{1,4})?$/, key)
    for (const percent of [probability, ...moves.map((move) => move.probability ?? 0)]) {
      assert.ok(Number.isInteger(percent) && percent >= 0 && percent <= 100, key)
    }
  }
})

test('the rows cover the scripts, the amounts and the ways of a deal that the demo shows', () => {
  const people = data.contacts.map(({ body }) => body.first_name + body.last_name)
  const names = [...people, ...data.companies.map(({ body }) => body.name)].join(' ')
  const scripts = 'Latin Cyrillic Greek Arabic Hebrew Han Hiragana Katakana Hangul Devanagari'
  for (const script of scripts.split(' ')) {
    assert.ok(new RegExp(`\\p{Script=${script}}`, 'u').test(names), script)
  }
  assert.ok(data.deals.some(({ body }) => /\.\d{4}$/.test(String(body.value))))
  const ways = data.deals.map(({ moves }) => moves.map(({ stage }) => stage).join(' '))
  for (const way of [/won$/, /lost$/, /lost negotiation won$/, /won lost$/, /demo$/]) {
    assert.ok(
      ways.some((stages) => way.test(stages)),
      String(way),
    )
  }
})
