// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currencies as taken } from '../../src/access/people/currencies.ts'
import { createFormats, localeOf } from '../../web/src/app/intl.ts'
import { currencies as offered } from '../../web/src/people/currencies.ts'

const { relative, money, exactMoney, sum, date, shortCount } = createFormats('en-GB', 'Europe/Berlin', 'EUR')
const from = (now: string) => (then: string) => relative(then, Date.parse(now))

test('yesterday is the day before on the wall, and never two days ago', () => {
  const on_monday = from('2026-11-16T09:00:00Z')
  assert.equal(on_monday('2026-11-14T10:00:00Z'), '2 days ago')
  assert.equal(on_monday('2026-11-15T08:00:00Z'), 'yesterday')
  assert.equal(on_monday('2026-11-17T10:00:00Z'), 'tomorrow')
  // 23:30 on Saturday, 00:30 on Monday in Berlin: a day and an hour, but two days.
  assert.equal(from('2026-11-15T23:30:00Z')('2026-11-14T22:30:00Z'), '2 days ago')
})

test('less than a day is told in hours and minutes, more than a week by number', () => {
  const now = from('2026-11-16T09:00:00Z')
  assert.equal(now('2026-11-15T20:00:00Z'), '13 hr ago')
  assert.equal(now('2026-11-16T08:59:00Z'), '1 min ago')
  assert.equal(now('2026-11-03T09:00:00Z'), '1 wk ago')
  assert.equal(now('2026-09-01T09:00:00Z'), '2 mo ago')
})

test('the first of the reader’s regions for the language of the app decides how things are written', () => {
  assert.equal(localeOf('de', ['en-US', 'de-AT', 'de-DE']), 'de-AT')
  assert.equal(localeOf('de', ['en-US']), 'de')
})

test('amounts have the digits of their currency, sums none, and a whole amount no decimals', () => {
  assert.equal(money(1200), '€1,200')
  assert.equal(money(1200.5), '€1,200.50')
  assert.equal(money(753505.2402), '€753,505.24')
  assert.equal(sum(753505.2402), '€753,505')
  assert.equal(exactMoney(753505.2402), '€753,505.2402')
  assert.equal(exactMoney(1200), '€1,200')
  const yen = createFormats('en-GB', 'Europe/Berlin', 'JPY')
  assert.equal(yen.money(1200.5), 'JP¥1,201')
  const dinar = createFormats('en-GB', 'Europe/Berlin', 'KWD')
  assert.equal(dinar.money(1.2345), 'KWD\u00a01.235')
})

test('a count is short from a thousand on', () => {
  const short = [999, 1000, 1129, 9949, 9950, 12_345].map(shortCount)
  assert.deepEqual(short, ['999', '1k', '1.1k', '9.9k', '10k', '12k'])
})

test('a calendar day is the same everywhere', () => {
  assert.equal(date('2026-12-05'), '5 Dec 2026')
})

test('sums of a pipeline, in German: groups of three digits, no decimals, and a short form for axes', () => {
  const german = createFormats('de-DE', 'Europe/Berlin', 'EUR')
  assert.equal(german.sum(12_753_505.2402), '12.753.505\u00a0€')
  assert.equal(german.money(753505.2402), '753.505,24\u00a0€')
  assert.equal(german.exactMoney(0.0001), '0,0001\u00a0€')
  assert.equal(german.shortMoney(1_253_505.24), '1,3\u00a0Mio.\u00a0€')
  assert.equal(german.number(100_000), '100.000')
  assert.equal(german.percent(0.3333), '33,3\u00a0%')
  assert.equal(german.money(-1200), '-1.200\u00a0€')
})

test('a time is told in the zone of the person, a day and a month in none', () => {
  const late = '2026-11-23T23:30:00Z'
  assert.equal(createFormats('en-GB', 'Europe/Berlin', 'EUR').day(late), '24 Nov 2026')
  const chicago = createFormats('en-US', 'America/Chicago', 'USD')
  assert.equal(chicago.day(late), 'Nov 23, 2026')
  assert.equal(chicago.date('2026-12-31'), 'Dec 31, 2026')
  assert.equal(chicago.shortDate('2026-12-31'), 'Dec 31')
  assert.equal(chicago.month('2026-12'), 'Dec 26')
  assert.match(chicago.moment(late), /^Nov 23, 2026, 5:30\sPM$/)
})

test('a task that is overdue for 15 days says so in weeks, and a future one likewise', () => {
  const now = from('2026-11-23T09:00:00Z')
  assert.equal(now('2026-11-08T09:00:00Z'), '2 wk ago')
  assert.equal(now('2026-12-08T09:00:00Z'), 'in 2 wk')
  assert.equal(now('2026-11-23T08:59:30Z'), '30 sec ago')
})

test('amounts have the decimals of ISO 4217, where Intl has those of daily prices', () => {
  const shown = (currency: string) => createFormats('en-GB', 'UTC', currency).money(1234.5)
  for (const [currency, amount] of [
    ['IQD', '1,234.500'],
    ['HUF', '1,234.50'],
    ['AFN', '1,234.50'],
    ['VED', '1,234.50'],
    ['XAD', '1,234.50'],
    ['ISK', '1,235'],
    ['UYW', '1,234.5000'],
  ] as const)
    assert.ok(shown(currency).endsWith(amount), `${currency}: ${shown(currency)}`)
})

test('the web app offers the currencies that the API takes', () => {
  assert.deepEqual(new Set(offered), taken)
  for (const code of ['VED', 'XAD', 'EUR']) assert.ok(offered.includes(code))
})
