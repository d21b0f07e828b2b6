// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSource } from '../../src/calendar-feeds/entries.ts'
import { type Tx, transaction } from '../../src/db/db.ts'
import { ana, openPage } from '../booking.ts'
import { useStored } from '../database.ts'
import { problems, refused } from '../envelope.ts'
import { startRapport, turnableClock, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { arrivedMail, mailsOf, mailsTo } from '../mails.ts'
import { ask, join, keyCaller, setUp, useOwner } from '../people.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { use } from '../use.ts'
import { unlessBusy, until } from '../webhooks.ts'

const start = '2026-11-21T08:30:00.000Z'
const clock = turnableClock(Date.parse(start))
const server = use(startSmtpServer)
const rapport = useRapport(mailsTo(server, clock, { OPEN_RATE_PER_SECOND: '1000' }))
const stored = useStored(rapport)
const key = keyCaller(rapport)
const ada = useOwner(rapport)

type Person = Awaited<ReturnType<typeof join>>
const member = () => join(ada, rapport.url, 'member')
const makeFeed = (person: Pick<Person, 'call'>, fields: object = {}) =>
  ask(person.call, 'POST', '/calendar-feeds', { name: 'Phone', ...fields })
const read = (path: string, options: RequestInit = {}) => fetch(rapport.url + path, options)
/** The lines of a feed, unfolded. */
async function lines({ url_path }: { url_path: string }): Promise<string[]> {
  const answer = await read(url_path)
  assert.equal(answer.status, 200)
  return (await answer.text()).replaceAll('\r\n ', '').split('\r\n')
}
/** The entries of a feed, by their summaries. */
async function entries(feed: { url_path: string }) {
  const found: Record<string, Record<string, string>> = {}
  let entry: Record<string, string> = {}
  for (const line of await lines(feed)) {
    const [, name = '', value = ''] = /^([A-Z-]+)[^:]*:(.*)$/.exec(line) ?? []
    if (name === 'BEGIN') entry = { BEGIN: value }
    else entry[name] ??= value
    if (name === 'END' && value !== 'VCALENDAR') found[entry.SUMMARY ?? ''] = entry
  }
  return found
}
const at = (days: number, minutes = 0) =>
  new Date(Date.parse(start) + days * 86_400_000 + minutes * 60_000).toISOString()
const appointment = ({ id }: Pick<Person, 'id'>, title: string, days: number, more: object = {}) =>
  ask(key, 'POST', '/appointments', {
    title,
    start_at: at(days),
    end_at: at(days, 30),
    owner_id: id,
    ...more,
  })

describe('calendar feeds', () => {
  test('are made, read, changed and deleted by their person alone; a key gets 403', async () => {
    const [grace, linus] = [await member(), await member()]
    const { url, url_path, ...feed } = await makeFeed(grace)
    assert.match(url_path, /^\/ics\/[\w-]{43}\.ics$/)
    assert.equal(url, rapport.url + url_path)
    const shown = { ...feed, name: 'Phone', activities: 'none', details: 'full', last_read_at: null }
    assert.deepEqual(feed, shown)
    const path = `/calendar-feeds/${feed.id}`
    assert.deepEqual(await ask(grace.call, 'GET', path), shown)
    assert.deepEqual(await ask(grace.call, 'GET', '/calendar-feeds'), [shown])
    assert.deepEqual(await ask(linus.call, 'GET', '/calendar-feeds'), [])
    for (const method of ['GET', 'PUT', 'DELETE'])
      refused(
        await linus.call(method, path, method === 'PUT' ? { name: 'Mine' } : undefined),
        404,
        'not_found',
      )
    refused(await key('GET', '/calendar-feeds'), 403, 'forbidden')
    refused(await key('POST', '/calendar-feeds', { name: 'Key' }), 403, 'forbidden')
    const changed = await ask(grace.call, 'PUT', path, { name: 'Desk', activities: 'todo', details: 'busy' })
    assert.deepEqual(changed, { ...shown, name: 'Desk', activities: 'todo', details: 'busy' })
    assert.deepEqual(problems(await grace.call('POST', '/calendar-feeds', { activities: 'all' })), {
      name: 'required',
      activities: 'unknown_value',
    })
    await ask(grace.call, 'DELETE', path)
    refused(await grace.call('GET', path), 404, 'not_found')
    assert.equal((await read(url_path)).status, 404)
  })

  test('are at most 10 of a person and workspace, also when they are made at once', async () => {
    const grace = await member()
    const made = await Promise.all(
      Array.from({ length: 14 }, (_, n) =>
        unlessBusy(() => grace.call('POST', '/calendar-feeds', { name: `Feed ${n}` })),
      ),
    )
    assert.equal(made.filter(({ status }) => status === 201).length, 10)
    for (const answer of made.filter(({ status }) => status !== 201)) refused(answer, 409, 'conflict')
  })

  test('have a token that is in no table and no other answer', async () => {
    const grace = await member()
    const { id, url_path } = await makeFeed(grace)
    const token = url_path.slice('/ics/'.length, -'.ics'.length)
    assert.ok(!JSON.stringify(await ask(grace.call, 'GET', `/calendar-feeds/${id}`)).includes(token))
    const contents = JSON.stringify(await stored.rows('SELECT * FROM calendar_feeds'))
    assert.ok(contents.includes(id) && !contents.includes(token))
    assert.ok(
      !JSON.stringify(await stored.rows("SELECT * FROM audit_log WHERE kind = 'users'")).includes(token),
    )
  })
})

describe('the calendar of a feed', () => {
  test('has the appointments whose host the person is, also those that were cancelled', async () => {
    const people = [await member(), await member(), await member()] as const
    const [owner, host, other] = people
    const hosts = [owner, host].map(({ id }) => ({ user_id: id }))
    const { page } = await openPage(rapport, { assignment: 'collective', hosts })
    const booked = (title: string, days: number) =>
      appointment(owner, title, days, { booking_page_id: page.id })
    await booked('Kept', 1)
    const { id } = await booked('Cancelled', 2)
    await ask(key, 'POST', `/appointments/${id}/cancel`, {})
    for (const person of [owner, host]) {
      const found = await entries(await makeFeed(person))
      assert.deepEqual([found.Kept?.STATUS, found.Cancelled?.STATUS], ['CONFIRMED', 'CANCELLED'])
    }
    assert.deepEqual(await entries(await makeFeed(other)), {})
  })

  test('has the appointments of the person, from 90 days ago to two years ahead, in their status', async () => {
    const [grace, linus] = [await member(), await member()]
    const { id: contact_id } = await ask(key, 'POST', '/contacts', {
      first_name: 'Ana',
      last_name: 'Ruiz',
      email: 'secret@example.com',
      phone: '+34 910 55 01 42',
    })
    const more = { contact_id, location: 'Room, 1', notes: 'A secret note' }
    const { id } = await appointment(grace, 'Demo', 1, more)
    await appointment(grace, 'Just in', -89)
    await appointment(grace, 'Too old', -91)
    await appointment(grace, 'Far ahead', 729)
    await appointment(grace, 'Too far', 740)
    await appointment(linus, 'Of another', 1)
    const cancelled = await appointment(grace, 'Cancelled', 2)
    await ask(key, 'POST', `/appointments/${cancelled.id}/cancel`, { reason: 'A secret reason' })
    const trashed = await appointment(grace, 'In the trash', 2)
    await ask(key, 'DELETE', `/appointments/${trashed.id}`)
    const feed = await makeFeed(grace)
    const found = await entries(feed)
    assert.deepEqual(Object.keys(found).sort(), ['Cancelled', 'Demo', 'Far ahead', 'Just in'])
    const { Demo } = found
    assert.deepEqual(
      [Demo?.BEGIN, Demo?.DTSTART, Demo?.DTEND, Demo?.LOCATION, Demo?.STATUS, Demo?.URL],
      [
        'VEVENT',
        '20261122T083000Z',
        '20261122T090000Z',
        'Room\\, 1',
        'CONFIRMED',
        `${rapport.url}/calendar/${id}`,
      ],
    )
    assert.match(Demo?.DESCRIPTION ?? '', /^Ana Ruiz\\n/)
    assert.equal(found.Cancelled?.STATUS, 'CANCELLED')
    const text = (await lines(feed)).join('\n')
    assert.doesNotMatch(text, /secret|910 55/i)
    clock.advance(31 * 86_400_000)
    try {
      assert.deepEqual(Object.keys(await entries(feed)).sort(), ['Demo', 'Far ahead', 'Too far'])
    } finally {
      clock.advance(-31 * 86_400_000)
    }
  })

  test('has the uid and the sequence of the mails and of the visitor’s file, also after moves without an audit log', async () => {
    const grace = await member()
    const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
    const availability = Object.fromEntries(days.map((day) => [day, [{ from: '00:00', to: '24:00' }]]))
    const page = await openPage(rapport, { availability, minimum_notice_minutes: 0, approval: true })
    const slot = '2026-11-23T10:00:00.000Z'
    const email = 'visitor@example.com'
    const { location } = await page.post(page.path, { ...ana, email, slot })
    const link = location.split('?')[0]
    const [{ id }] = await ask(key, 'GET', `/appointments?booking_page_id=${page.page.id}`)
    await ask(key, 'PUT', `/appointments/${id}`, { owner_id: grace.id })
    const feed = await makeFeed(grace)
    const values = (text: string) => {
      const unfolded = text.replaceAll(/=\r\n/g, '').replaceAll('\r\n ', '')
      return ['UID', 'SEQUENCE', 'STATUS'].map(
        (name) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(unfolded)?.[1],
      )
    }
    const same = async (expected: string) => {
      const of_feed = values(await (await read(feed.url_path)).text())
      const of_visitor = values((await page.get(`${link}/calendar.ics`)).text)
      assert.deepEqual(of_feed, of_visitor)
      assert.equal(of_feed[2], expected)
      return of_feed
    }
    const mailed = async (kind: string) => {
      const [mail] = await until(
        () => mailsOf(rapport, `&recipient=${email}&kind=${kind}`),
        ([mail]) => mail?.status === 'sent',
      )
      const raw = arrivedMail(server, mail)
      const parts = raw.split(/^--[^\r\n]+\r\n/m)
      const part = parts.find((one) => /^Content-Type: text\/calendar/im.test(one)) ?? ''
      const [head = '', ...body] = part.split('\r\n\r\n')
      const text = body.join('\r\n\r\n')
      return values(/base64/i.test(head) ? Buffer.from(text, 'base64').toString() : text)
    }
    await same('TENTATIVE')
    await ask(key, 'POST', `/appointments/${id}/accept`, {})
    assert.deepEqual(await mailed('booking_confirmed'), await same('CONFIRMED'))
    const move = { start_at: '2026-11-24T10:00:00.000Z', end_at: '2026-11-24T10:30:00.000Z' }
    await ask(key, 'PUT', `/appointments/${id}`, move)
    const moved = await same('CONFIRMED')
    assert.deepEqual(await mailed('booking_moved'), moved)
    await ask(key, 'POST', `/appointments/${id}/cancel`, {})
    const gone = await same('CANCELLED')
    assert.ok(Number(gone[1]) > Number(moved[1]))
  })

  test('counts each change of time, place and status of an appointment that a member made', async () => {
    const grace = await member()
    const { id } = await appointment(grace, 'Demo', 1)
    const feed = await makeFeed(grace)
    const sequence = async () => Number((await entries(feed)).Demo?.SEQUENCE)
    const uid = (await entries(feed)).Demo?.UID
    let last = await sequence()
    const grows = async (method: string, path: string, body: object) => {
      await ask(key, method, path, body)
      const now = await sequence()
      assert.ok(now > last, `${method} ${path} ${JSON.stringify(body)}`)
      last = now
    }
    await grows('PUT', `/appointments/${id}`, { start_at: at(2), end_at: at(2, 30) })
    await grows('PUT', `/appointments/${id}`, { location: 'Room 2' })
    await grows('POST', `/appointments/${id}/cancel`, {})
    assert.equal((await entries(feed)).Demo?.UID, uid)
    assert.deepEqual(await mailsOf(rapport, `&user_id=${grace.id}&kind=booking_moved`), [])
  })

  test('has activities as tasks or as transparent events, if the feed has them', async () => {
    const grace = await member()
    const { id } = await ask(key, 'POST', '/activities', {
      subject: 'Call Ana',
      body: 'A secret body',
      due_at: at(1),
      owner_id: grace.id,
    })
    await ask(key, 'POST', '/activities', { subject: 'Without a date', owner_id: grace.id })
    const done = async (subject: string, days: number) => {
      const made = await ask(key, 'POST', '/activities', { subject, due_at: at(-40), owner_id: grace.id })
      await ask(key, 'PUT', `/activities/${made.id}`, { completed_at: at(days) })
    }
    await done('Done', -29)
    await done('Long done', -31)
    const [none, todo, event, busy] = await Promise.all([
      makeFeed(grace),
      makeFeed(grace, { activities: 'todo' }),
      makeFeed(grace, { activities: 'event' }),
      makeFeed(grace, { activities: 'todo', details: 'busy' }),
    ])
    for (const feed of [none, busy]) assert.deepEqual(await entries(feed), {})
    const tasks = await entries(todo)
    assert.deepEqual(Object.keys(tasks).sort(), ['Call Ana', 'Done'])
    const call = tasks['Call Ana']
    assert.deepEqual(
      [call?.BEGIN, call?.DUE, call?.STATUS, call?.URL],
      ['VTODO', '20261122T083000Z', 'NEEDS-ACTION', `${rapport.url}/activities/${id}`],
    )
    assert.deepEqual([tasks.Done?.STATUS, tasks.Done?.COMPLETED], ['COMPLETED', '20261023T083000Z'])
    const shown = (await entries(event))['Call Ana']
    assert.deepEqual(
      [shown?.BEGIN, shown?.DTSTART, shown?.DTEND, shown?.TRANSP],
      ['VEVENT', '20261122T083000Z', '20261122T090000Z', 'TRANSPARENT'],
    )
    assert.equal(shown?.UID, call?.UID)
    assert.ok(!(await lines(todo)).join('\n').includes('secret'))
  })

  test('as busy shows times and nothing else', async () => {
    const grace = await member()
    const { id: contact_id } = await ask(key, 'POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
    await appointment(grace, 'Private talk', 1, { contact_id, location: 'Hidden room' })
    const feed = await makeFeed(grace, { details: 'busy' })
    const text = (await lines(feed)).join('\n')
    assert.match(text, /^SUMMARY:Busy$/m)
    assert.match(text, /^DTSTART:20261122T083000Z$/m)
    assert.doesNotMatch(text, /Private|Hidden|Ruiz|calendar\/\d/)
  })

  test('answers 304 until its content changes, with a strong tag', async () => {
    const grace = await member()
    const { id } = await appointment(grace, 'Demo', 1)
    const { id: feed_id, url_path } = await makeFeed(grace)
    const first = await read(url_path)
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[^"]+"$/)
    assert.equal(first.headers.get('cache-control'), 'private, no-cache')
    assert.equal(first.headers.get('content-type'), 'text/calendar; charset=utf-8')
    const again = (tag: string) => read(url_path, { headers: { 'if-none-match': tag } })
    clock.advance(3_600_000)
    const same = await again(`"other", ${etag}`)
    assert.deepEqual([same.status, await same.text(), same.headers.get('etag')], [304, '', etag])
    const head = await read(url_path, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text(), head.headers.get('etag')], [200, '', etag])
    assert.equal((await read(url_path, { method: 'HEAD', headers: { 'if-none-match': etag } })).status, 304)
    // A note of the contact, or another appointment: nothing that the feed shows.
    await appointment(await member(), 'Of another', 1)
    assert.equal((await again(etag)).status, 304)
    await ask(key, 'PUT', `/appointments/${id}`, { title: 'Demo 2' })
    const changed = await again(etag)
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), etag)
    await until(
      () => ask(grace.call, 'GET', `/calendar-feeds/${feed_id}`),
      ({ last_read_at }) => last_read_at !== null,
    )
  })

  test('has another tag after a change of its details, its name or its activities, and of what its role may read', async () => {
    const grace = await member()
    const { id: contact_id } = await ask(key, 'POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
    await appointment(grace, 'Demo', 1, { contact_id })
    const { id, url_path } = await makeFeed(grace)
    const tags = new Set<string>()
    /** The feed has changed for a program that has the last one. */
    const changed = async () => {
      const last = [...tags].at(-1)
      const answer = await read(url_path, last === undefined ? {} : { headers: { 'if-none-match': last } })
      assert.equal(answer.status, 200)
      const etag = answer.headers.get('etag') ?? ''
      assert.ok(!tags.has(etag))
      tags.add(etag)
      assert.equal((await read(url_path, { headers: { 'if-none-match': etag } })).status, 304)
      return answer.text()
    }
    const set = (fields: object) => ask(grace.call, 'PUT', `/calendar-feeds/${id}`, fields)
    assert.match(await changed(), /SUMMARY:Demo/)
    await set({ details: 'busy' })
    assert.doesNotMatch(await changed(), /Demo/)
    await set({ name: 'Desk' })
    assert.match(await changed(), /X-WR-CALNAME:Desk/)
    await set({ details: 'full', activities: 'todo' })
    await changed()
    await ask(key, 'PUT', `/contacts/${contact_id}`, { last_name: 'Ruiz Soto' })
    assert.match(await changed(), /Ana Ruiz Soto/)
    // All roles of today may read contacts and appointments.
    const own = { workspace_id: 1, user_id: grace.id, id, name: 'Desk', role: 'member' }
    const feed = { ...own, activities: 'todo' as const, details: 'full' as const }
    const tagFor = (...kinds: string[]) =>
      beside(rapport.data_dir, async (db) => {
        const { etag, items } = await readSource(
          db,
          feed,
          (kind) => kinds.includes(kind),
          rapport.url,
          clock.now(),
        )
        return { etag, items }
      })
    const all = await tagFor('appointments', 'contacts', 'activities')
    assert.equal(all.etag, [...tags].at(-1))
    const without = await tagFor('appointments')
    assert.ok(without.items.includes('Demo') && !without.items.includes('Ruiz'))
    const none = await tagFor('contacts')
    assert.equal(none.items, '')
    assert.equal(new Set([all, without, none].map(({ etag }) => etag)).size, 3)
    // A program that has the last one learns of the removal, too.
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    assert.equal((await read(url_path, { headers: { 'if-none-match': all.etag } })).status, 404)
  })

  test('is unknown within 1 s after its person has left, with the answer of any unknown token', async () => {
    const grace = await member()
    const { url_path } = await makeFeed(grace)
    const { id } = await makeFeed(grace)
    assert.equal((await read(url_path)).status, 200)
    await ask(ada, 'DELETE', `/members/${grace.id}`)
    const gone = await read(url_path)
    const unknown = await read(`/ics/${'a'.repeat(43)}.ics`)
    const plain = async (answer: Response) => [
      answer.status,
      (await answer.text()).replace(/"request_id":"[^"]*"/, '').replace(/[\w-]{43}\.ics/, ''),
      answer.headers.get('etag'),
      answer.headers.get('cache-control'),
    ]
    assert.deepEqual(await plain(gone), await plain(unknown))
    assert.equal(gone.status, 404)
    assert.deepEqual(await stored.rows(`SELECT id FROM calendar_feeds WHERE id = '${id}'`), [])
    for (const path of ['/ics/', '/ics/x.ics', `/ics/${'a'.repeat(43)}`, '/ics/%00.ics'])
      assert.equal((await read(path)).status, 404, path)
  })

  test('has no line that a title or a name begins', async () => {
    const grace = await member()
    const hostile = 'Demo\r\nATTENDEE:mailto:eve@example.com\nBEGIN:VALARM \u202e; , \\n'
    const { id: contact_id } = await ask(key, 'POST', '/contacts', {
      first_name: 'A\nURL:http://eve.example',
      last_name: 'x'.repeat(200),
    })
    await appointment(grace, hostile, 1, { contact_id, location: 'Here\r\nX-EVIL:1' })
    const feed = await makeFeed(grace, { name: 'Phone\r\nX-EVIL:1' })
    const found = await lines(feed)
    for (const line of found) assert.doesNotMatch(line, /^(ATTENDEE|BEGIN:VALARM|X-EVIL|URL:http:\/\/eve)/)
    const raw = (await (await read(feed.url_path)).text()).split('\r\n')
    for (const line of raw) assert.ok(Buffer.byteLength(line) <= 75)
  })

  test('has the nearest 5,000 of more', async () => {
    const grace = await member()
    const hours = Array.from({ length: 5100 }, (_, n) => n - 1000)
    const time = (n: number) => new Date(Date.parse(start) + n * 3_600_000).toISOString()
    const insert = async (tx: Tx) => {
      for (let n = 0; n < hours.length; n += 100)
        await tx
          .insertInto('appointments')
          .values(
            hours.slice(n, n + 100).map((hour) => ({
              workspace_id: 1,
              title: `Hour ${hour}`,
              start_at: time(hour),
              end_at: time(hour + 1),
              status: 'scheduled' as const,
              owner_id: grace.id,
              created_at: start,
              updated_at: start,
            })) as never,
          )
          .execute()
    }
    await beside(rapport.data_dir, (db) => transaction(db, insert))
    const feed = await makeFeed(grace)
    const found = Object.keys(await entries(feed)).map((name) => Number(name.slice(5)))
    assert.equal(found.length, 5000)
    assert.deepEqual([Math.min(...found), Math.max(...found)], [-1000, 3999])
  })
})

test('reads of feeds are limited for each address', async (t) => {
  const limited = await startRapport({ clock, env: { OPEN_RATE_PER_SECOND: '2' } })
  t.after(limited.close)
  const by = await setUp(limited)
  const { url_path } = await ask(by, 'POST', '/calendar-feeds', { name: 'Phone' })
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push((await fetch(limited.url + url_path)).status)
  assert.ok(statuses.includes(200) && statuses.includes(429), statuses.join())
})
