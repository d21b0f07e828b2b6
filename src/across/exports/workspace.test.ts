import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { dataOf, refused } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { scopes } from '../../app.ts'
import { resources } from '../../resources/index.ts'

const rapport = useRapport()

const make = async (path: string, body: object) =>
  dataOf(await rapport.call('POST', `/api/v1/${path}`, body), 201)

test('the archive has every record, the notes, the stages and the booking pages, but not the trash', async () => {
  const contact = await make('contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const gone = await make('contacts', { first_name: 'Old', last_name: 'One' })
  const note = await make(`contacts/${contact.id}/notes`, { body: 'two\nlines' })
  const deal = await make('deals', { name: 'Relaunch', stage: 'demo' })
  const deal_note = await make(`deals/${deal.id}/notes`, { body: 'Decides in May' })
  await rapport.call('DELETE', `/api/v1/contacts/${gone.id}`)
  const response = await fetch(`${rapport.url}/api/v1/workspace/export`, {
    headers: { authorization: `Bearer ${rapport.key}` },
  })
  assert.equal(response.headers.get('content-type'), 'application/gzip')
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /^attachment; filename="workspace-[\d-]+\.tar\.gz"$/,
  )
  const input = Buffer.from(await response.arrayBuffer())
  const names = execFileSync('tar', ['-tzf', '-'], { input }).toString().trimEnd().split('\n')
  assert.deepEqual(
    names.map((name) => name.replace('-0001.ndjson', '')),
    [
      'workspace',
      'members',
      'saved_views',
      'custom_fields',
      // The appointments have their guests.
      ...resources
        .flatMap(({ table, owns }) => [table, ...Object.keys(owns)])
        .filter((name) => name !== 'appointment_guests'),
    ],
  )
  const rows = (kind: string) =>
    execFileSync('tar', ['-xzOf', '-', `${kind}-0001.ndjson`], { input })
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  assert.deepEqual(rows('contacts'), [contact])
  assert.deepEqual(rows('notes'), [note])
  assert.deepEqual(rows('deal_notes'), [deal_note])
  assert.deepEqual(rows('deals'), [deal])
  assert.deepEqual(
    rows('deal_stages').map(({ deal_id, to_stage }) => [deal_id, to_stage]),
    [[deal.id, 'demo']],
  )
  assert.equal(rows('workspace').length, 1)
})

test('a long kind has several files, which together have every record', async () => {
  const body = 'x'.repeat(60_000)
  await Promise.all(Array.from({ length: 100 }, () => make('activities', { subject: 'Long', body })))
  const response = await fetch(`${rapport.url}/api/v1/workspace/export`, {
    headers: { authorization: `Bearer ${rapport.key}` },
  })
  const input = Buffer.from(await response.arrayBuffer())
  const lines = ['activities-0001.ndjson', 'activities-0002.ndjson'].flatMap((name) =>
    execFileSync('tar', ['-xzOf', '-', name], { input, maxBuffer: 2 ** 26 })
      .toString()
      .trimEnd()
      .split('\n'),
  )
  assert.equal(new Set(lines.map((line) => JSON.parse(line).id)).size, 100)
})

test('a key that lacks one scope that reads is refused', async () => {
  const { call } = await makeKey(rapport, { scopes: scopes.filter((scope) => scope !== 'reports:read') })
  const { message } = refused(await call('GET', '/api/v1/workspace/export'), 403, 'forbidden')
  assert.match(message, /reports:read/)
})

test('an export above the limit of a workspace is refused with an error, not with a file', async () => {
  const headers = { authorization: `Bearer ${rapport.key}` }
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => fetch(`${rapport.url}/api/v1/workspace/export`, { headers })),
  )
  await Promise.all(replies.map((reply) => reply.clone().arrayBuffer()))
  const [refusal] = replies.filter(({ status }) => status === 503)
  assert.ok(refusal, 'no export was refused')
  assert.equal(refusal.headers.get('content-disposition'), null)
  assert.match(refusal.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(JSON.parse(await refusal.text()).error.code, 'unavailable')
})
