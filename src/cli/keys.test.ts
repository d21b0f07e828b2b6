import assert from 'node:assert/strict'
import { test } from 'node:test'
import { client, startRapport } from '../../test/harness.ts'
import { scratchFolder } from '../../test/process.ts'
import { runRapport } from '../../test/run-rapport.ts'
import { futureTime } from './keys.ts'

const run = (data_dir: string, ...words: string[]) => runRapport(words, { DATA_DIR: data_dir })

test('keys create works before the first serve: the key opens the workspace that is made with it', async (t) => {
  const data_dir = scratchFolder(t)
  const made = await run(data_dir, 'keys', 'create', '--name', 'Script')
  assert.equal(made.code, 0)
  assert.match(made.last, /^crm_[0-9A-Za-z]{43}$/)
  const workspaces = await run(data_dir, 'workspaces', 'list')
  assert.match(workspaces.last, /^1 .* My workspace$/)
  const rapport = await startRapport({ data_dir })
  t.after(() => rapport.close())
  assert.equal((await client(rapport.url, made.last)('GET', '/api/v1/companies')).status, 200)
})

test('a key has the scopes that were asked for and no others', async (t) => {
  const data_dir = scratchFolder(t)
  const made = await run(
    data_dir,
    'keys',
    'create',
    '--name',
    'Reader',
    '--scopes',
    'companies:read, deals:read',
  )
  assert.equal(made.code, 0)
  const rapport = await startRapport({ data_dir })
  t.after(() => rapport.close())
  const call = client(rapport.url, made.last)
  assert.equal((await call('GET', '/api/v1/companies')).status, 200)
  assert.equal((await call('POST', '/api/v1/companies', { name: 'A' })).status, 403)
})

test('an unknown scope is refused with the list of scopes, and no key is made', async (t) => {
  const data_dir = scratchFolder(t)
  for (const scopes of ['contacts:reed', 'contacts:read,', '']) {
    const { code, stderr } = await run(data_dir, 'keys', 'create', '--name', 'A', '--scopes', scopes)
    assert.equal(code, 1, scopes)
    assert.match(stderr, /contacts:read, contacts:write, .*webhooks:write/)
  }
  assert.equal((await run(data_dir, 'keys', 'list')).out.length, 1)
})

test('a key can end at a day or a time in the future, and at nothing else', async (t) => {
  const data_dir = scratchFolder(t)
  const now = Date.parse('2026-11-21T08:30:00Z')
  for (const [text, time] of [
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-11-21T08:30:01Z', '2026-11-21T08:30:01.000Z'],
    ['2026-11-21T09:31+01:00', '2026-11-21T08:31:00.000Z'],
    ['2027-01-01T00:00:00.5Z', '2027-01-01T00:00:00.500Z'],
  ] as const)
    assert.equal(futureTime(text, now), time)
  for (const text of ['2026-11-20', '2026-11-21', '2026-11-21T08:30:00Z'])
    assert.throws(() => futureTime(text, now), /in the future/)
  for (const text of [
    '',
    'tomorrow',
    '2027-02-29',
    '2027-13-01',
    '2027-1-1',
    '2027-01-01T10:00',
    '1893456000',
  ])
    assert.throws(() => futureTime(text, now), /must be a day or a time/, text)
  const past = await run(data_dir, 'keys', 'create', '--name', 'A', '--expires', '2020-01-01')
  assert.equal(past.code, 1)
})

test('with several workspaces, a new key needs the name of one, and belongs to it', async (t) => {
  const data_dir = scratchFolder(t)
  const first = await run(data_dir, 'workspaces', 'create', '--name', 'North')
  const second = await run(data_dir, 'workspaces', 'create', '--name', 'South')
  assert.deepEqual([first.last, second.last], ['1', '2'])
  const unsure = await run(data_dir, 'keys', 'create', '--name', 'A')
  assert.equal(unsure.code, 1)
  assert.match(unsure.stderr, /--workspace ID.*1 \(North\), 2 \(South\)/)
  const unknown = await run(data_dir, 'keys', 'create', '--name', 'A', '--workspace', '3')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no workspace 3/)
  const made = await run(data_dir, 'keys', 'create', '--name', 'A', '--workspace', '2')
  assert.equal(made.code, 0)
  assert.match((await run(data_dir, 'keys', 'list')).last, /^key_\w+ +2 /)
})

test('keys list shows ids by which keys are revoked, and never a key', async (t) => {
  const data_dir = scratchFolder(t)
  const made = await run(data_dir, 'keys', 'create', '--name', 'Old laptop')
  const before = await run(data_dir, 'keys', 'list')
  assert.match(before.out[0] ?? '', /^ID +WORKSPACE +CREATED +EXPIRES +LAST USED +REVOKED +SCOPES +NAME$/)
  assert.match(before.last, / all +Old laptop$/)
  assert.ok(!before.stdout.includes('crm_'))
  const [id = ''] = before.last.split(' ')
  const revoked = await run(data_dir, 'keys', 'revoke', id)
  assert.deepEqual([revoked.code, revoked.last], [0, `Revoked ${id}.`])
  assert.match((await run(data_dir, 'keys', 'list')).last, /\d{4}-\d\d-\d\dT.* \d{4}-\d\d-\d\dT/)
  const unknown = await run(data_dir, 'keys', 'revoke', made.last)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no key with the id/)
})

test('names that would break the lists are refused', async (t) => {
  const data_dir = scratchFolder(t)
  for (const name of ['x'.repeat(256), 'a\nb', 'a\u001b[2J'])
    for (const group of ['keys', 'workspaces'])
      assert.equal((await run(data_dir, group, 'create', '--name', name)).code, 1)
  assert.equal((await run(data_dir, 'workspaces', 'list')).out.length, 1)
})
