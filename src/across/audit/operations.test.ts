import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { makeRequest } from '../../../test/booking.ts'
import { openScratch } from '../../../test/engine.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, type Reply, startRapport, turnableClock } from '../../../test/harness.ts'
import { import_operations } from '../../../test/imports.ts'
import { smallestBody } from '../../../test/operations.ts'
import { people_operations } from '../../../test/people.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { attemptsNothing, log, register, until } from '../../../test/webhooks.ts'
import { transaction } from '../../db/db.ts'
import { resources, rooms } from '../../resources/index.ts'
import type { Resource } from '../../resources/resource.ts'

const clock = turnableClock(Date.now())
let rapport: Rapport
let call: Rapport['call']
let receiver: Receiver
before(async () => {
  // One attempt and no retry: the first failure is final.
  rapport = await startRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '1' } })
  receiver = await startReceiver({ answer: { status: 500 } })
  call = rapport.call
})
after(async () => {
  await rapport.close()
  await receiver.close()
})

const base = '/api/v1'
const segmentOf = ({ path }: Resource) => path.replace(`${base}/`, '')
const made = async (path: string, body: object) => dataOf(await call('POST', `${base}${path}`, body), 201)
async function gone(path: string) {
  const reply = await call('DELETE', `${base}${path}`)
  assert.equal(reply.status, 200, reply.text)
  return path
}

// For each kind of record, a body that creates one, and a change. Other kinds get only required fields.
let slugs = 0
const records: Record<string, { body: () => object; change: object }> = {
  ...Object.fromEntries(
    resources
      .filter(({ part_of }) => !part_of)
      .map((resource) => [
        segmentOf(resource),
        { body: () => smallestBody(resource), change: { [String(resource.title.fields[0])]: 'Changed' } },
      ]),
  ),
  contacts: { body: () => ({ first_name: 'Ana', last_name: 'Ruiz' }), change: { title: 'CEO' } },
  companies: { body: () => ({ name: 'Acme' }), change: { website: 'https://acme.example' } },
  deals: { body: () => ({ name: 'Relaunch' }), change: { value: 100.5 } },
  activities: { body: () => ({ subject: 'Call' }), change: { outcome: 'Nobody there' } },
  appointments: {
    body: () => ({ title: 'Demo', start_at: '2027-01-04T10:00:00Z', end_at: '2027-01-04T11:00:00Z' }),
    change: { location: 'Here' },
  },
  'booking-pages': {
    body: () => ({ slug: `demo-${++slugs}`, title: 'Demo', time_zone: 'Europe/Berlin' }),
    change: { duration_minutes: 45 },
  },
}

const record = async (kind: string) => `/${kind}/${(await made(`/${kind}`, records[kind]?.body() ?? {})).id}`
const noteOf = (kind: string) => async () => {
  const notes = `${await record(kind)}/notes`
  return `${notes}/${(await made(notes, { body: 'Met' })).id}`
}
const hook = async () =>
  `/webhooks/${(await register(call, { url: receiver.url, events: ['contact.deleted'] })).id}`
async function paused() {
  const path = await hook()
  await call('POST', `${base}${path}/pause`)
  return path
}
/** A webhook with one delivery that failed for good, and that delivery. */
async function failed() {
  const { id } = await register(call, { url: receiver.url, events: ['company.deleted'] })
  await gone(await record('companies'))
  const all = await until(
    async () => {
      if (await attemptsNothing(rapport.call)) clock.advance(2000)
      rapport.wake()
      return log(call, `webhook_id=${id}`)
    },
    ([delivery]) => delivery?.status === 'failed',
  )
  return { webhook: `/webhooks/${id}`, delivery: `/deliveries/${all[0]?.id}` }
}

/** How an operation is tried. */
type Trial = {
  /** Creates the records that the operation needs. Returns its path. */
  path: () => Promise<string>
  body?: () => object
  /** Its answer when it changes something. */
  status?: 200 | 201 | 202
  /** The answer of the same call when it is repeated and changes nothing; null where it changes something each time. */
  again: 200 | 404 | 409 | null
  /** Called in vain before; default: the same path with a wrong body, or for a DELETE with a wrong If-Match. */
  in_vain?: string
  /** The actions that it leaves in the log. */
  actions: string[]
}

const created = (path: string, body: () => object): Trial => ({
  path: async () => path,
  body,
  status: 201,
  again: null,
  actions: ['created'],
})
const changed = (path: () => Promise<string>, change: object): Trial => ({
  path,
  body: () => change,
  again: 200,
  actions: ['updated'],
})
const removed = (path: () => Promise<string>): Trial => ({ path, again: 404, actions: ['deleted'] })
const acted = (
  path: () => Promise<string>,
  name: string,
  action: string,
  rest: Partial<Trial> = {},
): Trial => ({
  path: async () => `${await path()}/${name}`,
  again: 200,
  actions: [action],
  ...rest,
})

const trials: Record<string, Trial> = {}
for (const [kind, { body, change }] of Object.entries(records)) {
  const one = () => record(kind)
  trials[`post /${kind}`] = created(`/${kind}`, body)
  trials[`put /${kind}/{id}`] = changed(one, change)
  trials[`patch /${kind}/{id}`] = changed(one, change)
  trials[`delete /${kind}/{id}`] = removed(one)
  trials[`post /${kind}/{id}/restore`] = acted(async () => gone(await one()), 'restore', 'restored')
}
for (const kind of rooms.flatMap(({ batch, resource }) => (batch ? [segmentOf(resource)] : [])))
  trials[`post /${kind}/batch`] = {
    ...created(`/${kind}/batch`, () => ({ items: [{ op: 'create', data: records[kind]?.body() }] })),
    status: 200,
  }
for (const kind of ['contacts', 'companies', 'deals']) {
  const [notes, note] = [`/${kind}/{id}/notes`, noteOf(kind)]
  trials[`post ${notes}`] = {
    ...created(notes, () => ({ body: 'Met' })),
    path: async () => `${await record(kind)}/notes`,
  }
  trials[`put ${notes}/{note_id}`] = changed(note, { body: 'Wrote' })
  trials[`patch ${notes}/{note_id}`] = changed(note, { body: 'Wrote' })
  trials[`delete ${notes}/{note_id}`] = removed(note)
  trials[`post ${notes}/{note_id}/restore`] = acted(async () => gone(await note()), 'restore', 'restored')
}
const webhook = '/webhooks/{webhook_id}'
const apiKey = async () => `/keys/${(await made('/keys', { name: 'Website form' })).id}`
const request = async () => `/appointments/${await makeRequest(rapport)}`
const saved = () => ({ list: 'contacts', name: 'Leads', query: 'stage=lead' })
const view = async () => `/views/${(await made('/views', saved())).id}`
const definition = () => ({ resource: 'contacts', key: `key ${++slugs}`, type: 'text' })
const customField = async () => `/custom-fields/${(await made('/custom-fields', definition())).id}`
const completed = async () => {
  const path = await record('activities')
  await call('POST', `${base}${path}/complete`)
  return path
}
/** An appointment that was agreed by other rules of its zone. */
async function staleAppointment() {
  const { id: booking_page_id } = await made('/booking-pages', records['booking-pages']?.body() ?? {})
  const { id } = await made('/appointments', { ...records.appointments?.body(), booking_page_id })
  const database = await openScratch(rapport.data_dir)
  const offset = sql`UPDATE appointments SET utc_offset_minutes = utc_offset_minutes + 60 WHERE id = ${id}`
  await transaction(database.db, (tx) => offset.execute(tx))
  await database.close()
  return `/appointments/${id}`
}
const idOf = (path: string) => Number(path.split('/').at(-1))
/** A merge of two records, the second of which is made with the path. */
const merging = (resource: Resource): Record<string, Trial> => {
  const kind = segmentOf(resource)
  let other = ''
  const path = async () => {
    other = await record(kind)
    return record(kind)
  }
  const body = () => ({ from_ids: [idOf(other)] })
  const actions = ['merged', 'deleted']
  return { [`post /${kind}/{id}/merge`]: acted(path, 'merge', '', { body, actions, again: null }) }
}
/** The dismissal of two records that are alike. */
const dismissing = (resource: Resource): Record<string, Trial> => {
  const kind = segmentOf(resource)
  const path = `/${kind}/duplicates`
  let ids: number[] = []
  // Records of one body have the same name.
  const alike = async () => {
    ids = [idOf(await record(kind)), idOf(await record(kind))]
    return path
  }
  const dismissed = async () => {
    await call('POST', `${base}${await alike()}/dismiss`, { ids })
    return path
  }
  const twice = (action: string) => ({ body: () => ({ ids }), actions: [action, action] })
  return {
    [`post ${path}/dismiss`]: acted(alike, 'dismiss', '', twice('duplicates_dismissed')),
    [`post ${path}/restore`]: acted(dismissed, 'restore', '', twice('duplicates_restored')),
  }
}
Object.assign(trials, {
  'post /deals/{id}/change-stage': acted(() => record('deals'), 'change-stage', 'stage_changed', {
    body: () => ({ stage: 'demo' }),
  }),
  'post /activities/{id}/complete': acted(() => record('activities'), 'complete', 'completed'),
  'post /activities/{id}/reopen': acted(completed, 'reopen', 'reopened'),
  'post /appointments/{id}/accept': acted(request, 'accept', 'accepted'),
  'post /appointments/{id}/decline': acted(request, 'decline', 'declined'),
  'post /appointments/{id}/cancel': acted(() => record('appointments'), 'cancel', 'cancelled'),
  'post /appointments/{id}/keep-wall-clock': acted(staleAppointment, 'keep-wall-clock', 'updated'),
  'post /appointments/{id}/keep-time': acted(staleAppointment, 'keep-time', 'time_kept'),
  ...Object.assign(
    {},
    ...resources
      .filter(({ duplicates }) => duplicates.length)
      .flatMap((resource) => [merging(resource), dismissing(resource)]),
  ),
  'post /merges/{id}/undo': acted(
    async () => {
      const [survivor, other] = [await record('contacts'), await record('contacts')]
      const reply = await call('POST', `${base}${survivor}/merge`, { from_ids: [idOf(other)] })
      return `/merges/${reply.body.meta.merge_id}`
    },
    'undo',
    'merge_undone',
    { actions: ['merge_undone', 'restored'] },
  ),
  'delete /trash/{kind}/{id}': {
    path: async () => `/trash${await gone(await record('companies'))}`,
    in_vain: '/trash/companies/999999',
    again: 404,
    actions: ['erased'],
  },
  'post /keys': created('/keys', () => ({ name: 'Website form' })),
  'post /keys/{key_id}/revoke': acted(apiKey, 'revoke', 'revoked'),
  'post /custom-fields': created('/custom-fields', definition),
  'put /custom-fields/{id}': changed(customField, { label: 'Seats' }),
  'patch /custom-fields/{id}': changed(customField, { position: 7 }),
  'delete /custom-fields/{id}': removed(customField),
  'post /views': created('/views', saved),
  'put /views/{view_id}': changed(view, { query: 'stage=customer' }),
  'patch /views/{view_id}': changed(view, { name: 'Customers' }),
  'delete /views/{view_id}': removed(view),
  'post /webhooks': created('/webhooks', () => ({ url: receiver.url, events: ['deal.won'] })),
  [`put ${webhook}`]: changed(hook, { events: ['deal.won', 'deal.lost'] }),
  [`patch ${webhook}`]: changed(hook, { name: 'Billing' }),
  [`delete ${webhook}`]: removed(hook),
  [`post ${webhook}/backfill`]: acted(paused, 'backfill', 'backfill_started', {
    body: () => ({ kinds: ['contacts'] }),
    status: 202,
    again: 409,
  }),
  [`delete ${webhook}/backfill`]: {
    path: async () => {
      const path = `${await paused()}/backfill`
      await call('POST', base + path, { kinds: ['contacts'] })
      return path
    },
    again: 200,
    actions: ['backfill_stopped'],
  },
  [`post ${webhook}/pause`]: acted(hook, 'pause', 'paused'),
  [`post ${webhook}/resume`]: acted(paused, 'resume', 'resumed'),
  [`post ${webhook}/rotate-secret`]: acted(hook, 'rotate-secret', 'secret_rotated', { again: null }),
  // It sends something and changes nothing; the delivery log has it.
  [`post ${webhook}/test`]: acted(hook, 'test', '', { again: null, actions: [] }),
  // Its delivery fails again, so that calling it once more sends it once more.
  [`post ${webhook}/resend-failed`]: acted(async () => (await failed()).webhook, 'resend-failed', 'resent', {
    again: null,
  }),
  'post /deliveries/{delivery_id}/resend': acted(
    async () => (await failed()).delivery,
    'resend',
    'resent',
    // Until its attempt has ended, it cannot be sent once more.
    { again: null },
  ),
} satisfies Record<string, Trial>)

const total = async () => (await call('GET', `${base}/audit-log?per_page=1`)).body.meta.total
const newest = async (count: number) =>
  count ? (await call('GET', `${base}/audit-log?per_page=${count}`)).body.data : []

/** The entries that a call leaves in the log. */
async function entriesOf(work: () => Promise<Reply>) {
  const before = await total()
  const reply = await work()
  return { reply, entries: await newest((await total()) - before) }
}

test('every operation that writes is tried here', async () => {
  const { paths } = (await call('GET', `${base}/openapi.json`)).body
  const writing = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (method === 'get' ? [] : `${method} ${path.replace(base, '')}`)),
  )
  // Tests beside their code cover the operations of people and imports. A revert is many requests (src/across/reverts/reverts.test.ts).
  // The reading of notifications, the own order of tabs, and calendars of a person are not logged.
  const others = [
    ...people_operations,
    ...import_operations,
    'post /audit-log/groups/{group_id}/revert',
    'post /notifications/read',
    ...['post /busy-calendars', 'post /busy-calendars/{calendar_id}/refresh', 'post /calendar-feeds'],
    ...['put', 'patch', 'delete'].flatMap((method) => [
      `${method} /busy-calendars/{calendar_id}`,
      `${method} /calendar-feeds/{feed_id}`,
    ]),
    // resources/deals/settings.test.ts has the entry.
    ...['put /workspace/stages', 'patch /workspace/stages'],
    // The resends of mails are tested by src/mails/mailer.test.ts and test/people/mails.test.ts.
    'post /mails/test',
    'post /mails/{mail_id}/resend',
    'post /password-reset/request',
    'put /view-tabs/{list}',
    'patch /view-tabs/{list}',
  ]
  assert.deepEqual(writing.sort(), [...Object.keys(trials), ...others].sort())
})

for (const [name, trial] of Object.entries(trials)) {
  const { path: prepare, body, status = 200, again, actions, in_vain } = trial
  test(`${name} leaves ${actions.join() || 'nothing'} with who and which request; without a change, nothing`, async () => {
    const path = base + (await prepare())
    const method = name.split(' ')[0]?.toUpperCase() ?? ''
    const content = body?.()

    const unknown = { ...content, never_a_field: 1 }
    const refused = await entriesOf(() =>
      in_vain
        ? call(method, base + in_vain)
        : method === 'DELETE'
          ? call(method, path, undefined, { 'if-match': '"another"' })
          : call(method, path, unknown),
    )
    const refusal = in_vain ? 404 : method === 'DELETE' ? 412 : 422
    assert.equal(refused.reply.status, refusal, refused.reply.text)
    assert.deepEqual(refused.entries, [])
    assert.deepEqual((await entriesOf(() => call('GET', path.replace(/\/[a-z-]+$/, '')))).entries, [])

    const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': `once ${name}` } : {}
    const { reply, entries } = await entriesOf(() => call(method, path, content, key))
    assert.equal(reply.status, status, reply.text)
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      actions,
    )
    for (const { actor, request_id, occurred_at } of entries) {
      assert.equal(actor.kind, 'key')
      assert.match(actor.id, /^key_/)
      assert.equal(actor.name, 'First key')
      assert.equal(request_id, reply.headers.get('x-request-id'))
      assert.equal(occurred_at, new Date(clock.now()).toISOString())
    }

    if (method === 'POST') {
      const replayed = await entriesOf(() => call(method, path, content, key))
      assert.equal(replayed.reply.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(replayed.entries, [])
    }
    if (again === null) return
    const repeated = await entriesOf(() => call(method, path, content))
    assert.equal(repeated.reply.status, again, repeated.reply.text)
    assert.deepEqual(repeated.entries, [])
  })
}
