import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { dataOf } from '../envelope.ts'
import { client } from '../harness.ts'
import { browser, setUp } from '../people.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { runRapport } from '../run-rapport.ts'
import { useFor } from '../use.ts'
import { act, attempted, type Call, delivery, log, onlyDelivery, register, until } from '../webhooks.ts'
import { change, emptyDatabase, move, servePostgres, serveSqlite } from './moves.ts'

const texts = ['Ada "the first" O\'Neil', 'Zoë 👩‍💻 \\ \\u0000', '%_{"a":[null]}\n\ttab', '日本語 مرحبا']

/** Something of everything, written over HTTP. */
async function fill(call: Call, hooks: { good: string; bad: string; paused: string }) {
  async function post<T = { id: number }>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T> {
    return dataOf(await call('POST', `/api/v1/${path}`, body, headers))
  }
  const good = await register(call, { url: hooks.good, events: ['contact.created', 'deal.won'] })
  const bad = await register(call, { url: hooks.bad, events: ['company.created'] })
  const company = await post('companies', { name: texts[1], custom_fields: { region: texts[2], n: 1.5 } })
  for (const [at, text] of texts.entries()) {
    const names = { first_name: text, last_name: `Nr ${at}`, tags: [text], company_id: company.id }
    const contact = await post('contacts', { ...names, custom_fields: { [text]: text } })
    await post(`contacts/${contact.id}/notes`, { body: text.repeat(100) })
    const deal = await post('deals', { name: text, value: 1234.5678, contact_id: contact.id })
    await post(`deals/${deal.id}/change-stage`, { stage: 'won' })
  }
  const gone = await post('contacts', { first_name: 'In', last_name: 'Trash' })
  await call('DELETE', `/api/v1/contacts/${gone.id}`)
  await until(
    () => log(call, 'status=pending&per_page=100'),
    (list) => list.length === 0,
  )
  const paused = await register(call, { url: hooks.paused, events: ['company.updated'] })
  await act(call, paused.id, 'pause')
  await call('PUT', `/api/v1/companies/${company.id}`, { industry: 'Tests' })
  return { gone, company, good, bad, paused }
}

const lists = [
  'contacts',
  'companies',
  'deals',
  'webhooks',
  'deliveries',
  'contacts?search=zoe',
  'contacts?search=nr',
]

/** Everything that a key can read, as the bytes of the answers and their tags. */
async function readAll(call: Call): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  const read = async (path: string) => {
    const reply = await call('GET', `/api/v1/${path}`)
    answers[path] = `${reply.status} ${reply.headers.get('etag')} ${reply.text}`
    return reply.body.data as { id: string | number }[]
  }
  for (const list of lists)
    for (const { id } of await read(`${list}${list.includes('?') ? '&' : '?'}per_page=100`)) {
      const one = `${list.split('?')[0]}/${id}`
      await read(one)
      if (one.startsWith('contacts/')) await read(`${one}/notes`)
    }
  return answers
}

test('a moved installation answers every GET as before, byte by byte, there and back again', async (t) => {
  const [data_dir, url, back] = [scratchFolder(t), await emptyDatabase(t), scratchFolder(t)]
  const [good, bad, paused] = await Promise.all([
    startReceiver(),
    startReceiver({ answer: { status: 500, body: texts[1] } }),
    startReceiver(),
  ])
  t.after(() => Promise.all([good.close(), bad.close(), paused.close()]))
  const first = await serveSqlite(t, data_dir)
  const ada = await setUp(first)
  const filled = await fill(first.call, { good: good.url, bad: bad.url, paused: paused.url })
  const idempotent = () => [{ name: 'Once' }, { 'idempotency-key': 'a "key"' }] as const
  const once_made = await first.call('POST', '/api/v1/companies', ...idempotent())
  await until(
    () => log(first.call, 'status=failed&per_page=100'),
    (list) => list.length === 2,
  )
  const made = await runRapport(['workspaces', 'create', '--name', 'Second'], {
    DATA_DIR: data_dir,
    DATABASE_URL: '',
  })
  const env = { DATA_DIR: data_dir, DATABASE_URL: '' }
  const second_key = (await runRapport(['keys', 'create', '--name', 'K', '--workspace', made.last], env)).last
  await client(first.url, second_key)('POST', '/api/v1/contacts', { first_name: 'Other', last_name: 'Nr' })
  const keys = [first.key, second_key]
  const readBoth = async (at: string) => [
    await readAll(client(at, keys[0] ?? null)),
    await readAll(client(at, second_key)),
  ]
  const before = await readBoth(first.url)
  assert.ok(Object.keys(before[0] ?? {}).length > 30)
  await first.close()
  // The newest row is gone, and its number must not come back.
  change(data_dir, 'DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)')
  change(data_dir, "UPDATE sqlite_sequence SET seq = seq + 10 WHERE name = 'companies'")

  const moved = await move(`sqlite:${data_dir}`, url)
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, /^contacts +6 +[0-9a-f]{32} +ok$/m)
  assert.match(moved.stdout, /^webhook_queue +1 /m)
  assert.ok(moved.stdout.includes(`DATA_DIR=${data_dir}, whose secret.key`))
  const password = new URL(url).password
  assert.ok(!password || !(moved.stdout + moved.stderr).includes(password))

  const second = await servePostgres(t, data_dir, url)
  assert.equal(second.first_key, null)
  assert.deepEqual(await readBoth(second.url), before)
  // Sessions are still valid.
  const moved_browser = browser(second.url)
  moved_browser.plant(ada.cookie())
  assert.equal((await moved_browser('GET', '/session')).status, 200)
  await second.close()

  const returned = await move(url, `sqlite:${back}/rapport.db`, { DATA_DIR: data_dir, DATABASE_URL: '' })
  assert.equal(returned.code, 0, returned.stderr)
  assert.equal(readFileSync(`${back}/secret.key`, 'utf8'), readFileSync(`${data_dir}/secret.key`, 'utf8'))
  for (const name of ['secret.key', 'rapport.db'])
    assert.equal(statSync(`${back}/${name}`).mode & 0o777, 0o600)
  const checksums = (text: string) => text.split('\n').filter((line) => /[0-9a-f]{32} +ok$/.test(line))
  // The service that ran in between recorded the use of the key and the session, and its sign of life.
  const noted = /^(api_keys|sessions|settings) /
  const unchanged = (text: string) => checksums(text).filter((line) => !noted.test(line))
  assert.deepEqual(unchanged(returned.stdout), unchanged(moved.stdout))

  for (const [folder, database] of [
    [data_dir, url],
    [back, ''],
  ] as const) {
    const rapport = await serveSqlite(t, folder, { DATABASE_URL: database })
    const call = client(rapport.url, first.key)
    assert.deepEqual(await readBoth(rapport.url), before)
    // Pending deliveries are delivered, with the old secret.
    const [pending] = await log(call, `webhook_id=${filled.paused.id}`)
    const count = paused.received.length
    await act(call, filled.paused.id, 'resume')
    await attempted(call, String(pending?.id))
    await paused.verify(filled.paused.secret, paused.received.slice(count))
    assert.equal(paused.received.length, count + 1)
    // A repeated Idempotency-Key gets the stored answer.
    const again = await call('POST', '/api/v1/companies', ...idempotent())
    assert.equal(again.text, once_made.text)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    // Ids go on, after those that were used and are gone too.
    const next = await call('POST', '/api/v1/companies', { name: 'Next' })
    assert.equal(next.body.data.id, once_made.body.data.id + 11)
    assert.equal((await call('POST', `/api/v1/contacts/${filled.gone.id}/restore`)).status, 200)
    await rapport.close()
  }
  assert.equal(paused.received[0]?.body, paused.received[1]?.body)
})

test('an answer with NUL, kept by an older version, arrives with U+FFFD in its place', async (t) => {
  const [data_dir, url] = [scratchFolder(t), await emptyDatabase(t)]
  const receiver = await useFor(t, startReceiver({ answer: { body: 'answer' } }))
  const first = await serveSqlite(t, data_dir)
  const hook = await register(first.call, { url: receiver.url })
  await first.call('POST', '/api/v1/companies', { name: 'A' })
  const { id } = await onlyDelivery(first.call, hook.id)
  await attempted(first.call, id)
  await first.close()
  change(data_dir, "UPDATE webhook_attempts SET response_body = 'a' || char(0) || 'b\\u0000c'")
  const { code, stderr } = await move(`sqlite:${data_dir}`, url)
  assert.equal(code, 0, stderr)
  const second = await servePostgres(t, data_dir, url)
  const shown = await delivery(client(second.url, first.key), id)
  assert.equal(shown.attempts[0]?.response?.body, 'a\ufffdb\\u0000c')
})
