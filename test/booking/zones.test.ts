import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, type Made, openPage, timesOf } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'

// Manitoba stayed at UTC-5 in November 2026, by IANA's data of 2026d. The pinned Node has older data.
const rapport = useRapport({ clock: turnableClock(Date.parse('2026-12-14T12:00:00.000Z')) })

test('a booking page, its calendar file and its texts follow the newest zone data, not that of Node', async () => {
  const { page, path, get, post } = await openPage(rapport, { time_zone: 'America/Winnipeg' })
  const slots = await rapport.call(
    'GET',
    `/api/v1/booking-pages/${page.id}/slots?from=2026-12-15T00:00:00Z&to=2026-12-16T00:00:00Z`,
  )
  const [slot] = slots.body.data.map(({ start_at }: Made) => start_at)
  assert.equal(slot, '2026-12-15T14:00:00.000Z')
  const shown = (await get(`${path}?day=2026-12-15`)).text
  assert.match(shown, /America\/Winnipeg \(GMT-5\)/)
  assert.match(shown, new RegExp(`value="${slot}">09:00<`))
  const form = (await get(`${path}?slot=${slot}`)).text
  assert.match(form, /09:00–09:30/)
  const { location } = await post(path, { ...ana, slot, token: fieldOf(form, 'token') })
  const link = location.split('?')[0]
  assert.match((await get(`${link}/calendar.ics`)).text, /\r\nDTSTART:20261215T140000Z\r\n/)
})

test('days and months of reports and groups follow the newest zone data', async () => {
  const zone = 'time_zone=America/Winnipeg'
  await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const groups = await rapport.call('GET', `/api/v1/contacts/groups?by=created_at&${zone}`)
  const [month] = groups.body.data.groups.filter(({ value }: Made) => value === '2026-12')
  assert.deepEqual(month?.filter, {
    created_at_from: '2026-12-01T05:00:00.000Z',
    created_at_to: '2027-01-01T04:59:59.999Z',
  })
})

test("the public page lists zones by today's names, and shows a visitor's outdated name by today's", async () => {
  const { path, get } = await openPage(rapport)
  const { text } = await get(`${path}?zone=Asia/Calcutta`)
  const [, list = ''] = /<optgroup[^>]*>([\s\S]*?)<\/optgroup>/.exec(text) ?? []
  const names = [...list.matchAll(/<option(?: value="([^"]+)")?>([^<]+)/g)].map(
    ([, value, name]) => value ?? name,
  )
  assert.ok(names.length > 400)
  for (const name of [
    'Europe/Kyiv',
    'Asia/Kolkata',
    'Asia/Ho_Chi_Minh',
    'America/Nuuk',
    'Europe/Berlin',
    'UTC',
  ])
    assert.ok(names.includes(name), name)
  for (const name of [
    'Europe/Kiev',
    'Asia/Calcutta',
    'Asia/Saigon',
    'America/Godthab',
    'America/Indianapolis',
  ])
    assert.ok(!names.includes(name), name)
  assert.match(text, /<option value="Asia\/Kolkata" selected>Asia\/Kolkata \(GMT\+5:30\)/)
  assert.ok(timesOf(text).length > 0)
})
