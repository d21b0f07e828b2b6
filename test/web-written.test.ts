// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDay, readMoment, readTime, writeDay, writeMoment, writeTime } from '../web/src/ui/day.ts'
import { readNumber, writeNumber } from '../web/src/ui/number.ts'

test('a typed day is the one that the locale, its points or the year in front say, or none', () => {
  for (const [text, locale, day] of [
    ['2026-12-05', 'en-US', '2026-12-05'],
    ['05/12/2026', 'en-GB', '2026-12-05'],
    ['12/05/2026', 'en-US', '2026-12-05'],
    ['5.12.2026', 'en-US', '2026-12-05'],
    ['5. 12. 2026', 'de-DE', '2026-12-05'],
    ['31/02/2026', 'en-GB', null],
    ['5.12.26', 'de-DE', null],
    ['5.12.', 'de-DE', null],
    ['soon', 'en-GB', null],
  ] as const)
    assert.equal(readDay(text, locale), day, text)
})

test('a typed time is read in each of the usual forms, and never as another one', () => {
  for (const [text, time] of [
    ['14:30', '14:30'],
    ['9', '09:00'],
    ['14.30 Uhr', '14:30'],
    ['1430', '14:30'],
    ['2:30 pm', '14:30'],
    ['2:30\u202fPM', '14:30'],
    ['12:15 a.m.', '00:15'],
    ['12 pm', '12:00'],
    ['24:00', '24:00'],
    ['24:01', null],
    ['14:60', null],
    ['14:30 pm', null],
    ['0 am', null],
    ['14:3', null],
    ['noon', null],
  ] as const)
    assert.equal(readTime(text), time, text)
})

test('a typed moment is its day and its time; half of one is none', () => {
  for (const [text, locale, moment] of [
    ['2026-12-05 14:30', 'en-US', '2026-12-05T14:30'],
    ['2026-12-05T14:30', 'de-DE', '2026-12-05T14:30'],
    ['05/12/2026 14:30', 'en-GB', '2026-12-05T14:30'],
    ['12/05/2026, 2:30 PM', 'en-US', '2026-12-05T14:30'],
    ['05.12.2026 14.30 Uhr', 'de-DE', '2026-12-05T14:30'],
    ['5. 12. 2026 9', 'de-DE', '2026-12-05T09:00'],
    ['5. 12. 2026', 'de-DE', null],
    ['05/12/2026', 'en-GB', null],
    ['14:30', 'en-GB', null],
    ['2026-12-05 24:00', 'en-GB', null],
    ['2026-12-05T14:30:00Z', 'en-GB', null],
    ['31/02/2026 10:00', 'en-GB', null],
  ] as const)
    assert.equal(readMoment(text, locale), moment, text)
})

test('a typed number is what its signs say in the locale, and nothing where they say two things', () => {
  for (const [text, locale, value] of [
    ['12,500', 'en-GB', 12_500],
    ['12.500', 'de-DE', 12_500],
    ['12500', 'de-DE', 12_500],
    ['1.234.567,5', 'de-DE', 1_234_567.5],
    ['1234,50', 'de-DE', 1234.5],
    ['1.5', 'de-DE', 1.5],
    ['1234.5678', 'de-DE', 1234.5678],
    ['12,5', 'en-GB', 12.5],
    ['1,234.50', 'de-DE', 1234.5],
    ['1.234.567', 'en-GB', 1_234_567],
    ['.5', 'en-GB', 0.5],
    ['-3', 'en-GB', -3],
    ['−3,5', 'de-DE', -3.5],
    ['12 500', 'de-DE', 12_500],
    ['12’500.5', 'de-CH', 12_500.5],
    ['12,50,000', 'en-IN', 1_250_000],
    ['1234,567', 'en-GB', null],
    ['1234.567', 'de-DE', null],
    ['12,50,0', 'en-GB', null],
    ['1 2', 'en-GB', null],
    ['-', 'en-GB', null],
    ['.', 'en-GB', null],
    ['1e5', 'en-GB', null],
    ['12 apples', 'en-GB', null],
    ['9'.repeat(400), 'en-GB', null],
  ] as const)
    assert.equal(readNumber(text, locale), value, `${locale}: ${text}`)
})

test('what a field writes of a value it reads as the same value', () => {
  for (const locale of ['en-GB', 'en-US', 'en-CA', 'en-IN', 'en-ZA', 'en-FI', 'de-DE', 'de-AT', 'de-CH']) {
    for (const value of [0, 0.0001, -1.5, 999.5, 1234, 12_345.6789, 1_234_567_890])
      assert.equal(readNumber(writeNumber(value, locale), locale), value, `${locale}: ${value}`)
    assert.equal(readDay(writeDay('2026-12-05', locale), locale), '2026-12-05', locale)
    for (const time of ['00:00', '09:05', '12:00', '23:59']) {
      assert.equal(readTime(writeTime(time, locale)), time, locale)
      const moment = `2026-12-05T${time}`
      assert.equal(readMoment(writeMoment(moment, locale), locale), moment, locale)
    }
  }
})
