import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIana } from 'windows-iana'
import { InvalidCalendar } from './components.ts'
import { type ReadOptions, readBusyTimes } from './read.ts'

const berlin = `BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE`
const file = (...parts: string[]) =>
  `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\n${parts.join('\n')}\nEND:VCALENDAR\n`.replaceAll(
    '\n',
    '\r\n',
  )
let uids = 0
const event = (lines: string, uid = `${++uids}@example.com`) =>
  `BEGIN:VEVENT\nUID:${uid}\nDTSTAMP:20260101T000000Z\nSUMMARY:Dentist\\, private\n${lines}\nEND:VEVENT`

const read = (text: string, options: Partial<ReadOptions> = {}) =>
  readBusyTimes(text, {
    time_zone: 'Europe/Berlin',
    addresses: ['ana@example.com'],
    from_ms: Date.parse('2026-01-01T00:00Z'),
    to_ms: Date.parse('2028-01-01T00:00Z'),
    ianaOf: (name) => findIana(name)[0],
    ...options,
  })
/** The busy times of a file, as START/END in UTC without seconds. */
const times = (text: string, options?: Partial<ReadOptions>) => {
  const { periods, skipped } = read(text, options)
  assert.deepEqual(skipped, [])
  const shown = (at_ms: number) => new Date(at_ms).toISOString().slice(0, 16)
  return periods.map(({ start_ms, end_ms }) => `${shown(start_ms)}/${shown(end_ms)}`)
}
const at = (zone: string, start: string, end: string) =>
  `DTSTART;TZID=${zone}:${start}\nDTEND;TZID=${zone}:${end}`
const noon = 'DTSTART:20260302T120000Z\nDTEND:20260302T130000Z'

const promises: [string, string, string[]][] = [
  ['an event takes its time', file(event(noon)), ['2026-03-02T12:00/2026-03-02T13:00']],
  [
    'events that overlap or touch are one time',
    file(
      event(noon),
      event('DTSTART:20260302T123000Z\nDURATION:PT1H'),
      event('DTSTART:20260302T133000Z\nDURATION:PT30M'),
    ),
    ['2026-03-02T12:00/2026-03-02T14:00'],
  ],
  ['a transparent event takes no time', file(event(`${noon}\nTRANSP:TRANSPARENT`)), []],
  ['a cancelled event takes no time', file(event(`${noon}\nSTATUS:CANCELLED`)), []],
  [
    'an event that Outlook shows as free takes no time',
    file(event(`${noon}\nX-MICROSOFT-CDO-BUSYSTATUS:FREE`)),
    [],
  ],
  [
    'an event that Outlook shows as out of office takes its time',
    file(event(`${noon}\nX-MICROSOFT-CDO-BUSYSTATUS:OOF`)),
    ['2026-03-02T12:00/2026-03-02T13:00'],
  ],
  [
    'an event that the person declined takes no time',
    file(event(`${noon}\nATTENDEE;CN="Ruiz, Ana";PARTSTAT=DECLINED:MAILTO:Ana@Example.com`)),
    [],
  ],
  [
    'an event that another guest declined takes its time',
    file(
      event(
        `${noon}\nATTENDEE;PARTSTAT=DECLINED:mailto:bo@example.com\nATTENDEE;PARTSTAT=ACCEPTED:mailto:ana@example.com`,
      ),
    ),
    ['2026-03-02T12:00/2026-03-02T13:00'],
  ],
  [
    'a whole day is from midnight to midnight of the zone, also when the clock changes',
    file(
      event('DTSTART;VALUE=DATE:20260329'),
      event('DTSTART;VALUE=DATE:20261024\nDTEND;VALUE=DATE:20261026'),
    ),
    ['2026-03-28T23:00/2026-03-29T22:00', '2026-10-23T22:00/2026-10-25T23:00'],
  ],
  [
    'a date without a time is a whole day, also where the file does not say so',
    file(event('DTSTART:20260302\nDTEND:20260304')),
    ['2026-03-01T23:00/2026-03-03T23:00'],
  ],
  [
    'an exception of whole days names its day, or the midnight of it in any zone',
    file(
      event('DTSTART;VALUE=DATE:20260601\nRRULE:FREQ=DAILY;COUNT=7\nEXDATE;VALUE=DATE:20260602', 'days'),
      event('RECURRENCE-ID:20260606T000000Z\nDTSTART;VALUE=DATE:20260620', 'days'),
      event(
        `DTSTART;VALUE=DATE:20260701\nRRULE:FREQ=DAILY;COUNT=5\nEXDATE:20260702T000000Z
EXDATE;TZID=Asia/Tokyo:20260703T000000\nEXDATE:20260703T220000Z`,
      ),
    ),
    [
      '2026-05-31T22:00/2026-06-01T22:00',
      '2026-06-02T22:00/2026-06-05T22:00',
      '2026-06-06T22:00/2026-06-07T22:00',
      '2026-06-19T22:00/2026-06-20T22:00',
      '2026-06-30T22:00/2026-07-01T22:00',
      '2026-07-04T22:00/2026-07-05T22:00',
    ],
  ],
  ['an event without an end takes no time', file(event('DTSTART:20260302T120000Z')), []],
  [
    'a repetition keeps the wall clock when the clock changes',
    file(
      berlin,
      event(`${at('Europe/Berlin', '20260327T100000', '20260327T110000')}\nRRULE:FREQ=DAILY;COUNT=4`),
    ),
    [
      '2026-03-27T09:00/2026-03-27T10:00',
      '2026-03-28T09:00/2026-03-28T10:00',
      '2026-03-29T08:00/2026-03-29T09:00',
      '2026-03-30T08:00/2026-03-30T09:00',
    ],
  ],
  [
    'a repetition that began years ago goes on',
    file(
      event(
        'DTSTART;TZID=Europe/Berlin:20050103T090000\nDURATION:PT1H\nRRULE:FREQ=YEARLY;BYMONTH=6;BYDAY=1MO',
      ),
    ),
    ['2026-06-01T07:00/2026-06-01T08:00', '2027-06-07T07:00/2027-06-07T08:00'],
  ],
  [
    'an end of a repetition in UTC counts on the wall clock',
    file(
      event(
        `${at('America/New_York', '20260601T210000', '20260601T220000')}\nRRULE:FREQ=DAILY;UNTIL=20260603T010000Z`,
      ),
    ),
    ['2026-06-02T01:00/2026-06-02T02:00', '2026-06-03T01:00/2026-06-03T02:00'],
  ],
  [
    'an end of a repetition that is a day counts the whole day',
    file(
      event(`${at('Europe/Berlin', '20260601T210000', '20260601T220000')}\nRRULE:FREQ=DAILY;UNTIL=20260602`),
    ),
    ['2026-06-01T19:00/2026-06-01T20:00', '2026-06-02T19:00/2026-06-02T20:00'],
  ],
  [
    'a length in days follows the wall clock, and one in hours is exact',
    file(
      event('DTSTART;TZID=Europe/Berlin:20260328T120000\nDURATION:P1D'),
      event('DTSTART;TZID=Europe/Berlin:20270327T120000\nDURATION:PT24H'),
    ),
    ['2026-03-28T11:00/2026-03-29T10:00', '2027-03-27T11:00/2027-03-28T11:00'],
  ],
  [
    'a time that the clock skips has the offset of before, and one that it repeats is the first',
    file(
      event('DTSTART;TZID=Europe/Berlin:20260329T023000\nDURATION:PT15M'),
      event('DTSTART;TZID=Europe/Berlin:20261025T023000\nDURATION:PT15M'),
    ),
    ['2026-03-29T01:30/2026-03-29T01:45', '2026-10-25T00:30/2026-10-25T00:45'],
  ],
  [
    'exceptions are left out, in UTC, in the zone, and as days',
    file(
      event(
        `${at('Europe/Berlin', '20260601T100000', '20260601T110000')}\nRRULE:FREQ=DAILY;COUNT=5
EXDATE:20260602T080000Z\nEXDATE;TZID=Europe/Berlin:20260603T100000\nEXDATE;VALUE=DATE:20260604`,
      ),
    ),
    ['2026-06-01T08:00/2026-06-01T09:00', '2026-06-05T08:00/2026-06-05T09:00'],
  ],
  [
    'more dates are added, once each, and the first one stays',
    file(event(`${noon}\nRDATE:20260304T120000Z,20260302T120000Z\nRDATE;VALUE=PERIOD:20260306T080000Z/PT3H`)),
    [
      '2026-03-02T12:00/2026-03-02T13:00',
      '2026-03-04T12:00/2026-03-04T13:00',
      '2026-03-06T08:00/2026-03-06T11:00',
    ],
  ],
  [
    'a moved occurrence is at its new time alone, and a cancelled one is gone',
    file(
      event('DTSTART:20260601T100000Z\nDTEND:20260601T110000Z\nRRULE:FREQ=DAILY;COUNT=4', 'moved'),
      event('RECURRENCE-ID:20260602T100000Z\nDTSTART:20260702T150000Z\nDTEND:20260702T170000Z', 'moved'),
      event(
        'RECURRENCE-ID:20260603T100000Z\nDTSTART:20260603T100000Z\nDTEND:20260603T110000Z\nSTATUS:CANCELLED',
        'moved',
      ),
    ),
    [
      '2026-06-01T10:00/2026-06-01T11:00',
      '2026-06-04T10:00/2026-06-04T11:00',
      '2026-07-02T15:00/2026-07-02T17:00',
    ],
  ],
  [
    'a change of this and all later occurrences moves them all',
    file(
      berlin,
      event(
        `${at('Europe/Berlin', '20260327T100000', '20260327T110000')}\nRRULE:FREQ=DAILY;COUNT=5`,
        'later',
      ),
      event(
        `RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260329T100000\n${at('Europe/Berlin', '20260329T140000', '20260329T160000')}`,
        'later',
      ),
    ),
    [
      '2026-03-27T09:00/2026-03-27T10:00',
      '2026-03-28T09:00/2026-03-28T10:00',
      '2026-03-29T12:00/2026-03-29T14:00',
      '2026-03-30T12:00/2026-03-30T14:00',
      '2026-03-31T12:00/2026-03-31T14:00',
    ],
  ],
  [
    'an invitation to one occurrence alone takes its time',
    file(event('RECURRENCE-ID:20260602T100000Z\nDTSTART:20260602T150000Z\nDTEND:20260602T170000Z')),
    ['2026-06-02T15:00/2026-06-02T17:00'],
  ],
  [
    "a zone of the file has the file's rules, also under an IANA name",
    file(
      berlin.replaceAll('+0200', '+0300'),
      event(at('Europe/Berlin', '20260701T100000', '20260701T110000')),
    ),
    ['2026-07-01T07:00/2026-07-01T08:00'],
  ],
  [
    'a zone of the file may have any name',
    file(
      berlin.replace('Europe/Berlin', 'Büro: 2'),
      event(at('"Büro: 2"', '20260701T100000', '20260701T110000')),
    ),
    ['2026-07-01T08:00/2026-07-01T09:00'],
  ],
  [
    'a zone that the file names and does not define is that of its name',
    file(
      'BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nX-LIC-LOCATION:Europe/Berlin\nEND:VTIMEZONE',
      event(at('Europe/Berlin', '20260701T100000', '20260701T110000')),
    ),
    ['2026-07-01T08:00/2026-07-01T09:00'],
  ],
  [
    'a name of Windows is a zone',
    file(event(at('W. Europe Standard Time', '20260701T100000', '20260701T110000'))),
    ['2026-07-01T08:00/2026-07-01T09:00'],
  ],
  [
    'a name behind a path is a zone',
    file(event(at('/example.org/20260101_1/America/Argentina/Salta', '20260701T100000', '20260701T110000'))),
    ['2026-07-01T13:00/2026-07-01T14:00'],
  ],
  [
    'a zone that Exchange writes as an address without quotes is a zone',
    file(
      event(at('tzone://Microsoft/Utc', '20260701T100000', '20260701T110000')),
      berlin.replace('Europe/Berlin', 'tzone://Microsoft/Custom'),
      event(at('tzone://Microsoft/Custom', '20260702T100000', '20260702T110000')),
    ),
    ['2026-07-01T10:00/2026-07-01T11:00', '2026-07-02T08:00/2026-07-02T09:00'],
  ],
  [
    'a time without a zone is in the zone of the calendar',
    file(event('DTSTART:20260701T100000\nDTEND:20260701T110000')),
    ['2026-07-01T08:00/2026-07-01T09:00'],
  ],
  [
    'periods that a calendar states as busy take their time, and free ones do not',
    file(
      `BEGIN:VFREEBUSY\nUID:f@example.com\nDTSTAMP:20260101T000000Z
FREEBUSY;FBTYPE=BUSY:20260701T100000Z/PT2H,20260702T100000Z/20260702T113000Z
FREEBUSY;FBTYPE=FREE:20260703T100000Z/PT2H\nFREEBUSY;FBTYPE=BUSY-TENTATIVE:20260704T100000Z/PT1H\nEND:VFREEBUSY`,
    ),
    [
      '2026-07-01T10:00/2026-07-01T12:00',
      '2026-07-02T10:00/2026-07-02T11:30',
      '2026-07-04T10:00/2026-07-04T11:00',
    ],
  ],
  [
    'alarms and other components of an event do not matter',
    file(event(`${noon}\nBEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nDURATION:PT9H\nEND:VALARM`)),
    ['2026-03-02T12:00/2026-03-02T13:00'],
  ],
  [
    'a broken line that says nothing of the time costs no event',
    file(
      event(`${noon}\nDESCRIPTION:The first line\nand one that is not folded\n\n: the end`),
      event(
        'DTSTART:20260303T120000Z\nDURATION:PT1H\nATTENDEE;CN="Bo;PARTSTAT=ACCEPTED:mailto:bo@example.com',
      ),
      event('DTSTART:20260304T120000Z\nDURATION:PT1H\nX-AGENDA;VALUE=PERIOD:none'),
      event('DTSTART:20260305T120000Z\nDURATION:PT1H\nEXDATE:\nRDATE:\nRRULE:'),
    ),
    [
      '2026-03-02T12:00/2026-03-02T13:00',
      '2026-03-03T12:00/2026-03-03T13:00',
      '2026-03-04T12:00/2026-03-04T13:00',
      '2026-03-05T12:00/2026-03-05T13:00',
    ],
  ],
  [
    'lines may be folded anywhere, and end without a carriage return',
    file(event(noon)).replace('DTSTART:2026', 'DTSTART:20\r\n 26').replaceAll('\r', ''),
    ['2026-03-02T12:00/2026-03-02T13:00'],
  ],
  [
    'an event that began before the window and ends in it counts from the start of the window',
    file(event('DTSTART:20251230T120000Z\nDTEND:20260102T120000Z')),
    ['2026-01-01T00:00/2026-01-02T12:00'],
  ],
  [
    'a long occurrence that began before the window counts',
    file(event('DTSTART:20200106T120000Z\nDTEND:20200110T120000Z\nRRULE:FREQ=WEEKLY;INTERVAL=313;COUNT=2')),
    ['2026-01-05T12:00/2026-01-09T12:00'],
  ],
]
for (const [promise, text, expected] of promises)
  test(promise, () => {
    assert.deepEqual(times(text), expected)
  })

// Rules that ical.js 2.2.1 or rrule 2.8.1 repeat otherwise than RFC 5545 says: see findings/.
const rules: [string, string, string[]][] = [
  ['FREQ=YEARLY;BYDAY=20MO;COUNT=2', '20260518', ['2026-05-18', '2027-05-17']],
  ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=2', '20260511', ['2026-05-11', '2027-05-17']],
  [
    'FREQ=MONTHLY;BYMONTHDAY=15,-1;BYSETPOS=-1;COUNT=3',
    '20260131',
    ['2026-01-31', '2026-02-28', '2026-03-31'],
  ],
  [
    'FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,5,9;BYMONTHDAY=28,30;COUNT=4',
    '20260528',
    ['2026-05-28', '2026-05-30', '2026-09-28', '2026-09-30'],
  ],
  ['FREQ=MONTHLY;BYDAY=MO,1SA;COUNT=3', '20260302', ['2026-03-02', '2026-03-07', '2026-03-09']],
]
for (const [rule, day, expected] of rules)
  test(`${rule} repeats as RFC 5545 says`, () => {
    const found = times(file(event(`DTSTART:${day}T120000Z\nDURATION:PT1H\nRRULE:${rule}`)))
    assert.deepEqual(
      found.map((time) => time.slice(0, 10)),
      expected,
    )
  })

test('an event of 29 February takes no time in other years', () => {
  const text = file(event('DTSTART:20240229T120000Z\nDURATION:PT1H\nRRULE:FREQ=YEARLY'))
  const options = { from_ms: Date.parse('2025-01-01T00:00Z'), to_ms: Date.parse('2029-01-01T00:00Z') }
  assert.deepEqual(times(text, options), ['2028-02-29T12:00/2028-02-29T13:00'])
})

test('a part that cannot be read is skipped with its reason, and the rest counts', () => {
  const text = file(
    event(noon),
    event('DTSTART:20260230T120000Z\nDURATION:PT1H', 'date'),
    event('DTSTART;TZID=Mars/Olympus:20260301T120000\nDURATION:PT1H', 'zone'),
    event(`${noon}\nRRULE:FREQ=SECONDLY`, 'secondly'),
    event(`${noon}\nRRULE:FREQ=HOURLY;BYMINUTE=0,1,2`, 'minutes'),
    event(`${noon}\nRRULE:FREQ=FORTNIGHTLY`, 'rule'),
    event('DTEND:20260302T130000Z', 'start'),
    event('DTSTART:20260302T120000Z\nDURATION:1 hour', 'length'),
    event(`${noon}\nEXDATE:yesterday`, 'exception'),
    event(`${noon}\nRDATE;VALUE=PERIOD:20260306T080000Z/never`, 'period'),
  )
  const { periods, skipped, skipped_count } = read(text)
  assert.equal(periods.length, 1)
  assert.equal(skipped_count, 9)
  assert.deepEqual(
    skipped.map(({ uid }) => uid),
    ['rule', 'date', 'zone', 'secondly', 'minutes', 'start', 'length', 'exception', 'period'],
  )
  for (const { reason } of skipped) assert.match(reason, /^[A-Z"].*\.?$/)
})

test('at most 20 skipped parts are listed, and all are counted', () => {
  const bad = Array.from({ length: 30 }, () => event('DTSTART:20261301T000000Z'))
  const { skipped, skipped_count } = read(file(...bad))
  assert.deepEqual([skipped.length, skipped_count], [20, 30])
})

test('events with a uid of Rapport are told apart', () => {
  const uid = `${'0123456789abcdef'.repeat(2)}@rapport`
  const { periods, rapport } = read(file(event(noon, uid), event('DTSTART:20260303T120000Z\nDURATION:PT1H')))
  assert.equal(periods.length, 1)
  assert.deepEqual(
    rapport.map((one) => [one.uid, one.periods.length]),
    [[uid, 1]],
  )
})

test('a body that is not a whole calendar is refused, and so are more than 20,000 components', () => {
  const code = (text: string) => {
    try {
      read(text)
    } catch (error) {
      if (error instanceof InvalidCalendar) return error.code
    }
    return null
  }
  assert.equal(code('<!doctype html><title>Sign in</title>'), 'invalid_calendar')
  assert.equal(code(''), 'invalid_calendar')
  // A server may end a file in the middle. The events that are missing are not free times.
  const whole = file(event(noon), event('DTSTART:20260303T120000Z\nDURATION:PT1H'))
  for (const end of [whole.indexOf('END:VCALENDAR'), whole.lastIndexOf('DURATION'), whole.length - 4])
    assert.equal(code(whole.slice(0, end)), 'invalid_calendar')
  assert.equal(code(whole.trimEnd()), null)
  assert.equal(code(file(...Array(20_001).fill('BEGIN:VTODO\nEND:VTODO'))), 'too_large')
  assert.equal(code(file(...Array(100).fill('BEGIN:VTODO\nEND:VTODO'))), null)
})

test('at most 10,000 periods are kept, the nearest ones', () => {
  const { periods, skipped_count } = read(
    file(event(`${noon.slice(0, 24)}\nDURATION:PT30M\nRRULE:FREQ=HOURLY`)),
  )
  assert.equal(periods.length, 10_000)
  assert.ok(skipped_count > 5000)
  assert.equal(periods[0]?.start_ms, Date.parse('2026-03-02T12:00Z'))
})
