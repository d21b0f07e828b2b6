import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderOf, readMoment } from './days.ts'
import { decimalOf, readNumber } from './numbers.ts'
import { splitName } from './person-names.ts'
import { codesBy, readBoolean, readCode, severalOf } from './words.ts'

const numberOf = (text: string, decimal: '.' | ',' | null = null) => {
  const read = readNumber(text, decimal)
  return read === null || read === 'two' ? read : read.value
}

test('a number with one reading is read, however thousands, decimals, signs and currencies are written', () => {
  const read: [string, number][] = [
    ['1250', 1250],
    ['1,250.50', 1250.5],
    ['1.250,50', 1250.5],
    ['1.250,50 EUR', 1250.5],
    ['12.500,50 €', 12_500.5],
    ['€12,500.50', 12_500.5],
    ['1 250,50', 1250.5],
    ['1\u00a0250,50', 1250.5],
    ['1\u202f250\u202f000,5', 1_250_000.5],
    ["1'250.50", 1250.5],
    ['CHF 1’250.50', 1250.5],
    ['CHF 1250.–', 1250],
    ['1.250,- €', 1250],
    ['12.500,--', 12_500],
    ["CHF 1'250'000", 1_250_000],
    ['12,34,567.50', 1_234_567.5],
    ['₹ 1,00,000', 100_000],
    ['1.250.000', 1_250_000],
    ['1,250,000', 1_250_000],
    ['12,5', 12.5],
    ['0,125', 0.125],
    ['0.125', 0.125],
    ['1234,567', 1234.567],
    ['-12.50', -12.5],
    ['−12,50', -12.5],
    ['€ -12.50', -12.5],
    ['-€12.50', -12.5],
    ['(1,250.50)', -1250.5],
    ['12.50-', -12.5],
    ['+7', 7],
    ['US$ 99.90', 99.9],
    ['99,90 kr', 99.9],
    ['1e3', 1000],
    ['.5', 0.5],
    ['25%', 25],
    ['12,5 %', 12.5],
    ['1.250,50 kr.', 1250.5],
    ['kr. -1.250,50', -1250.5],
    ['Fr. 1250.50', 1250.5],
    ['Rs. 1,250.50', 1250.5],
    ['1.250,50 TL', 1250.5],
    ['1 250,50 руб.', 1250.5],
    ['$(1,250.50)', -1250.5],
  ]
  for (const [text, value] of read) assert.equal(numberOf(text), value, text)
})

test('a number with two readings is read by the decimal sign of its column only', () => {
  for (const text of ['1.250', '12,500', '€ 1.234', '123.456']) {
    assert.equal(numberOf(text), 'two', text)
    assert.equal(decimalOf(text), null, text)
  }
  assert.equal(numberOf('1.234', ','), 1234)
  assert.equal(numberOf('1.234', '.'), 1.234)
  assert.equal(numberOf('1,234', '.'), 1234)
  assert.equal(numberOf('-1,234 €', ','), -1.234)
})

test('other texts are not read as numbers', () => {
  for (const text of [
    '',
    ' ',
    'abc',
    '12 apples',
    '1,2,3',
    '1.2.3',
    '12.3456.789',
    '1,25,00',
    '--5',
    '5 000 00',
    '1 2',
    '€',
    '1€2',
    '12:30',
    '2026-01-01',
    '(-5)',
    'EUR 5 USD',
    '1.250,5,5',
  ])
    assert.equal(numberOf(text), null, text)
})

test('a number shows the decimal sign of its column', () => {
  for (const text of ['1.250,50', '12,5', '1.250.000', '0,125']) assert.equal(decimalOf(text), ',', text)
  for (const text of ['1,250.50', '12.5', '1,250,000', "1'250.50", '0.125'])
    assert.equal(decimalOf(text), '.', text)
  for (const text of ['1250', '', 'abc', '1,250', '1.250', '1,2,3']) assert.equal(decimalOf(text), null, text)
})

test('every number that a locale writes is read with the decimal sign of this locale', () => {
  const signs = {
    'de-DE': ',',
    'en-US': '.',
    'de-CH': '.',
    'fr-FR': ',',
    'en-IN': '.',
    'sv-SE': ',',
    'pt-BR': ',',
  } as const
  const locale = fc.constantFrom(...(Object.keys(signs) as (keyof typeof signs)[]))
  fc.assert(
    fc.property(
      fc.integer({ min: -(10 ** 11), max: 10 ** 11 }),
      fc.integer({ min: 0, max: 4 }),
      locale,
      (units, digits, name) => {
        const value = units / 10 ** digits
        const text = value.toLocaleString(name, {
          minimumFractionDigits: digits,
          maximumFractionDigits: digits,
        })
        assert.equal(numberOf(text, signs[name]), value === 0 ? 0 : value, `${name} ${text}`)
      },
    ),
  )
})

test('an amount with its currency is read as spreadsheets of many countries write it', () => {
  const currencies = {
    ...{ 'bg-BG': 'BGN', 'cs-CZ': 'CZK', 'da-DK': 'DKK', 'de-AT': 'EUR', 'de-CH': 'CHF', 'en-GB': 'GBP' },
    ...{ 'en-IN': 'INR', 'en-US': 'USD', 'en-ZA': 'ZAR', 'fr-CA': 'CAD', 'he-IL': 'ILS', 'hu-HU': 'HUF' },
    ...{ 'id-ID': 'IDR', 'is-IS': 'ISK', 'ja-JP': 'JPY', 'ko-KR': 'KRW', 'ms-MY': 'MYR', 'nb-NO': 'NOK' },
    ...{ 'pl-PL': 'PLN', 'pt-BR': 'BRL', 'ro-RO': 'RON', 'ru-RU': 'RUB', 'sv-SE': 'SEK', 'tr-TR': 'TRY' },
    ...{ 'uk-UA': 'UAH', 'vi-VN': 'VND', 'zh-CN': 'CNY', 'zh-TW': 'TWD' },
  }
  for (const [locale, currency] of Object.entries(currencies))
    for (const currencySign of ['standard', 'accounting'] as const)
      for (const value of [1234.5, -1_250_000.25]) {
        const form = { style: 'currency', currency, currencySign, minimumFractionDigits: 2 } as const
        const text = value.toLocaleString(locale, form)
        assert.deepEqual(readNumber(text, null), { value, percent: false, money: true }, `${locale} ${text}`)
      }
})

const momentOf = (text: string, order: 'day_first' | 'month_first' | null = null) => {
  const read = readMoment(text, order)
  if (!read || 'two' in read) return read
  return [read.day, read.time, read.offset].filter((part) => part !== null).join(' ')
}

test('a day with one reading is read, with its time', () => {
  const read: [string, string][] = [
    ['2026-12-31', '2026-12-31'],
    ['2026/1/5', '2026-01-05'],
    ['31.12.2026', '2026-12-31'],
    ['1.2.2026', '2026-02-01'],
    ['31/12/2026', '2026-12-31'],
    ['12/31/2026', '2026-12-31'],
    ['12/31/2026 2:30 PM', '2026-12-31 14:30:00'],
    ['12/31/26 12:05 am', '2026-12-31 00:05:00'],
    ['31.12.2026, 14:30', '2026-12-31 14:30:00'],
    ['31.12.2026 um 14:30 Uhr', '2026-12-31 14:30:00'],
    ['05/05/2026', '2026-05-05'],
    ['31 Dec 2026', '2026-12-31'],
    ['31-Dec-26', '2026-12-31'],
    ['5-DEC-99', '1999-12-05'],
    ['20261231', '2026-12-31'],
    ['31/12/2026 14h30', '2026-12-31 14:30:00'],
    ['31.12.2026 14.30 Uhr', '2026-12-31 14:30:00'],
    ['31-Dec-2026', '2026-12-31'],
    ['Dec 31, 2026', '2026-12-31'],
    ['December 31st, 2026 9:05 a.m.', '2026-12-31 09:05:00'],
    ['31. Dezember 2026', '2026-12-31'],
    ['3. März 2026', '2026-03-03'],
    ['31 décembre 2026', '2026-12-31'],
    ['1 juin 2026', '2026-06-01'],
    ['1 juil. 2026', '2026-07-01'],
    ['31 de diciembre de 2026', '2026-12-31'],
    ['Thu, 31 Dec 2026 14:30:00 GMT', '2026-12-31 14:30:00 Z'],
    ['2026-12-31T14:30:00Z', '2026-12-31 14:30:00 Z'],
    ['2026-12-31T14:30:00.123+02:00', '2026-12-31 14:30:00.123 +02:00'],
    ['2026-12-31 14:30:00+0200', '2026-12-31 14:30:00 +02:00'],
    ['2026-12-31 14:30 UTC', '2026-12-31 14:30:00 Z'],
    ['2026-12-31 14:30:00.5+01', '2026-12-31 14:30:00.5 +01:00'],
    ['12/31/2026 2 PM', '2026-12-31 14:00:00'],
    ['Dec 31, 2026, 12 a.m.', '2026-12-31 00:00:00'],
  ]
  for (const [text, moment] of read) assert.equal(momentOf(text), moment, text)
})

test('a day with two readings is read by the order of its column only', () => {
  assert.deepEqual(momentOf('05/06/2026'), { two: ['2026-06-05', '2026-05-06'] })
  assert.deepEqual(momentOf('5-6-26'), { two: ['2026-06-05', '2026-05-06'] })
  assert.equal(momentOf('05/06/2026', 'day_first'), '2026-06-05')
  assert.equal(momentOf('05/06/2026 14:30', 'month_first'), '2026-05-06 14:30:00')
  assert.equal(orderOf('31/12/2026'), 'day_first')
  assert.equal(orderOf('12/31/2026 2:30 PM'), 'month_first')
  for (const text of ['05/06/2026', '31.12.2026', '2026-12-31', '99/12/2026', 'abc', '', '31/12/2026 soon'])
    assert.equal(orderOf(text), null, text)
})

test('other texts, and days that the calendar lacks, are not read as days', () => {
  for (const text of [
    '',
    '31.2.2026',
    '2026-02-30',
    '32/01/2026',
    '13/13/2026',
    'tomorrow',
    '2026',
    '12:30',
    '2026-12-31 25:00',
    '2026-12-31 14',
    '12/31/2026 13 PM',
    '2026-12-31 14:30+24',
    '2026-12-31 13:30 PM',
    '1234567',
    '31 Foo 2026',
    '2026-12-31 later',
    '1.2.3.4',
  ])
    assert.equal(momentOf(text), null, text)
})

test('yes and no are read in the words of spreadsheets and programs', () => {
  for (const text of [
    'true',
    'TRUE',
    'Yes',
    'Y',
    '1',
    'ja',
    'WAHR',
    'oui',
    'sí',
    'Sim',
    't',
    'Tak',
    ' x ',
    'Done',
  ])
    assert.equal(readBoolean(text), true, text)
  for (const text of ['false', 'No', 'n', '0', 'Nein', 'FALSCH', 'não', 'Nee', 'f', 'To do'])
    assert.equal(readBoolean(text), false, text)
  for (const text of ['', 'maybe', '2', 'yesterday']) assert.equal(readBoolean(text), null, text)
})

test('a code is read from its own text and its labels, in any case', () => {
  const codes = ['new_lead', 'won', 'LARGE', 'C', 'C++']
  const by = codesBy(codes, { new_lead: ['New lead', 'Neuer Lead'], won: ['Gewonnen', 'Closed Won'] })
  for (const [text, code] of [
    ['Won', 'won'],
    ['New lead', 'new_lead'],
    ['NEW-LEAD', 'new_lead'],
    ['neuer lead', 'new_lead'],
    ['closed won', 'won'],
    ['large', 'LARGE'],
    ['C++', 'C++'],
    ['C', 'C'],
  ] as const)
    assert.equal(readCode(text, by, codes), code, text)
  for (const text of ['', 'lost', 'c', 'newlead 2']) assert.equal(readCode(text, by, codes), null, text)
})

test('several addresses or numbers of a cell come apart, and nothing else does', () => {
  assert.deepEqual(severalOf('a@x.example; b@y.example', 'email'), ['a@x.example', 'b@y.example'])
  assert.deepEqual(severalOf('a@x.example ::: b@y.example', 'email'), ['a@x.example', 'b@y.example'])
  assert.deepEqual(severalOf('+1 555 0100, +1 555 0101', 'phone'), ['+1 555 0100', '+1 555 0101'])
  assert.deepEqual(severalOf('+1 555 0100 / +1 555 0101', 'phone'), ['+1 555 0100', '+1 555 0101'])
  assert.deepEqual(severalOf('030 1234567 | (0170) 555', 'phone'), ['030 1234567', '(0170) 555'])
  assert.deepEqual(severalOf('a@x.example | b@y.example', 'email'), ['a@x.example', 'b@y.example'])
  assert.deepEqual(severalOf('a@x.example;', 'email'), ['a@x.example'])
  assert.deepEqual(severalOf('; a@x.example ,', 'email'), ['a@x.example'])
  assert.deepEqual(severalOf('+1 555 0100, ', 'phone'), ['+1 555 0100'])
  for (const text of ['a@x.example', 'Ana <a@x.example>, b', 'none, see b@y.example', ';'])
    assert.deepEqual(severalOf(text, 'email'), [text])
  assert.deepEqual(severalOf('221; 222', 'phone'), ['221', '222'])
  const whole = '+49 30 1234567'
  for (const separator of [' ::: ', '\n'])
    assert.deepEqual(severalOf(`${whole}${separator}4711`, 'phone'), [whole, '4711'])
  assert.deepEqual(severalOf(`${whole}, +49 171 7654321, ext. 890`, 'phone'), [
    whole,
    '+49 171 7654321',
    'ext. 890',
  ])
  for (const text of [
    '+1 (555) 0100',
    '+1 555 0100, ext. 5',
    '+1 (555) 123-4567, ext. 890',
    '+15551234567,,890#',
    '030 1234567; Durchwahl 1234',
    '555 0100; call first',
  ])
    assert.deepEqual(severalOf(text, 'phone'), [text])
})

test('a name in one cell is split as people write names', () => {
  const names: [string, string, string | null][] = [
    ['Ana Ruiz', 'Ana', 'Ruiz'],
    ['Ruiz, Ana', 'Ana', 'Ruiz'],
    ['Ruiz García, Ana María', 'Ana María', 'Ruiz García'],
    ['van der Berg, Jan', 'Jan', 'van der Berg'],
    ['John Smith Jr.', 'John', 'Smith Jr.'],
    ['John Smith, Jr.', 'John', 'Smith, Jr.'],
    ['Smith, Jr., John', 'John', 'Smith, Jr.'],
    ['Smith, John, Jr.', 'John', 'Smith Jr.'],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['Dr. Ana Ruiz', 'Dr. Ana', 'Ruiz'],
    ['Ana', 'Ana', null],
    ['Ana  María\tRuiz', 'Ana María', 'Ruiz'],
    ['Van Morrison', 'Van', 'Morrison'],
    ['Ruiz,Ana', 'Ana', 'Ruiz'],
    ['Ruiz ,Ana María', 'Ana María', 'Ruiz'],
    ['Smith,Jr.,John', 'John', 'Smith, Jr.'],
    ['Ana Ruiz, PhD, CFA', 'Ana', 'Ruiz, PhD, CFA'],
    ['Ana Ruiz, M.Sc.', 'Ana', 'Ruiz, M.Sc.'],
  ]
  for (const [name, first, last] of names) assert.deepEqual(splitName(name), { first, last }, name)
  const blanks = `a${' '.repeat(200_000)}b`
  assert.deepEqual(splitName(blanks), { first: 'a', last: 'b' })
})
