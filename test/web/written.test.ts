// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDay, readMoment, readTime, writeDay, writeMoment, writeTime } from '../../web/src/ui/day.ts'
import { readAmount, readNumber, writeNumber } from '../../web/src/ui/number.ts'
import { readSpokenDay, readSpokenMoment } from '../../web/src/ui/spoken-day.ts'
import { written } from '../../web/src/ui/written.ts'

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

test('a day in words is read in English and German, and refused where people mean two days', () => {
  // A Wednesday.
  const today = '2026-11-25'
  for (const [text, day] of [
    ['24 Dec', '2026-12-24'],
    ['24. Dez', '2026-12-24'],
    ['24. Dezember', '2026-12-24'],
    ['December 24th', '2026-12-24'],
    ['Dec 24, 2027', '2027-12-24'],
    ['24th of December 2027', '2027-12-24'],
    ['24. Dez. 2027', '2027-12-24'],
    ['3. März', '2027-03-03'],
    ['1 mar', '2027-03-01'],
    ['25 Nov', '2026-11-25'],
    ['24 Nov', '2027-11-24'],
    ['29 Feb', '2028-02-29'],
    ['today', '2026-11-25'],
    ['Heute', '2026-11-25'],
    ['tomorrow', '2026-11-26'],
    ['morgen', '2026-11-26'],
    ['übermorgen', '2026-11-27'],
    ['the day after tomorrow', '2026-11-27'],
    ['gestern', '2026-11-24'],
    ['+7d', '2026-12-02'],
    ['+2w', '2026-12-09'],
    ['-1d', '2026-11-24'],
    ['in 3 days', '2026-11-28'],
    ['in 3 Tagen', '2026-11-28'],
    ['in einer Woche', '2026-12-02'],
    ['+3m', '2027-02-25'],
    ['friday', '2026-11-27'],
    ['Fr', '2026-11-27'],
    ['kommenden Freitag', '2026-11-27'],
    ['wednesday', '2026-12-02'],
    ['next monday', '2026-11-30'],
    ['nächsten Montag', '2026-11-30'],
    ['next week', '2026-11-30'],
    // This Friday, or that of next week.
    ['next friday', null],
    ['nächsten Freitag', null],
    ['5/12', null],
    // Half of what is being typed.
    ['24.12.', null],
    ['31 Feb', null],
    ['24 ma', null],
    ['24 ju', null],
    ['24 Dec 26', null],
    ['soon', null],
    ['', null],
    ['+7', null],
    ['constructor', null],
  ] as const)
    assert.equal(readSpokenDay(text, today), day, text)
  assert.equal(readSpokenDay('+1m', '2026-01-31'), '2026-02-28')
  assert.equal(readSpokenDay('monday', '2026-11-29'), '2026-11-30')
})

test('a day in words with a time is that moment; without one it keeps the time, and a year is no time', () => {
  for (const [text, moment] of [
    ['tomorrow 14:30', '2026-11-26T14:30'],
    ['morgen um 14 Uhr', '2026-11-26T14:00'],
    ['24 Dec 9', '2026-12-24T09:00'],
    ['24. Dez, 14.30 Uhr', '2026-12-24T14:30'],
    ['next monday at 2:30 pm', '2026-11-30T14:30'],
    ['in 3 Tagen 8:15', '2026-11-28T08:15'],
    ['+7d', '2026-12-02T10:15'],
    ['24 Dec 2026', '2026-12-24T10:15'],
    ['24 Dec 2026 16:00', '2026-12-24T16:00'],
    ['tomorrow 24:00', null],
    ['tomorrow maybe', null],
    ['14:30', null],
  ] as const)
    assert.equal(readSpokenMoment(text, '2026-11-25', '10:15'), moment, text)
})

test('an amount is read as people write it, in the currency of the workspace only', () => {
  for (const [text, locale, value] of [
    ['€12,500', 'en-GB', 12_500],
    ['12,500 €', 'en-GB', 12_500],
    ['EUR 12,500.50', 'en-GB', 12_500.5],
    ['12.500,00', 'de-DE', 12_500],
    ['12.500,00', 'en-GB', 12_500],
    ['12.500,00 €', 'de-DE', 12_500],
    ['12.500 Euro', 'de-DE', 12_500],
    ['12k', 'en-GB', 12_000],
    ['12K', 'de-DE', 12_000],
    ['€1.5k', 'en-GB', 1500],
    ['1,5k', 'de-DE', 1500],
    ['12 Tsd. €', 'de-DE', 12_000],
    ['1.2m', 'en-GB', 1_200_000],
    ['1,2 Mio', 'de-DE', 1_200_000],
    ['-€3', 'en-GB', null],
    ['€-3', 'en-GB', -3],
    ['$12', 'en-GB', null],
    ['€', 'en-GB', null],
    ['k', 'en-GB', null],
    ['12kk', 'en-GB', null],
    ['12 apples', 'en-GB', null],
  ] as const)
    assert.equal(readAmount(text, locale, 'EUR'), value, `${locale}: ${text}`)
})

test('what has been written is what differs, whatever lies in it', () => {
  const monday: object[] = [{ from: '09:00' }]
  const saved = { title: 'Tour', week: { monday }, active: true }
  assert.deepEqual(written(structuredClone(saved), saved), {})
  const now = { ...saved, active: false, week: { monday: [] as object[] } }
  assert.deepEqual(written(now, saved), { active: false, week: { monday: [] } })
})
