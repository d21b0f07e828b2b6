// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { page, span } from '../../../test/booking/rules.ts'
import { formats } from '../../http/formats.ts'
import { canonicalTimeZone } from '../../zones/names.ts'
import { ruleProblems } from './availability.ts'

test('every problem of the rules has its field, and valid rules have no problem', () => {
  assert.deepEqual(ruleProblems(page()), [])
  assert.deepEqual(ruleProblems({ availability: { monday: span('10:00-24:00 09:00-10:00') } }), [])
  const found = ruleProblems({
    time_zone: '+02:00',
    availability: {
      monday: [
        { from: '09:00', to: '09:00' },
        { from: '9:00', to: '24:01' },
        { from: '24:00', to: '24:00' },
      ],
      tuesday: span('13:00-18:00 09:00-17:00 12:00-13:00'),
      wednesday: [null, { from: 9, until: '10:00' }],
      thursday: '09:00-17:00',
      Friday: [],
    },
    date_overrides: {
      '2026-12-24': span('09:00-12:00 11:00-13:00'),
      '2026-02-29': [],
      '2028-02-29': [],
      'next monday': [],
      '+002026-12-24': [],
    },
  })
  assert.deepEqual(
    found.map(({ field, code }) => `${field} ${code}`),
    [
      'time_zone unknown_time_zone',
      'availability.monday.0.to invalid_interval',
      'availability.monday.1.from invalid_format',
      'availability.monday.1.to invalid_format',
      'availability.monday.2.from invalid_format',
      'availability.tuesday.2 overlapping_intervals',
      'availability.tuesday.0 overlapping_intervals',
      'availability.wednesday.0 invalid_type',
      'availability.wednesday.1.until unknown_field',
      'availability.wednesday.1.from invalid_type',
      'availability.wednesday.1.to required',
      'availability.thursday invalid_type',
      'availability.Friday unknown_field',
      'date_overrides.2026-12-24.1 overlapping_intervals',
      'date_overrides.2026-02-29 invalid_format',
      'date_overrides.next monday invalid_format',
      'date_overrides.+002026-12-24 invalid_format',
    ],
  )
  for (const { message } of found) assert.match(message, /^\S.+\.$/)
  assert.match(found[0]?.message ?? '', /Europe\/Berlin/)
  assert.ok(found.at(-1)?.message.endsWith(` must be ${formats.day}.`))
})

test('a zone is known by its name in any capitals, links stay as they are, and an offset is none', () => {
  assert.equal(canonicalTimeZone('europe/berlin'), 'Europe/Berlin')
  assert.equal(canonicalTimeZone('AMERICA/PORT-AU-PRINCE'), 'America/Port-au-Prince')
  assert.equal(canonicalTimeZone('Asia/Calcutta'), 'Asia/Calcutta')
  assert.equal(canonicalTimeZone('asia/kolkata'), 'Asia/Kolkata')
  assert.equal(canonicalTimeZone('utc'), 'UTC')
  assert.equal(canonicalTimeZone('Etc/GMT+5'), 'Etc/GMT+5')
  for (const zone of Intl.supportedValuesOf('timeZone'))
    assert.equal(canonicalTimeZone(zone.toUpperCase()), zone)
  for (const name of ['+02:00', '-03', 'Z', '', ' Europe/Berlin', 'Europe/Atlantis', 'Europe', 'Mars/Phobos'])
    assert.equal(canonicalTimeZone(name), null, name)
  for (const name of [
    '2026-01-01T00:00Z',
    '2026-01-01T00:00+01:00[Europe/Paris]',
    '[UTC]',
    'constructor',
    null,
    1,
    {},
  ])
    assert.equal(canonicalTimeZone(name), null, String(name))
})
